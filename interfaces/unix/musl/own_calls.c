/* SPDX-License-Identifier: MIT
 *
 * own_calls.c - musl's functions whose names libasf_unix also defines; musl has no other names for them.
 * They are looked up at start-up, since programs call them in signal handlers.  libasf_unix.a defines only
 * read and write of these, so it calls musl's by other means (lib/sys/glibc_on_musl/plain_calls.c).
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <stdarg.h>
#include <unistd.h>

#ifndef ASF_STATIC
#define MUSLS(name) ((__typeof__(&name))asf__next(&found.name, #name))

static struct { void *close, *open, *pread, *pthread_sigmask, *read, *sigaction, *write; } found;

__attribute__((constructor)) static void find_own_calls(void) {
    MUSLS(close), MUSLS(open), MUSLS(pread), MUSLS(pthread_sigmask);
    MUSLS(read), MUSLS(sigaction), MUSLS(write);
}

#define WEAK
#include "lib/sys/glibc_on_musl/own_calls.def"
#endif

#ifdef ASF_STATIC
long asf__libc_close(int fd) {
    const long r = asf__cancellable_close(fd);
    return r == -EINTR ? 0 : r; /* as musl's close returns */
}
#else
/* musl's close also cancels the descriptor's aio requests. */
long asf__libc_close(int fd) {
    return MUSLS(close)(fd) < 0 ? -errno : 0;
}

/* As musl, repeats the call while another thread is opening `to`.  Flags that the kernel refuses are an
 * error; musl 1.2.3 ignores them. */
long asf__libc_dup3(int from, int to, int flags) {
    long r;
    do
        r = asf__raw(SYS_dup3, from, to, flags, 0);
    while (r == -EBUSY);
    return r;
}

/* musl's pthread_sigmask hides the signals that musl uses itself. */
long asf__libc_set_mask(int how, const sigset_t *set, sigset_t *old) {
    return -MUSLS(pthread_sigmask)(how, set, old);
}
#endif
