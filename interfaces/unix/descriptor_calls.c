/* SPDX-License-Identifier: MIT
 *
 * descriptor_calls.c - descriptors opened, closed, duplicated and controlled.  Most are made by
 * their number, since programs call them in signal handlers, where nothing may be looked up.
 * Layer: interfaces.  May include: backplane, lib.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

static int close_now(int fd) {
    int failed = asf__lose(fd), r = asf__cancellable_close(fd);
    return (int)asf__answer(r < 0 ? r : failed);
}

EXPORT int close(int fd) {
    return close_now(fd);
}

#ifndef ASF_STATIC
static int open_at(int directory, const char *path, int flags, mode_t mode) {
    asf__before_look();
    if (!__libc_single_threaded)
        pthread_testcancel();
    long r = directory == AT_FDCWD ? asf__cancellable_open(path, flags, mode)
                                   : asf__raw(SYS_openat, directory, (long)path, flags, mode);
    return r < 0 ? (int)asf__answer(r) : asf__opened((int)r, flags);
}

static bool has_mode(int flags) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define MODE(last)                                                                                           \
    mode_t mode = 0;                                                                                         \
    if (has_mode(last)) {                                                                                    \
        va_list ap;                                                                                          \
        va_start(ap, last);                                                                                  \
        mode = va_arg(ap, mode_t);                                                                           \
        va_end(ap);                                                                                          \
    }

EXPORT int open(const char *path, int flags, ...) {
    MODE(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int directory, const char *path, int flags, ...) {
    MODE(flags)
    return open_at(directory, path, flags, mode);
}

EXPORT int creat(const char *path, mode_t mode) {
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int open64(const char *, int, ...) ALIAS(open);
int openat64(int, const char *, int, ...) ALIAS(openat);
int creat64(const char *, mode_t) ALIAS(creat);

/* Of programs that are compiled with _FORTIFY_SOURCE: those that give no mode. */
int __open_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);

EXPORT int __open_2(const char *path, int flags) {
    return has_mode(flags) ? ASF_NEXT(__open_2)(path, flags) : open_at(AT_FDCWD, path, flags, 0);
}

EXPORT int __openat_2(int directory, const char *path, int flags) {
    return has_mode(flags) ? ASF_NEXT(__openat_2)(directory, path, flags)
                           : open_at(directory, path, flags, 0);
}

int __open64_2(const char *, int) ALIAS(__open_2);
int __openat64_2(int, const char *, int) ALIAS(__openat_2);

/* --- duplicates --------------------------------------------------------------------------- */

EXPORT int dup(int fd) {
    asf__publish(fd);
    return (int)asf__answer(asf__raw(SYS_dup, fd, 0, 0, 0));
}

/* A call that fails leaves `to` open, and what its ring holds has still to be read. */
static int duplicate(int from, int to, int flags) {
    bool is_open = asf__raw(SYS_fcntl, from, F_GETFD, 0, 0) >= 0;
    asf__publish(from);
    if (from != to && is_open && !(flags & ~O_CLOEXEC))
        asf__lose(to);
    return (int)asf__answer(asf__raw(SYS_dup3, from, to, flags, 0));
}

EXPORT int dup2(int from, int to) {
    if (from != to)
        return duplicate(from, to, 0);
    return (int)asf__answer(asf__raw(SYS_dup2, from, to, 0, 0));
}

EXPORT int dup3(int from, int to, int flags) {
    return duplicate(from, to, flags);
}

/* --- controls ------------------------------------------------------------------------------- */

/* What does not ask for the flags of the descriptor alone may be about its offset (a lock, a
 * duplicate) or its data (other flags, another size of the pipe, a seal). */
EXPORT int fcntl(int fd, int command, ...) {
    va_list ap;
    va_start(ap, command);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    if (command != F_GETFD && command != F_SETFD && command != F_GETFL && command != F_GETPIPE_SZ)
        asf__publish(fd);
    return ASF_NEXT(fcntl)(fd, command, arg);
}

int fcntl64(int, int, ...) ALIAS(fcntl);

EXPORT int ioctl(int fd, unsigned long request, ...) {
    va_list ap;
    va_start(ap, request);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    asf__publish(fd);
    return (int)asf__answer(asf__raw(SYS_ioctl, fd, (long)request, (long)arg, 0));
}

/* What is written to the file is to be seen in the map.  Our own windows come by here, too. */
EXPORT void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
    if (fd >= 0 && asf__unlikely(asf__options()->coalesce)) {
        asf__flush_all_coalesced();
        if (flags & MAP_SHARED)
            asf__share_by_map(fd);
    }
    return (void *)asf__answer(
        asf__raw6(SYS_mmap, (long)at, (long)n, protection, flags, fd, offset)); // NOLINT
}

void *mmap64(void *, size_t, int, int, int, off64_t) ALIAS(mmap);
#endif
