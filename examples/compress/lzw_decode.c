/* SPDX-License-Identifier: MIT
 *
 * lzw_decode.c - the uncompressing half of the LZW coder.
 *
 * Example programs, shared part; uses lzw.h and libc only.  It reads what any
 * compress(1) has written: block mode or not, 9 to 16 bits.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lzw.h"

enum { CODES = 1 << LZW_MAX_BITS, BLOCK = 16, HALF = BLOCK / 2 };

/* A string of the table, divided into blocks of 16 bytes.  An entry has the last block, which may be shorter,
 * and the code of the string without that block.  So a string is written with one store a block. */
struct string {
    uint64_t tail[2];
    uint16_t before; /* code of the string without its last block */
    uint16_t length;
    unsigned char first;
};

struct lzw_decoder {
    unsigned char header[LZW_HEADER_SIZE];
    unsigned header_count;
    bool block_mode;
    bool first_code; /* no code has been read yet */
    unsigned width;
    uint32_t next;        /* code of the unfinished string: the next code has its last byte */
    uint32_t next_max;    /* the width grows when `next` exceeds this */
    uint32_t table_end;   /* one more than the greatest code */
    uint64_t bytes_in;    /* input bytes that earlier calls have read */
    uint64_t group_start; /* the input bit where the width last changed */
    unsigned skip;        /* filler bits of the last group, still to skip */
    uint64_t bits;        /* read, not yet decoded */
    unsigned bit_count;
    struct string strings[CODES + 1];
};

/* The input of one call; bytes before `at` have been read. */
struct source {
    const unsigned char *start, *at, *end;
};

struct lzw_decoder *lzw_decoder_new(void) {
    struct lzw_decoder *coder = calloc(1, sizeof *coder);
    for (unsigned c = 0; coder && c < 256; c++)
        coder->strings[c] = (struct string){.tail = {c}, .length = 1, .first = (unsigned char)c};
    return coder;
}

unsigned lzw_decode_width(const struct lzw_decoder *coder) {
    return coder->header[2] & LZW_WIDTH_BITS;
}

static enum lzw_status read_header(struct lzw_decoder *coder, struct source *in) {
    while (coder->header_count < LZW_HEADER_SIZE && in->at < in->end)
        coder->header[coder->header_count++] = *in->at++;
    if ((coder->header_count > 0 && coder->header[0] != LZW_MAGIC_1) ||
        (coder->header_count > 1 && coder->header[1] != LZW_MAGIC_2))
        return LZW_FORMAT;
    if (coder->header_count < LZW_HEADER_SIZE)
        return LZW_OK;
    unsigned width = lzw_decode_width(coder);
    if (width < LZW_MIN_BITS || width > LZW_MAX_BITS)
        return LZW_WIDTH;
    coder->block_mode = (coder->header[2] & LZW_BLOCK_MODE) != 0;
    coder->table_end = 1U << width;
    coder->group_start = LZW_HEADER_SIZE * 8;
    coder->width = LZW_MIN_BITS;
    coder->next_max = (1U << LZW_MIN_BITS) - 1;
    coder->first_code = true;
    return LZW_OK;
}

/* Read as many whole bytes as fit: afterwards there are at least 56 bits, unless the input ends. */
static inline void refill(uint64_t *bits, unsigned *bit_count, struct source *in) {
    if (in->end - in->at >= 8) {
        uint64_t word;
        memcpy(&word, in->at, sizeof word);
        *bits |= word << *bit_count;
        in->at += (63 - *bit_count) / 8;
        *bit_count |= 56;
    } else {
        for (; *bit_count <= 56 && in->at < in->end; *bit_count += 8)
            *bits |= (uint64_t)*in->at++ << *bit_count;
    }
}

/* Begin the string `next`: the string of `code` and one more byte, which is not yet known. */
static inline void begin_string(struct string *strings, uint32_t next, uint32_t code) {
    struct string *new = &strings[next];
    const struct string *old = &strings[code];
    bool full_block = old->length % BLOCK == 0;
    new->tail[0] = full_block ? 0 : old->tail[0];
    new->tail[1] = full_block ? 0 : old->tail[1];
    new->before = full_block ? (uint16_t)code : old->before;
    new->length = (uint16_t)(old->length + 1);
    new->first = old->first;
}

static inline void complete_string(struct string *string, unsigned char last) {
    unsigned place = (string->length - 1U) % BLOCK;
    string->tail[place / HALF] |= (uint64_t)last << place % HALF * 8;
}

/* Stores whole blocks, so up to 15 bytes past the end of the string. */
static inline unsigned char *put_string(const struct string *strings, uint32_t code, unsigned char *out) {
    const struct string *string = &strings[code];
    unsigned char *end = out + string->length;
    unsigned char *block = out + ((string->length - 1U) & ~(BLOCK - 1U));
    memcpy(block, string->tail, BLOCK);
    while (block > out) {
        string = &strings[string->before];
        block -= BLOCK;
        memcpy(block, string->tail, BLOCK);
    }
    return end;
}

enum event { NO_INPUT, NO_ROOM, CLEAR, GROW, BAD_CODE };

/* Decode codes until an event.  The unfinished string is completed before the code is looked up, because the
 * code may stand for that string. */
