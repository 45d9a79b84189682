/* SPDX-License-Identifier: MIT
 *
 * compress_plain.c - compress and uncompress on stdio, in the classic way: bytes that the coder reads or
 * writes one at a time go through getc and putc.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec.h"

enum { BLOCK = 8192, OUT_BLOCK = 2 * LZW_DECODE_ROOM };

struct codec_stream *codec_open(int fd, bool for_output) {
    return (struct codec_stream *)fdopen(fd, for_output ? "w" : "r");
}

int codec_close(struct codec_stream *stream) {
    return fclose((FILE *)stream) == 0 ? 0 : errno;
}

static size_t read_block(FILE *in, unsigned char *block) {
    size_t n = 0;
    int c;
    while (n < BLOCK && (c = getc(in)) != EOF)
        block[n++] = (unsigned char)c;
    return n;
}

static void write_codes(FILE *out, const unsigned char *codes, size_t n, struct codec_result *result) {
    if (fwrite(codes, 1, n, out) != n && result->out_error == 0)
        result->out_error = errno;
    result->bytes_out += n;
}

void codec_compress(struct codec_stream *in, struct codec_stream *out, unsigned max_bits,
                    struct codec_result *result) {
    unsigned char block[BLOCK];
    unsigned char *codes = malloc(lzw_encode_room(BLOCK));
    struct lzw_encoder *coder = lzw_encoder_new(max_bits);
    *result = (struct codec_result){.out_error = codes && coder ? 0 : ENOMEM};
    size_t n;
    while (result->out_error == 0 && (n = read_block((FILE *)in, block)) > 0) {
        write_codes((FILE *)out, codes, lzw_encode(coder, block, n, codes), result);
        result->bytes_in += n;
    }
    if (result->out_error == 0)
        write_codes((FILE *)out, codes, lzw_encode_end(coder, codes), result);
    result->in_error = ferror((FILE *)in) ? errno : 0;
    free(coder);
    free(codes);
}

static void write_bytes(FILE *out, const unsigned char *from, const unsigned char *end,
                        struct codec_result *result) {
    result->bytes_out += (uint64_t)(end - from);
    for (; from < end; from++)
        if (putc(*from, out) == EOF) {
            result->out_error = errno;
            return;
        }
}

/* Decode a block of codes into as many output blocks as it needs. */
static void decode_block(struct lzw_decoder *coder, const unsigned char *codes, size_t n,
                         unsigned char *bytes, FILE *out, struct codec_result *result) {
    const unsigned char *end = codes + n;
    unsigned char *to;
    do {
        to = bytes;
        result->status = lzw_decode(coder, &codes, end, &to, bytes + OUT_BLOCK);
        write_bytes(out, bytes, to, result);
    } while (result->status == LZW_OK && result->out_error == 0 && bytes + OUT_BLOCK - to < LZW_DECODE_ROOM);
}

void codec_uncompress(struct codec_stream *in, struct codec_stream *out, struct codec_result *result) {
    unsigned char codes[BLOCK];
    unsigned char *bytes = malloc(OUT_BLOCK);
    struct lzw_decoder *coder = lzw_decoder_new();
    *result = (struct codec_result){.out_error = bytes && coder ? 0 : ENOMEM};
    size_t n;
    while (result->out_error == 0 && result->status == LZW_OK &&
           (n = fread(codes, 1, BLOCK, (FILE *)in)) > 0) {
        decode_block(coder, codes, n, bytes, (FILE *)out, result);
        result->bytes_in += n;
    }
    result->in_error = ferror((FILE *)in) ? errno : 0;
    if (coder && result->status == LZW_OK)
        result->status = lzw_decode_end(coder);
    result->width = coder ? lzw_decode_width(coder) : 0;
    free(coder);
    free(bytes);
}
