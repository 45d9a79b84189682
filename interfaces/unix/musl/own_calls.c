/* SPDX-License-Identifier: MIT
 *
 * own_calls.c - musl's functions whose names libasf_unix also defines; musl has no other names for them.
 * They are looked up at start-up, since programs call them in signal handlers.  libasf_unix.a defines only
 * read and write of these; interfaces/stdio/musl/take_own renames musl's.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <stdarg.h>
#include <unistd.h>

#ifdef ASF_STATIC
#define MUSLS(name) name
#else
#define MUSLS(name) ((__typeof__(&name))asf__next(&found.name, #name))

static struct { void *close, *open, *pread, *pthread_sigmask, *read, *sigaction, *write; } found;

__attribute__((constructor)) static void find_own_calls(void) {
    MUSLS(close), MUSLS(open), MUSLS(pread), MUSLS(pthread_sigmask);
    MUSLS(read), MUSLS(sigaction), MUSLS(write);
}
#endif

/* Defined under another C name: the headers declare libc's names, without hidden visibility. */
#define NAMED(type, name, parameters)                                                                        \
    __attribute__((visibility("hidden"))) type own_##name parameters __asm__("asf__own_" #name);             \
    type own_##name parameters
#define OWN(type, name, parameters, arguments)                                                               \
    NAMED(type, name, parameters) {                                                                          \
        return MUSLS(name) arguments;                                                                        \
    }

OWN(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
OWN(int, sigaction, (int sig, const struct sigaction *act, struct sigaction *old), (sig, act, old))
#ifndef ASF_STATIC
OWN(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
OWN(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
#endif

NAMED(int, open, (const char *path, int flags, ...)) {
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = va_arg(ap, mode_t);
    va_end(ap);
    return MUSLS(open)(path, flags, mode);
}

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