static enum event decode_strings(struct lzw_decoder *coder, struct source *source, unsigned char **out_at,
                                 const unsigned char *out_limit) {
    struct string *strings = coder->strings;
    struct source in = *source;
    unsigned char *out = *out_at;
    uint64_t bits = coder->bits;
    unsigned bit_count = coder->bit_count;
    uint32_t next = coder->next;
    const unsigned width = coder->width;
    const uint32_t mask = (1U << width) - 1, clear = coder->block_mode ? LZW_CLEAR : CODES;
    enum event event = NO_ROOM;
    while (out <= out_limit) {
        if (bit_count < width) {
            refill(&bits, &bit_count, &in);
            event = NO_INPUT;
            if (bit_count < width)
                break;
            event = NO_ROOM;
        }
        uint32_t code = (uint32_t)bits & mask;
        bits >>= width;
        bit_count -= width;
        if (code == clear) {
            event = CLEAR;
            break;
        }
        if (code > next || code >= coder->table_end) {
            event = BAD_CODE;
            break;
        }
        if (next >= coder->table_end) {
            out = put_string(strings, code, out);
            continue;
        }
        complete_string(&strings[next], strings[code].first);
        out = put_string(strings, code, out);
        begin_string(strings, ++next, code);
        if (next > coder->next_max) {
            event = GROW;
            break;
        }
    }
    *source = in;
    *out_at = out;
    coder->bits = bits;
    coder->bit_count = bit_count;
    coder->next = next;
    return event;
}

/* Decode the first code of the file.  It completes no string, and must be a character. */
static enum event decode_first(struct lzw_decoder *coder, struct source *in, unsigned char **out) {
    refill(&coder->bits, &coder->bit_count, in);
    if (coder->bit_count < coder->width)
        return NO_INPUT;
    uint32_t code = (uint32_t)coder->bits & ((1U << coder->width) - 1);
    coder->bits >>= coder->width;
    coder->bit_count -= coder->width;
    if (code >= 256)
        return BAD_CODE;
    *out = put_string(coder->strings, code, *out);
    coder->next = coder->block_mode ? LZW_FIRST : LZW_FIRST - 1;
    begin_string(coder->strings, coder->next, code);
    coder->first_code = false;
    return NO_ROOM;
}

/* Change the width.  The unused codes of the group of eight are filler, which must be skipped. */
static void change_width(struct lzw_decoder *coder, const struct source *in, unsigned width) {
    uint64_t bytes = coder->bytes_in + (uint64_t)(in->at - in->start);
    uint64_t position = bytes * 8 - coder->bit_count;
    uint64_t codes = (position - coder->group_start) / coder->width;
    coder->skip = (unsigned)(-codes % 8) * coder->width;
    coder->group_start = position + coder->skip;
    coder->width = width;
}

static void skip_filling(struct lzw_decoder *coder, struct source *in) {
    while (coder->skip > 0) {
        refill(&coder->bits, &coder->bit_count, in);
        unsigned n = coder->skip < coder->bit_count ? coder->skip : coder->bit_count;
        if (n == 0)
            return;
        coder->bits >>= n;
        coder->bit_count -= n;
        coder->skip -= n;
    }
}

/* The code after CLEAR completes no string either: decode_strings changes the table's entry LZW_CLEAR, which
 * no code refers to. */
static void clear_table(struct lzw_decoder *coder, const struct source *in) {
    change_width(coder, in, LZW_MIN_BITS);
    coder->next = LZW_CLEAR;
    coder->next_max = (1U << LZW_MIN_BITS) - 1;
}

static void grow(struct lzw_decoder *coder, const struct source *in) {
    change_width(coder, in, coder->width + 1);
    coder->next_max = (1U << coder->width) - (1U << coder->width < coder->table_end);
}

static enum event decode_piece(struct lzw_decoder *coder, struct source *in, unsigned char **out,
                               const unsigned char *out_limit) {
    skip_filling(coder, in);
    if (coder->skip > 0)
        return NO_INPUT;
    if (*out > out_limit)
        return NO_ROOM;
    if (coder->first_code)
        return decode_first(coder, in, out);
    return decode_strings(coder, in, out, out_limit);
}

static enum lzw_status decode_all(struct lzw_decoder *coder, struct source *in, unsigned char **out,
                                  const unsigned char *out_limit) {
    for (;;) {
        switch (decode_piece(coder, in, out, out_limit)) {
        case CLEAR:
            clear_table(coder, in);
            break;
        case GROW:
            grow(coder, in);
            break;
        case BAD_CODE:
            return LZW_CORRUPT;
        case NO_INPUT:
            return LZW_OK;
        case NO_ROOM:
            if (*out > out_limit)
                return LZW_OK;
        }
    }
}

enum lzw_status lzw_decode(struct lzw_decoder *coder, const unsigned char **in, const unsigned char *in_end,
                           unsigned char **out, unsigned char *out_end) {
    struct source source = {*in, *in, in_end};
    enum lzw_status status = LZW_OK;
    if (coder->header_count < LZW_HEADER_SIZE)
        status = read_header(coder, &source);
    if (status == LZW_OK && coder->header_count == LZW_HEADER_SIZE && out_end - *out >= LZW_DECODE_ROOM)
        status = decode_all(coder, &source, out, out_end - LZW_DECODE_ROOM);
    coder->bytes_in += (uint64_t)(source.at - *in);
    *in = source.at;
    return status;
}

enum lzw_status lzw_decode_end(const struct lzw_decoder *coder) {
    return coder->header_count < LZW_HEADER_SIZE ? LZW_FORMAT : LZW_OK;
}
