/* SPDX-License-Identifier: MIT
 *
 * await.c - wait until a region is given back.
 */
#define _GNU_SOURCE
#include "backplane/engine.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "lib/sys/syscalls.h"

void asf__wake_waiting(struct asf_cios *c) {
    if (asf__unlikely(c->waits)) {
        __atomic_add_fetch(&c->turns, 1, __ATOMIC_RELEASE);
        asf__raw_syscall(SYS_futex, (long)&c->turns, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
    }
}

void asf__await_regions(struct asf_cios *c, unsigned turns) {
    asf__raw_syscall(SYS_futex, (long)&c->turns, FUTEX_WAIT_PRIVATE, (long)turns, 0);
}
