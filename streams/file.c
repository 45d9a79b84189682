/* SPDX-License-Identifier: MIT
 *
 * file.c - the system calls on a descriptor, as modules are made of them.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "lib/syscalls.h"
#include "streams/buffer.h"

/* A wait for a pipe or a terminal shows others what we hold back; and a thread
 * may be cancelled in it. */
static __attribute__((noinline)) ssize_t cancellable_read(struct asf_cios *c, void *buf, size_t n) {
    ssize_t r;
    pthread_cleanup_push(asf__cancelled, c);
    r = asf__sys.read(c->fd, buf, n);
    pthread_cleanup_pop(0);
    return r;
}

static __attribute__((noinline)) ssize_t cancellable_write(struct asf_cios *c, const void *buf, size_t n) {
    ssize_t r;
    pthread_cleanup_push(asf__cancelled, c);
    r = asf__sys.write(c->fd, buf, n);
    pthread_cleanup_pop(0);
    return r;
}

ssize_t asf__fd_get(struct asf_cios *c, void *buf, size_t n) {
    if (!c->regular)
        asf__before_wait();
    ssize_t r = __libc_single_threaded ? asf__sys.read(c->fd, buf, n) : cancellable_read(c, buf, n);
    c->stats.syscalls++;
    if (r > 0) {
        c->stats.in += (uint64_t)r;
        if (c->offset >= 0)
            c->offset += r;
    }
    return r;
}

ssize_t asf__fd_put(struct asf_cios *c, const void *buf, size_t n) {
    if (c->regular)
        asf__settle_readers(c->dev, c->ino, c);
    ssize_t r = __libc_single_threaded ? asf__sys.write(c->fd, buf, n) : cancellable_write(c, buf, n);
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
    return asf__sys.lseek(c->fd, offset, whence);
}

int asf__fd_close(struct asf_cios *c) {
    return c->fd >= 0 ? asf__sys.close(c->fd) : 0;
}
