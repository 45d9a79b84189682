/* SPDX-License-Identifier: MIT
 *
 * lzw_encode.c - the compressing half of the LZW coder.
 *
 * Example programs, shared part; uses lzw.h and libc only.  The output is the same as that of ncompress's
 * compress(1), byte for byte.  The width grows when the number of strings exceeds a power of two.  When the
 * table is full, the compression ratio is checked every 10,000 bytes.  If it has fallen, the table is
 * cleared.
 *
 * One exception is -b 9: ncompress then writes codes that no decoder can read, not even its own.  Here codes
 * of 10 bits follow a full table of 9 bits, as all decoders expect.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lzw.h"

enum { CHECK_GAP = 10000, CODE_BITS = 16 };

/* Probes are numbered from 1, so that no entry is 0, the empty slot. */
#define FIRST_PROBE (1U << 24)
#define LAST_PROBE  (255U << 24)

/* The coder with its table of strings.  An entry has a code in its low 16 bits, then the string's last
 * character, then the number of the probe that found the slot.  Slot, character and probe number determine
 * the code of the string's prefix, so an entry needs only four bytes.  At most a quarter of the slots is
 * used. */
struct lzw_encoder {
    unsigned max_bits;
    unsigned width;    /* of the codes, at present */
    uint32_t prefix;   /* code of the string that has been read but not written */
    uint32_t next;     /* code of the next string to enter the table */
    uint32_t next_max; /* the value of `next` at which the width grows, or the table is full */
    bool started, growing;
    uint64_t bytes_in, bytes_out;
    uint64_t checkpoint, ratio;
    uint64_t group_start; /* the output bit where the width last changed */
    uint64_t bits;        /* not yet written, fewer than 8 between calls */
    unsigned bit_count;
    unsigned char *out;
    uint32_t mask;
    uint32_t start[256], step[256]; /* of each character's probes */
    uint32_t slots[];
};

static void start_table(struct lzw_encoder *coder) {
    memset(coder->slots, 0, ((size_t)coder->mask + 1) * sizeof coder->slots[0]);
    coder->width = LZW_MIN_BITS;
    coder->next = LZW_FIRST;
    coder->next_max = (1U << LZW_MIN_BITS) + 1;
    coder->growing = true;
}

/* Choose random start and step values for each character, by xorshift. */
static void choose_probes(struct lzw_encoder *coder) {
    uint64_t random = 88172645463325252U;
    for (int c = 0; c < 256; c++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        coder->start[c] = (uint32_t)(random >> 20) & coder->mask;
        coder->step[c] = ((uint32_t)(random >> 40) & coder->mask) | 1;
    }
}

struct lzw_encoder *lzw_encoder_new(unsigned max_bits) {
    size_t slots = (size_t)4 << max_bits;
    struct lzw_encoder *coder = calloc(1, sizeof *coder + slots * sizeof coder->slots[0]);
    if (!coder)
        return NULL;
    coder->max_bits = max_bits;
    coder->mask = (uint32_t)slots - 1;
    coder->checkpoint = CHECK_GAP;
    choose_probes(coder);
    start_table(coder);
    return coder;
}

/* Store eight bytes; the next call overwrites those after the last complete byte. */
static inline void put_bits(uint64_t *bits, unsigned *bit_count, unsigned char **out, uint32_t code,
                            unsigned width) {
    *bits |= (uint64_t)code << *bit_count;
    *bit_count += width;
    memcpy(*out, bits, sizeof *bits);
    *out += *bit_count / 8;
    *bits >>= *bit_count & ~7U;
    *bit_count &= 7;
}

static void put_code(struct lzw_encoder *coder, uint32_t code) {
    put_bits(&coder->bits, &coder->bit_count, &coder->out, code, coder->width);
}

static uint64_t bits_written(const struct lzw_encoder *coder, const unsigned char *out_start) {
    return (coder->bytes_out + (uint64_t)(coder->out - out_start)) * 8 + coder->bit_count;
}

/* Change the width, after zero bits up to the end of the group of eight codes. */
static void change_width(struct lzw_encoder *coder, const unsigned char *out_start, unsigned width) {
    uint64_t codes = (bits_written(coder, out_start) - coder->group_start) / coder->width;
    for (; codes % 8 != 0; codes++)
        put_code(coder, 0);
    coder->group_start = bits_written(coder, out_start);
    coder->width = width;
}

static void grow_or_stop(struct lzw_encoder *coder, const unsigned char *out_start) {
    coder->growing = coder->width < coder->max_bits;
    if (coder->growing || coder->max_bits == LZW_MIN_BITS)
        change_width(coder, out_start, coder->width + 1);
    /* The decoder adds each string one code later than the encoder, so the width grows one string later.  At
     * the greatest width the table is full when all codes are used. */
    coder->next_max = (1U << coder->width) + (coder->width < coder->max_bits);
}

