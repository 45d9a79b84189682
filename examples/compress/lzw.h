/* SPDX-License-Identifier: MIT
 *
 * lzw.h - the LZW coder of compress(1), from memory to memory.
 *
 * Example programs, shared by plain-compress and asi-compress.  The coder does no I/O.  It keeps its state
 * between calls, so that the caller may pass the data in chunks of any size.
 *
 * The .Z format: two magic bytes, a byte with the largest code width and the
 * block-mode flag, then codes of 9 bits and up, least significant bit first.
 * Codes are written in groups of eight.  Before the width changes, the last group is filled up.  In block
 * mode code 256 (CLEAR) empties the table.
 */
#ifndef ASF_EXAMPLES_LZW_H
#define ASF_EXAMPLES_LZW_H

#include <stddef.h>
#include <stdint.h>

enum {
    LZW_MAGIC_1 = 0x1f,
    LZW_MAGIC_2 = 0x9d,
    LZW_BLOCK_MODE = 0x80,
    LZW_WIDTH_BITS = 0x1f,
    LZW_HEADER_SIZE = 3,
    LZW_MIN_BITS = 9,
    LZW_MAX_BITS = 16,
    LZW_CLEAR = 256,
    LZW_FIRST = 257,
};

struct lzw_encoder;
struct lzw_decoder;

/* lzw_encoder_new: make a coder whose codes have up to `max_bits` bits.
 *   max_bits  LZW_MIN_BITS to LZW_MAX_BITS
 * returns  the coder, for free(); NULL if memory is exhausted. */
struct lzw_encoder *lzw_encoder_new(unsigned max_bits);

/* lzw_encode_room: the most bytes that lzw_encode and lzw_encode_end write for `n` bytes of input. */
static inline size_t lzw_encode_room(size_t n) {
    /* Two bytes a code; a width change, at most one in 255 codes, fills up to 16 bytes. */
    return 2 * n + n / 4 + 256;
}

/* lzw_encode: compress the next `n` bytes.
 *   out  lzw_encode_room(n) bytes
 * returns  the number of bytes written to `out`. */
size_t lzw_encode(struct lzw_encoder *coder, const unsigned char *in, size_t n, unsigned char *out);

/* lzw_encode_end: write the last code.  No input may follow. */
size_t lzw_encode_end(struct lzw_encoder *coder, unsigned char *out);

enum lzw_status {
    LZW_OK,      /* all input is used, or the output is full */
    LZW_FORMAT,  /* the magic bytes are not those of a .Z file */
    LZW_WIDTH,   /* the header's code width is not LZW_MIN_BITS to LZW_MAX_BITS */
    LZW_CORRUPT, /* a code that stands for no string */
};

enum {
    /* The longest string grows by one byte a code; stores may run 16 bytes past its end. */
    LZW_DECODE_ROOM = (1 << LZW_MAX_BITS) + 16,
};

/* lzw_decoder_new: returns a decoder, for free(); NULL if memory is exhausted. */
struct lzw_decoder *lzw_decoder_new(void);

/* lzw_decode: uncompress bytes from *in to *out, and advance both pointers.  Returns LZW_OK if no input is
 * left, or if fewer than LZW_DECODE_ROOM bytes of output are. */
enum lzw_status lzw_decode(struct lzw_decoder *coder, const unsigned char **in, const unsigned char *in_end,
                           unsigned char **out, unsigned char *out_end);

/* lzw_decode_end: check the end of the input.
 * returns  LZW_FORMAT if the input ended within the header, otherwise LZW_OK. */
enum lzw_status lzw_decode_end(const struct lzw_decoder *coder);

/* lzw_decode_width: returns the code width in the header (see LZW_WIDTH). */
unsigned lzw_decode_width(const struct lzw_decoder *coder);

#endif
