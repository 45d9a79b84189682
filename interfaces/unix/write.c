/* SPDX-License-Identifier: MIT
 *
 * write.c - writes go to the kernel, at once, unless write=coalesce asks for the paper's
 * buffering of small ones.
 * Layer: interfaces.  May include: backplane, lib.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <unistd.h>

EXPORT ssize_t write(int fd, const void *p, size_t n) {
    struct asf_fd *d = asf__fd(fd);
    if (d && d->state != ASF_FD_JOINED && asf__options()->coalesce) {
        ssize_t r = asf__coalesce(d, fd, p, n);
        if (r != ASF_NOT_OURS)
            return asf__answer(r);
    }
    asf__before_look();
    if (d)
        asf__publish(fd);
    return asf__answer(asf__rings() ? asf__pipe_write(fd, p, n) : asf__cancellable_write(fd, p, n));
}

#ifndef ASF_STATIC
EXPORT ssize_t writev(int fd, const struct iovec *v, int count) {
    asf__before_look();
    asf__publish(fd);
    return ASF_NEXT(writev)(fd, v, count);
}

/* A mapped window shows what is written by another way. */
EXPORT ssize_t pwrite(int fd, const void *p, size_t n, off_t at) {
    struct asf_fd *d = asf__fd(fd);
    asf__before_look();
    if (d && d->state == ASF_FD_JOINED)
        asf__publish(fd);
    return ASF_NEXT(pwrite)(fd, p, n, at);
}

ssize_t pwrite64(int, const void *, size_t, off64_t) ALIAS(pwrite);

/* The error of a coalesced write is told here, too. */
#define SYNCING(name)                                                                                        \
    EXPORT int name(int fd) {                                                                                \
        int failed = asf__flush_coalesced(fd), r = ASF_NEXT(name)(fd);                                       \
        return failed < 0 && r == 0 ? (int)asf__answer(failed) : r;                                          \
    }
SYNCING(fsync)
SYNCING(fdatasync)
#endif
