/* SPDX-License-Identifier: MIT
 *
 * file_append.c - a file opened to append: the kernel sets the offset to the end
 * at every write, so that it is unknown after one.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include "streams/buffer.h"

const struct asf_stream_ops asf__file_append = ASF__DESCRIPTOR_OPS("append");
