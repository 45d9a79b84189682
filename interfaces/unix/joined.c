/* SPDX-License-Identifier: MIT
 *
 * joined.c - Unix I/O on a descriptor whose stream is used by the ASI, too: the
 * calls go on where the stream stands, and the stream where they leave off.  A
 * stream that stdio alone knows is not joined: there libc's buffer shows.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "interfaces/unix/joined.h"

#include <errno.h>

#include "interfaces/unix/emulate.h"

/* The paper's Figure 5: from the current buffer, which is filled first if it is
 * empty; of a pipe what is there, of a file as much as there is. */
static ssize_t take(struct asf_cios *c, char *p, size_t n) {
    asf__choose(c);
    int error = asf__to_read(c);
    if (error < 0 || n == 0)
        return error;
    if (asf__unread(c) == 0) {
        ssize_t there = asf__fill(c, 1);
        if (there <= 0)
            return there;
    }
    size_t got = asf__take(c, p, c->regular || n < asf__unread(c) ? n : asf__unread(c), &error);
    return got > 0 ? (ssize_t)got : error;
}

ssize_t asf__joined_read(struct asf_cios *c, void *p, size_t n) {
    asf__lock(&c->lk);
    bool inside = c->held; /* a signal handler's call, in the middle of one of the stream's */
    c->yields = !inside;
    ssize_t r = inside ? 0 : take(c, p, n);
    c->yields = false;
    asf__unlock(&c->lk);
    if (inside)
        return asf__kernel_read(c->fd, p, n);
    return r < 0 ? asf__failed(r) : r;
}

off64_t asf__joined_seek(struct asf_cios *c, off64_t offset, int whence) {
    asf__lock(&c->lk);
    off64_t r = c->held                             ? asf__lseek(c->fd, offset, whence)
                : offset == 0 && whence == SEEK_CUR ? asf__tell(c)
                                                    : asf__seek(c, offset, whence);
    asf__unlock(&c->lk);
    return r < 0 ? asf__failed(r > -4096 ? r : -EINVAL) : r;
}

void asf__joined_release(struct asf_cios *c) {
    asf__lock(&c->lk);
    if (!c->held && c->chosen) {
        int rc = asf__flush(c);
        if (rc < 0 && rc != -EBUSY)
            c->failed = rc;
        c->offset = c->regular ? -1 : c->offset;
    }
    asf__unlock(&c->lk);
}
