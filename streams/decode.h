/* SPDX-License-Identifier: MIT
 *
 * decode.h - finds a decoder by the first bytes of the input; and the module that decodes.
 */
#ifndef ASF_STREAMS_DECODE_H
#define ASF_STREAMS_DECODE_H

#include <asf/decode.h>

#include "streams/modules.h"

#pragma GCC visibility push(hidden)

/* The length of the longest magic number. */
enum { ASF_MAGIC_BYTES = 6 };

/* asf__format_of: the format of a stream that begins with these n bytes; ASF_FORMAT_OPEN: more bytes are
 * needed to tell.
 * asf__load_decoder: the format's decoder, whose library is loaded by the first call.  returns  NULL: it
 * is not installed.
 * asf__why_format: the format in words.  lock: none. */
enum asf_format {
    ASF_FORMAT_NONE,
    ASF_FORMAT_OPEN,
    ASF_FORMAT_ZSTD,
    ASF_FORMAT_GZIP,
    ASF_FORMAT_LZ4,
    ASF_FORMAT_XZ
};
enum asf_format asf__format_of(const char *p, size_t n);
const struct asf_decoder *asf__load_decoder(enum asf_format f);
const char *asf__why_format(enum asf_format f);

/* asf__stack_decoder: make c a stream of the decoded bytes of `below`.  `below` is closed with c if c has
 * no descriptor; else the two share c's.  returns  0 or -ENOMEM. */
int asf__stack_decoder(struct asf_cios *c, const struct asf_decoder *decoder, struct asf_cios *below);

/* asf__look_for_format: for the option "decompress", at the end of an attach: a listed, read-only stream
 * decodes compressed input.  A file is examined at once, a pipe or socket when its first bytes are read. */
void asf__look_for_format(struct asf_cios *c);

#pragma GCC visibility pop

#endif
