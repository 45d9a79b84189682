/* SPDX-License-Identifier: MIT
 *
 * descriptor_calls.c - open, close, dup, fcntl and ioctl.  Most system calls are made by their number:
 * programs call these functions in signal handlers, where dlsym, which finds libc's functions, is not safe.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <pthread.h>
#include <stdarg.h>
#include <unistd.h>

long asf__unix_close(int fd) {
    asf__before_close(fd);
    return asf__result_or_errno(asf__libc_close(fd));
}

#ifndef ASF_STATIC
/* --- open --------------------------------------------------------------------------------- */

long asf__unix_open(int directory, const char *path, int flags, mode_t mode) {
    if (!__libc_single_threaded)
        pthread_testcancel();
    long r = directory == AT_FDCWD ? asf__cancellable_open(path, flags, mode)
                                   : asf__raw(SYS_openat, directory, (long)path, flags, mode);
    return r < 0 ? asf__result_or_errno(r) : asf__after_open((int)r, flags);
}

#define OPEN(name, parameters, directory)                                                                    \
    EXPORT int name parameters {                                                                             \
        mode_t mode = 0;                                                                                     \
        if (asf__needs_mode(flags)) {                                                                        \
            va_list ap;                                                                                      \
            va_start(ap, flags);                                                                             \
            mode = va_arg(ap, mode_t);                                                                       \
            va_end(ap);                                                                                      \
        }                                                                                                    \
        return (int)asf__unix_open(directory, path, flags, mode);                                            \
    }

OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int at, const char *path, int flags, ...), at)
ALIAS_64(open);
ALIAS_64(openat);

/* --- dup ---------------------------------------------------------------------------------- */

long asf__unix_dup(int fd) {
    bool begun = asf__begin_share(fd);
    int to = (int)asf__raw(SYS_dup, fd, 0, 0, 0);
    asf__end_share(fd, to, begun);
    return asf__result_or_errno(to);
}

/* A call that fails leaves `to` open, and bytes in its ring must stay readable: so asf__before_close is
 * called only if the call is going to close `to`. */
long asf__unix_dup3(int from, int to, int flags) {
    bool is_open = asf__raw(SYS_fcntl, from, F_GETFD, 0, 0) >= 0;
    bool closes = from != to && is_open && !(flags & ~O_CLOEXEC);
    if (closes)
        asf__before_close(to);
    bool begun = closes && asf__begin_share(from);
    int r = (int)asf__libc_dup3(from, to, flags);
    asf__end_share(from, r, begun);
    return asf__result_or_errno(r);
}

long asf__unix_dup2(int from, int to) {
    if (from != to)
        return asf__unix_dup3(from, to, 0);
    long r = asf__raw(SYS_fcntl, from, F_GETFD, 0, 0);
    return asf__result_or_errno(r < 0 ? r : to);
}

/* --- fcntl and ioctl -------------------------------------------------------------------------- */

/* Commands other than these may depend on the descriptor's offset or data (file flags, the size of the
 * pipe, seals), so they publish it. */
EXPORT int fcntl(int fd, int command, ...) {
    va_list ap;
    va_start(ap, command);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
        bool begun = asf__begin_share(fd);
        int to = (int)asf__raw(SYS_fcntl, fd, command, (long)arg, 0);
        asf__end_share(fd, to, begun);
        return (int)asf__result_or_errno(to);
    }
    if (command != F_GETFD && command != F_SETFD && command != F_GETFL && command != F_GETPIPE_SZ)
        asf__publish(fd);
    return ASF_NEXT(fcntl)(fd, command, arg);
}

ALIAS_64(fcntl);

/* Defined under another C name, since musl's header declares the request as an int. */
EXPORT int asf__ioctl(int fd, unsigned long request, ...) __asm__("ioctl");
int asf__ioctl(int fd, unsigned long request, ...) {
    va_list ap;
    va_start(ap, request);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    asf__publish(fd);
    return (int)asf__result_or_errno(asf__raw(SYS_ioctl, fd, (unsigned)request, (long)arg, 0));
}
#endif
