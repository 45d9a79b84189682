/* SPDX-License-Identifier: MIT
 *
 * file_read.c - a regular file, read only, through read(): small files, file
 * systems that do not map well, and offsets that others share.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include "streams/buffer.h"

const struct asf_stream_ops asf__file_read = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "read",
    .get = asf__fd_get,
    .seek = asf__fd_seek,
    .close = asf__fd_close,
    .fill = asf__buffered_fill,
    .get_at = asf__fd_get_at,
};
