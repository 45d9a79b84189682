/* SPDX-License-Identifier: MIT
 *
 * compress_asi.c - compress and uncompress on the Alloc Stream Interface: the coder reads from the input
 * stream's buffer and writes into the output stream's buffer.
 */
#include <asf/asf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "codec.h"

enum { IN_PIECE = 64 * 1024, OUT_PIECE = 4 * LZW_DECODE_ROOM };

struct codec_stream *codec_open(int fd, bool for_output) {
    return (struct codec_stream *)asf_sopen_fd(fd, for_output ? O_WRONLY : O_RDONLY, NULL);
}

int codec_close(struct codec_stream *stream) {
    return -asf_sclose((struct asf_cios *)stream);
}

/* Returns the next chunk of input; NULL at the end or after an error. */
static const unsigned char *next_piece(struct asf_cios *in, size_t *n, struct codec_result *result) {
    ssize_t length = IN_PIECE;
    const unsigned char *piece = asf_u_salloc_some(in, &length);
    if (length < 0)
        result->in_error = (int)-length;
    *n = piece ? (size_t)length : 0;
    result->bytes_in += *n;
    return piece;
}

static void free_piece(struct asf_cios *in, const unsigned char *piece, struct codec_result *result) {
    int error = asf_u_sfree(in, (void *)piece);
    if (error < 0)
        result->in_error = -error;
}

static unsigned char *output_room(struct asf_cios *out, size_t n, struct codec_result *result) {
    ssize_t length = (ssize_t)n;
    unsigned char *room = asf_u_salloc(out, &length);
    if (!room)
        result->out_error = (int)-length;
    return room;
}

/* Write the first `n` bytes of an output region, and give the region back. */
static void write_room(struct asf_cios *out, unsigned char *room, size_t n, struct codec_result *result) {
    ssize_t length = (ssize_t)n;
    room = asf_u_srealloc(out, room, &length);
    int error = length < 0 ? (int)length : asf_u_sfree(out, room);
    if (error < 0)
        result->out_error = -error;
    result->bytes_out += n;
}

static void encode_piece(struct lzw_encoder *coder, const unsigned char *piece, size_t n,
                         struct asf_cios *out, struct codec_result *result) {
    unsigned char *room = output_room(out, lzw_encode_room(n), result);
    if (room)
        write_room(out, room, lzw_encode(coder, piece, n, room), result);
}

static void encode_end(struct lzw_encoder *coder, struct asf_cios *out, struct codec_result *result) {
    unsigned char *room = output_room(out, lzw_encode_room(0), result);
    if (room)
        write_room(out, room, lzw_encode_end(coder, room), result);
}

void codec_compress(struct codec_stream *in, struct codec_stream *out, unsigned max_bits,
                    struct codec_result *result) {
    struct lzw_encoder *coder = lzw_encoder_new(max_bits);
    *result = (struct codec_result){.out_error = coder ? 0 : ENOMEM};
    const unsigned char *piece;
    size_t n;
    while (result->out_error == 0 && (piece = next_piece((struct asf_cios *)in, &n, result))) {
        encode_piece(coder, piece, n, (struct asf_cios *)out, result);
        free_piece((struct asf_cios *)in, piece, result);
    }
    if (result->out_error == 0)
        encode_end(coder, (struct asf_cios *)out, result);
    free(coder);
}

/* Decode a chunk of codes into as many output regions as it needs. */
static void decode_piece(struct lzw_decoder *coder, const unsigned char *codes, size_t n,
                         struct asf_cios *out, struct codec_result *result) {
    const unsigned char *end = codes + n;
    size_t used = OUT_PIECE;
    while (result->status == LZW_OK && result->out_error == 0 && OUT_PIECE - used < LZW_DECODE_ROOM) {
        unsigned char *room = output_room(out, OUT_PIECE, result);
        if (!room)
            return;
        unsigned char *to = room;
        result->status = lzw_decode(coder, &codes, end, &to, room + OUT_PIECE);
        used = (size_t)(to - room);
        write_room(out, room, used, result);
    }
}

void codec_uncompress(struct codec_stream *in, struct codec_stream *out, struct codec_result *result) {
    struct lzw_decoder *coder = lzw_decoder_new();
    *result = (struct codec_result){.out_error = coder ? 0 : ENOMEM};
    const unsigned char *piece;
    size_t n;
    while (result->out_error == 0 && result->status == LZW_OK &&
           (piece = next_piece((struct asf_cios *)in, &n, result))) {
        decode_piece(coder, piece, n, (struct asf_cios *)out, result);
        free_piece((struct asf_cios *)in, piece, result);
    }
    if (coder && result->status == LZW_OK)
        result->status = lzw_decode_end(coder);
    result->width = coder ? lzw_decode_width(coder) : 0;
    free(coder);
}
