/* SPDX-License-Identifier: MIT
 *
 * pipe.c - pipes, sockets, terminals and other devices: never asked for more
 * than libc would ask, since it cannot be put back.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include "backplane/pipe_ring.h"
#include "streams/buffer.h"

const struct asf_stream_ops asf__pipe = ASF__DESCRIPTOR_OPS("pipe");

static ssize_t ring_get(struct asf_cios *c, void *buf, size_t n) {
    asf__before_wait();
    ssize_t r = asf__fd_get_by(c, asf__pipe_read, buf, n);
    c->stats.syscalls += !asf__pipe_has_ring(c->fd);
    c->stats.in += r > 0 ? (uint64_t)r : 0;
    return r;
}

static ssize_t ring_put(struct asf_cios *c, const void *buf, size_t n) {
    ssize_t r = asf__fd_put_by(c, asf__pipe_write, buf, n);
    c->stats.syscalls += !asf__pipe_has_ring(c->fd);
    c->stats.out += r > 0 ? (uint64_t)r : 0;
    return r;
}

static int ring_close(struct asf_cios *c) {
    asf__pipe_lose(c->fd);
    return asf__fd_close(c);
}

const struct asf_stream_ops asf__pipe_ring = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "pipe",
    .get = ring_get,
    .put = ring_put,
    .seek = asf__fd_seek,
    .close = ring_close,
    .fill = asf__buffered_fill,
    .drain = asf__buffered_drain,
};
