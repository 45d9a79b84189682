/* SPDX-License-Identifier: MIT
 *
 * unix_write.c - write, writev and pwrite.  Writes go to the kernel at once; the descriptor is published
 * before.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <unistd.h>

long asf__unix_write(int fd, const void *p, size_t n) {
    asf__publish_streams(fd);
    if (asf__fd(fd))
        asf__publish(fd);
    const bool rings = asf__rings();
    const long r = rings ? asf__pipe_write(fd, p, n) : asf__cancellable_write(fd, p, n);
    return asf__result_or_errno(asf__count_call(fd, r, true, rings && asf__pipe_has_ring(fd)));
}

#ifndef ASF_STATIC
long asf__unix_writev(int fd, const struct iovec *v, int count) {
    asf__publish(fd);
    return asf__count_call(fd, ASF_NEXT(writev)(fd, v, count), true, false);
}

/* A private descriptor stays private: its window maps the page cache, and so shows the bytes. */
long asf__unix_pwrite(int fd, const void *p, size_t n, off64_t at) {
    asf__publish_streams(fd);
    if (asf__has_state(asf__fd(fd), ASF_FD_JOINED))
        asf__publish(fd);
    return asf__count_call(fd, ASF_NEXT(pwrite)(fd, p, n, at), true, false);
}
#endif
