/* SPDX-License-Identifier: MIT
 *
 * file_append.c - a file opened to append: the kernel sets the offset to the end
 * at every write, so that it is unknown after one.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include "streams/buffer.h"

const struct asf_stream_ops asf__file_append = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "append",
    .get = asf__fd_get,
    .put = asf__fd_put,
    .seek = asf__fd_seek,
    .close = asf__fd_close,
    .fill = asf__buffered_fill,
    .drain = asf__buffered_drain,
};
