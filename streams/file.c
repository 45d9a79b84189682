/* SPDX-License-Identifier: MIT
 *
 * file.c - the system calls on a descriptor, as modules are made of them.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE

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

/* As long as reads jump about they say where, and the offset need not follow. */
static bool says_where(const struct asf_cios *c, size_t n) {
    enum { LARGE = 64 << 10 };
    return c->offset >= 0 && !asf__is_sequential(c) && !c->shared && n <= LARGE;
}

ssize_t asf__fd_get_deferred(struct asf_cios *c, void *buf, size_t n) {
    int rc = says_where(c, n) ? 0 : asf__catch_up(c);
    if (rc < 0)
        return rc;
    if (!c->deferred)
        return asf__fd_get_here(c, buf, n);
    asf__before_io();
    asf__settle_writers(c);
    return asf__got(c, asf__likely(__libc_single_threaded)
                           ? asf__pread(c->fd, buf, n, c->offset)
                           : ASF__CANCELLED_IN(c, asf__pread(c->fd, buf, n, c->offset)));
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
    if (c->regular)
        asf__settle_readers_again(c->dev, c->ino, c);
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
    int rc = whence == SEEK_CUR ? asf__catch_up(c) : 0;
    if (rc < 0)
        return rc;
    c->stats.syscalls++;
    off64_t at = asf__lseek(c->fd, offset, whence);
    if (at >= 0)
        c->deferred = false;
    return at;
}

int asf__fd_close(struct asf_cios *c) {
    int failed = asf__end_gathering(c->fd);
    asf__fd_changed();
    int rc = c->fd >= 0 ? asf__close(c->fd) : 0;
    return rc < 0 ? rc : failed;
}