static uint64_t ratio_now(const struct lzw_encoder *coder, const unsigned char *out_start) {
    uint64_t out = bits_written(coder, out_start) / 8;
    if (coder->bytes_in <= 0x7fffff)
        return (coder->bytes_in << 8) / out;
    return out >> 8 ? coder->bytes_in / (out >> 8) : 0x7fffffff;
}

static void check_ratio(struct lzw_encoder *coder, const unsigned char *out_start) {
    coder->checkpoint = coder->bytes_in + CHECK_GAP;
    uint64_t ratio = ratio_now(coder, out_start);
    if (ratio >= coder->ratio) {
        coder->ratio = ratio;
        return;
    }
    coder->ratio = 0;
    put_code(coder, LZW_CLEAR);
    change_width(coder, out_start, LZW_MIN_BITS);
    start_table(coder);
}

/* Read input up to `end`, or up to the next event.  If the table is growing, the event is that it reaches
 * next_max.  If it is full, the event is a string that ends at or after `stop`.  The two cases are compiled
 * separately, so that the loop's variables fit in registers. */
static inline __attribute__((always_inline)) const unsigned char *
read_strings(struct lzw_encoder *coder, const unsigned char *in, const unsigned char *end,
             const unsigned char *stop, bool growing) {
    uint32_t prefix = coder->prefix, next = coder->next, table_end = 1U << coder->max_bits;
    uint64_t bits = coder->bits;
    unsigned bit_count = coder->bit_count;
    unsigned char *out = coder->out;
    while (in < end) {
        unsigned c = *in++;
        uint32_t slot = prefix ^ coder->start[c];
        uint32_t want = FIRST_PROBE | c << CODE_BITS;
        uint32_t found = coder->slots[slot];
        while ((found ^ want) >> CODE_BITS && found && want < LAST_PROBE) {
            slot = (slot + coder->step[c]) & coder->mask;
            want += FIRST_PROBE;
            found = coder->slots[slot];
        }
        if (!((found ^ want) >> CODE_BITS)) {
            prefix = found & 0xffff;
            continue;
        }
        put_bits(&bits, &bit_count, &out, prefix, coder->width);
        prefix = c;
        if (growing) {
            /* If the last probe found no slot, the string is not stored, and its code is never used. */
            if (!found && next < table_end)
                coder->slots[slot] = want | next;
            if (++next >= coder->next_max)
                break;
        } else if (in >= stop) {
            break;
        }
    }
    coder->prefix = prefix;
    coder->next = next;
    coder->bits = bits;
    coder->bit_count = bit_count;
    coder->out = out;
    return in;
}

static const unsigned char *read_growing(struct lzw_encoder *coder, const unsigned char *in,
                                         const unsigned char *end) {
    return read_strings(coder, in, end, end, true);
}

static const unsigned char *read_full(struct lzw_encoder *coder, const unsigned char *in,
                                      const unsigned char *end) {
    uint64_t to_checkpoint = coder->checkpoint > coder->bytes_in ? coder->checkpoint - coder->bytes_in : 0;
    const unsigned char *stop = to_checkpoint < (uint64_t)(end - in) ? in + to_checkpoint : end;
    return read_strings(coder, in, end, stop, false);
}

static void start_output(struct lzw_encoder *coder) {
    *coder->out++ = LZW_MAGIC_1;
    *coder->out++ = LZW_MAGIC_2;
    *coder->out++ = (unsigned char)(coder->max_bits | LZW_BLOCK_MODE);
    coder->group_start = LZW_HEADER_SIZE * 8;
    coder->started = true;
}

static size_t end_call(struct lzw_encoder *coder, const unsigned char *out_start) {
    size_t written = (size_t)(coder->out - out_start);
    coder->bytes_out += written;
    return written;
}

size_t lzw_encode(struct lzw_encoder *coder, const unsigned char *in, size_t n, unsigned char *out) {
    const unsigned char *end = in + n;
    coder->out = out;
    if (!coder->started)
        start_output(coder);
    if (coder->bytes_in == 0 && n > 0) {
        coder->prefix = *in++;
        coder->bytes_in = 1;
    }
    while (in < end) {
        if (coder->growing && coder->next >= coder->next_max)
            grow_or_stop(coder, out);
        if (!coder->growing && coder->bytes_in >= coder->checkpoint && coder->prefix < LZW_FIRST)
            check_ratio(coder, out);
        const unsigned char *from = in;
        in = coder->growing ? read_growing(coder, in, end) : read_full(coder, in, end);
        coder->bytes_in += (uint64_t)(in - from);
    }
    return end_call(coder, out);
}

size_t lzw_encode_end(struct lzw_encoder *coder, unsigned char *out) {
    coder->out = out;
    if (!coder->started)
        start_output(coder);
    if (coder->bytes_in > 0)
        put_code(coder, coder->prefix);
    if (coder->bit_count > 0)
        *coder->out++ = (unsigned char)coder->bits;
    return end_call(coder, out);
}
