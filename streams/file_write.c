/* SPDX-License-Identifier: MIT
 *
 * file_write.c - a regular file or a device, write only.  Output by mapping was 2
 * to 20 times slower than write() from a large buffer.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include "streams/buffer.h"

const struct asf_stream_ops asf__file_write = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "write",
    .put = asf__fd_put,
    .seek = asf__fd_seek,
    .close = asf__fd_close,
    .drain = asf__buffered_drain,
};
