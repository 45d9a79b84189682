/* SPDX-License-Identifier: MIT
 *
 * codec.h - what compress and uncompress ask of an I/O library.
 *
 * Example programs.  compress_plain.c does it with stdio, compress_asi.c with the
 * Alloc Stream Interface; everything else is shared.
 */
#ifndef ASF_EXAMPLES_CODEC_H
#define ASF_EXAMPLES_CODEC_H

#include <stdbool.h>

#include "lzw.h"

/* A stream of the I/O library in use. */
struct codec_stream;

struct codec_result {
    enum lzw_status status;
    unsigned width;          /* of the codes, with LZW_WIDTH */
    int in_error, out_error; /* errno values */
    uint64_t bytes_in, bytes_out;
};

/* codec_open: make a stream of a descriptor, which it owns from now on.
 * returns  NULL when there is no memory, and the descriptor is still open. */
struct codec_stream *codec_open(int fd, bool for_output);

/* codec_close: returns 0 or the errno value of a write that failed. */
int codec_close(struct codec_stream *stream);

/* codec_compress, codec_uncompress: from the one stream to the other, up to
 * the end of the input or the first error. */
void codec_compress(struct codec_stream *in, struct codec_stream *out, unsigned max_bits,
                    struct codec_result *result);
void codec_uncompress(struct codec_stream *in, struct codec_stream *out, struct codec_result *result);

#endif
