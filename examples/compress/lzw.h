/* SPDX-License-Identifier: MIT
 *
 * lzw.h - the LZW coder of compress(1), from memory to memory.
 *
 * Example programs, shared part: what plain-compress and asi-compress have in
 * common.  It does no I/O and keeps its state between calls, so that the
 * caller may hand over the data in pieces of any size.
 *
 * The .Z format: two magic bytes, a byte with the largest code width and the
 * block-mode flag, then codes of 9 bits and up, least significant bit first.
 * Codes are written in groups of eight; when the width changes, what is left
 * of a group is filled up.  In block mode code 256 (CLEAR) empties the table.
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

/* lzw_encoder_new: a coder that uses codes of up to `max_bits` bits, which is
 * LZW_MIN_BITS to LZW_MAX_BITS.
 * returns  NULL when there is no memory; give it back with free(). */
struct lzw_encoder *lzw_encoder_new(unsigned max_bits);

/* lzw_encode_room: the space lzw_encode and lzw_encode_end may need for `n`
 * bytes of input. */
static inline size_t lzw_encode_room(size_t n) {
    /* Two bytes a code; a width change, at most one in 255 codes, fills up to 16 bytes. */
    return 2 * n + n / 4 + 256;
}

/* lzw_encode: compress the next `n` bytes.
 *   out  lzw_encode_room(n) bytes
 * returns  the number of bytes put at `out`. */
size_t lzw_encode(struct lzw_encoder *coder, const unsigned char *in, size_t n, unsigned char *out);

/* lzw_encode_end: write what the coder still holds; no more input follows. */
size_t lzw_encode_end(struct lzw_encoder *coder, unsigned char *out);

enum lzw_status {
    LZW_OK,      /* all input is used, or the output is full */
    LZW_FORMAT,  /* not the magic of a .Z file */
    LZW_WIDTH,   /* a valid header, but wider codes than LZW_MAX_BITS */
    LZW_CORRUPT, /* a code that stands for no string */
};

enum {
    /* The longest string grows by one byte a code; stores may run 16 bytes past its end. */
    LZW_DECODE_ROOM = (1 << LZW_MAX_BITS) + 16,
};

/* lzw_decoder_new: returns NULL when there is no memory; free() it. */
struct lzw_decoder *lzw_decoder_new(void);

/* lzw_decode: uncompress from *in up to in_end to *out, and move both past
 * what was used; stops with LZW_OK when no input is left or fewer than
 * LZW_DECODE_ROOM bytes of output are. */
enum lzw_status lzw_decode(struct lzw_decoder *coder, const unsigned char **in, const unsigned char *in_end,
                           unsigned char **out, unsigned char *out_end);

/* lzw_decode_end: the input is at its end.
 * returns  LZW_FORMAT when it ended within the header, otherwise LZW_OK. */
enum lzw_status lzw_decode_end(const struct lzw_decoder *coder);

/* lzw_decode_width: the width that the header asked for (see LZW_WIDTH). */
unsigned lzw_decode_width(const struct lzw_decoder *coder);

#endif
