/* SPDX-License-Identifier: MIT
 *
 * file_update.c - a file opened for reading and writing, which may alternate with
 * no seek between.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include "streams/buffer.h"

const struct asf_stream_ops asf__file_update = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "update",
    .get = asf__fd_get,
    .put = asf__fd_put,
    .seek = asf__fd_seek,
    .close = asf__fd_close,
    .fill = asf__buffered_fill,
    .drain = asf__buffered_drain,
};
