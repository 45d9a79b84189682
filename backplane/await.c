/* SPDX-License-Identifier: MIT
 *
 * await.c - wait until a region is given back, if too much output waits for regions.
 */
#define _GNU_SOURCE
#include "backplane/engine.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "lib/sys/syscalls.h"

void asf__wake_waiting(struct asf_cios *c) {
    if (asf__unlikely(c->waits)) {
        __atomic_add_fetch(&c->wakeups, 1, __ATOMIC_RELEASE);
        asf__raw_syscall(SYS_futex, (long)&c->wakeups, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
    }
}

void asf__await_regions(struct asf_cios *c, unsigned wakeups) {
    asf__raw_syscall(SYS_futex, (long)&c->wakeups, FUTEX_WAIT_PRIVATE, (long)wakeups, 0);
}

/* With ASF_WAITING the inline sfree, which would not wake the threads, is not used. */
void asf__set_bound(struct asf_cios *c, size_t bytes, bool waits) {
    asf__table_last(c);
    asf__wake_waiting(c);
    c->bound = bytes;
    c->waits = waits;
    const unsigned gate = c->gate & ~(unsigned)ASF_WAITING;
    __atomic_store_n(&c->gate, gate | (waits ? ASF_WAITING : 0), __ATOMIC_RELEASE);
}
