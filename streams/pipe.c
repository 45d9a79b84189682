/* SPDX-License-Identifier: MIT
 *
 * pipe.c - pipes, sockets, terminals and other devices: never asked for more
 * than libc would ask, since it cannot be put back.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include "streams/buffer.h"

const struct asf_stream_ops asf__pipe = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "pipe",
    .get = asf__fd_get,
    .put = asf__fd_put,
    .seek = asf__fd_seek,
    .close = asf__fd_close,
    .fill = asf__buffered_fill,
    .drain = asf__buffered_drain,
};
