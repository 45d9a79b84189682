/* SPDX-License-Identifier: MIT
 *
 * codec.h - the input and output of compress and uncompress.
 *
 * Example programs.  compress_plain.c implements these functions with stdio, compress_asi.c with the Alloc
 * Stream Interface.  All other files are shared.
 */
#ifndef ASF_EXAMPLES_CODEC_H
#define ASF_EXAMPLES_CODEC_H

#include <stdbool.h>

#include "lzw.h"

/* A stream of the I/O library in use. */
struct codec_stream;

struct codec_result {
    enum lzw_status status;
    unsigned width;          /* with LZW_WIDTH: the width of the codes */
    int in_error, out_error; /* errno values */
    uint64_t bytes_in, bytes_out;
};

/* codec_open: open a stream on a descriptor.  The stream then owns the descriptor.
 * returns  NULL if memory is exhausted; the descriptor is still open. */
struct codec_stream *codec_open(int fd, bool for_output);

/* codec_close: returns 0 or the errno value of a write that failed. */
int codec_close(struct codec_stream *stream);

/* codec_compress, codec_uncompress: convert from `in` to `out`, until the input ends or an error occurs. */
void codec_compress(struct codec_stream *in, struct codec_stream *out, unsigned max_bits,
                    struct codec_result *result);
void codec_uncompress(struct codec_stream *in, struct codec_stream *out, struct codec_result *result);

#endif
