/* SPDX-License-Identifier: MIT
 *
 * file.c - the system calls on a descriptor, as modules are made of them.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "backplane/gather.h"
#include "lib/fresh_memory.h"
#include "lib/syscalls.h"
#include "streams/buffer.h"

/* A stream on which no call is to be cancelled: opened so, or used by libc for
 * a message of its own. */
static int hold_cancellation(const struct asf_cios *c) {
    int before = -1;
    if (c->flags2 & ASF_NOT_CANCELLED)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static void release_cancellation(int before) {
    if (before >= 0)
        pthread_setcancelstate(before, &before);
}

/* A wait for a pipe or a terminal shows others what we hold back; and a thread
 * may be cancelled in it. */
ssize_t asf__fd_get_by(struct asf_cios *c, ssize_t (*by)(int, void *, size_t), void *buf, size_t n) {
    ssize_t r;
    int before = hold_cancellation(c);
    pthread_cleanup_push(asf__cancelled, c);
    r = by(c->fd, buf, n);
    pthread_cleanup_pop(0);
    release_cancellation(before);
    return r;
}

ssize_t asf__fd_put_by(struct asf_cios *c, ssize_t (*by)(int, const void *, size_t), const void *buf,
                       size_t n) {
    ssize_t r;
    int before = hold_cancellation(c);
    pthread_cleanup_push(asf__cancelled, c);
    r = by(c->fd, buf, n);
    pthread_cleanup_pop(0);
    release_cancellation(before);
    return r;
}

ssize_t asf__fd_get(struct asf_cios *c, void *buf, size_t n) {
    asf__before_io();
    if (!c->regular)
        asf__before_wait();
    asf__before_large_read(c->fd, buf, n);
    ssize_t r = asf__likely(__libc_single_threaded) ? asf__read(c->fd, buf, n)
                                                    : asf__fd_get_by(c, asf__sys.read, buf, n);
    c->stats.syscalls++;
    if (r > 0) {
        c->stats.in += (uint64_t)r;
        if (c->offset >= 0)
            c->offset += r;
    }
    return r;
}

/* Not cancelled: the region that it reads would never be given back. */
ssize_t asf__fd_get_at(struct asf_cios *c, void *buf, size_t n, int64_t offset) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    ssize_t r = asf__sys.pread(c->fd, buf, n, offset);
    release_cancellation(before);
    return r;
}

ssize_t asf__fd_put(struct asf_cios *c, const void *buf, size_t n) {
    asf__before_io();
    if (c->regular)
        asf__settle_readers(c->dev, c->ino, c);
    ssize_t r = asf__likely(__libc_single_threaded) ? asf__write(c->fd, buf, n)
                                                    : asf__fd_put_by(c, asf__sys.write, buf, n);
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
    return c->fd >= 0 ? asf__sys.close(c->fd) : 0;
}
