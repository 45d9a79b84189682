/* SPDX-License-Identifier: MIT
 *
 * file_update.c - a file opened for reading and writing, which may alternate with
 * no seek between.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include "streams/buffer.h"

const struct asf_stream_ops asf__file_update = ASF__DESCRIPTOR_OPS("update");
