/* SPDX-License-Identifier: MIT
 *
 * file.c - the system calls on a descriptor, as modules are made of them.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "backplane/descriptor.h"
#include "streams/descriptor_calls.h"

/* A thread may be cancelled in these. */
ssize_t asf__fd_get_by(struct asf_cios *c, ssize_t (*by)(int, void *, size_t), void *buf, size_t n) {
    return ASF__CANCELLED_IN(c, by(c->fd, buf, n));
}

ssize_t asf__fd_put_by(struct asf_cios *c, ssize_t (*by)(int, const void *, size_t), const void *buf,
                       size_t n) {
    return ASF__CANCELLED_IN(c, by(c->fd, buf, n));
}

ssize_t asf__fd_get(struct asf_cios *c, void *buf, size_t n) {
    return asf__fd_get_here(c, buf, n);
}

/* Not cancelled: the region that it reads would never be given back. */
ssize_t asf__fd_get_at(struct asf_cios *c, void *buf, size_t n, int64_t offset) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    ssize_t r = asf__sys.pread(c->fd, buf, n, offset);
    pthread_setcancelstate(before, &before);
    return r;
}

ssize_t asf__fd_put(struct asf_cios *c, const void *buf, size_t n) {
    asf__before_io();
    if (c->regular)
        asf__settle_readers(c->dev, c->ino, c);
    ssize_t r = asf__likely(__libc_single_threaded) ? asf__write(c->fd, buf, n)
                                                    : ASF__CANCELLED_IN(c, asf__write(c->fd, buf, n));
    c->stats.syscalls++;
    if (r > 0) {
        c->stats.out += (uint64_t)r;
        if (c->flags & ASF_APPENDING)
            c->offset = -1;
        else if (c->offset >= 0)
            c->offset += r;
    }
    return r;
}

off64_t asf__fd_seek(struct asf_cios *c, off64_t offset, int whence) {
    c->stats.syscalls++;
    return asf__lseek(c->fd, offset, whence);
}

int asf__fd_close(struct asf_cios *c) {
    asf__end_gathering(c->fd);
    asf__fd_changed();
    return c->fd >= 0 ? asf__close(c->fd) : 0;
}
