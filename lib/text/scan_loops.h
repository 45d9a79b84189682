/* SPDX-License-Identifier: MIT
 *
 * scan_loops.h - the scanning functions.  They process blocks of 64 bytes, with a bit of a mask for each
 * byte.  A kernel's file defines `vector` and the attribute KERNEL, which names the instruction set, then
 * includes this file, and then defines the functions declared here, which process one block.
 */
#ifndef ASF_LIB_SCAN_LOOPS_H
#define ASF_LIB_SCAN_LOOPS_H

#include <string.h>

#include "lib/text/scan_kernels.h"

#define BLOCK  64
#define INLINE static inline KERNEL __attribute__((always_inline))

/* The kernel's file defines these.  splat: a vector of `c`.  The masks have a bit for each byte that
 * equals v's byte, that differs from it, that is above 0x7f, or that is white space in the C locale. */
INLINE vector splat(int c);
INLINE uint64_t mask_equal(const unsigned char *p, vector v);
INLINE uint64_t first_equal(const unsigned char *p, int c, size_t n); /* in the first BLOCK of n bytes */
INLINE uint64_t mask_differ(const unsigned char *p, const unsigned char *q);
INLINE uint64_t mask_high(const unsigned char *p);
INLINE uint64_t mask_space(const unsigned char *p);

/* Shared by a machine's kernels: a bit for each of 16 or 8 bytes that equals c. */
INLINE uint64_t equal_16(const unsigned char *p, int c);
INLINE uint64_t equal_8(const unsigned char *p, int c);

/* Returns the mask's bit for the end of n bytes, if the end is in this block; else 0.  It has no branch,
 * which the processor would mispredict line after line. */
INLINE uint64_t end_bit(size_t n) {
    return (uint64_t)(n < BLOCK) << n % BLOCK;
}

INLINE size_t popcount(uint64_t mask) {
    return (size_t)__builtin_popcountll(mask);
}

INLINE size_t lowest(uint64_t mask) {
    return (size_t)__builtin_ctzll(mask);
}

INLINE size_t highest(uint64_t mask) {
    return BLOCK - 1 - (size_t)__builtin_clzll(mask);
}

/* Copies a part of a block and appends zeros: the memory after it may not be mapped. */
INLINE const unsigned char *padded(unsigned char *block, const unsigned char *p, size_t n) {
    memset(block, 0, BLOCK);
    memcpy(block, p, n);
    return block;
}

INLINE uint64_t equal_few(const unsigned char *p, int c, size_t n) {
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++)
        at |= (uint64_t)(p[i] == (unsigned char)c) << i;
    return at;
}

/* first_equal for fewer than BLOCK bytes, for kernels that cannot load a part of a vector: the last load
 * overlaps the previous one. */
INLINE uint64_t overlapping_equal(const unsigned char *p, int c, size_t n) {
    if (n < 8)
        return equal_few(p, c, n);
    if (n < 16)
        return equal_8(p, c) | equal_8(p + n - 8, c) << (n - 8);
    uint64_t at = equal_16(p, c) | equal_16(p + n - 16, c) << (n - 16);
    if (n > 32)
        at |= equal_16(p + 16, c) << 16;
    if (n > 48)
        at |= equal_16(p + 32, c) << 32;
    return at;
}

KERNEL static size_t count_byte(const void *s, int c, size_t n) {
    const unsigned char *p = s;
    vector v = splat(c);
    size_t found = 0;
    for (; n >= BLOCK; p += BLOCK, n -= BLOCK)
        found += popcount(mask_equal(p, v));
    return n ? found + popcount(first_equal(p, c, n)) : found;
}

KERNEL static void *find_byte(const void *s, int c, size_t n) {
    const unsigned char *p = s;
    vector v = splat(c);
    uint64_t at = 0;
    for (; n >= BLOCK; p += BLOCK, n -= BLOCK) {
        at = mask_equal(p, v);
        if (at)
            return (void *)(p + lowest(at));
    }
    if (n)
        at = first_equal(p, c, n);
    return at ? (void *)(p + lowest(at)) : NULL;
}

KERNEL static void *rfind_byte(const void *s, int c, size_t n) {
    const unsigned char *p = s;
    vector v = splat(c);
    uint64_t at = 0;
    for (; n >= BLOCK; n -= BLOCK) {
        at = mask_equal(p + n - BLOCK, v);
        if (at)
            return (void *)(p + n - BLOCK + highest(at));
    }
    if (n)
        at = first_equal(p, c, n);
    return at ? (void *)(p + highest(at)) : NULL;
}

KERNEL static size_t differ(const void *a, const void *b, size_t n) {
    const unsigned char *p = a, *q = b;
    unsigned char p_block[BLOCK], q_block[BLOCK];
    uint64_t at;
    size_t i = 0;
    for (; n - i >= BLOCK; i += BLOCK) {
        at = mask_differ(p + i, q + i);
        if (at)
            return i + lowest(at);
    }
    if (i == n)
        return n;
    at = mask_differ(padded(p_block, p + i, n - i), padded(q_block, q + i, n - i));
    return at ? i + lowest(at) : n;
}

KERNEL static size_t ascii(const void *s, size_t n) {
    const unsigned char *p = s;
    unsigned char block[BLOCK];
    uint64_t at;
    size_t i = 0;
    for (; n - i >= BLOCK; i += BLOCK) {
        at = mask_high(p + i);
        if (at)
            return i + lowest(at);
    }
    if (i == n)
        return n;
    at = mask_high(padded(block, p + i, n - i));
    return at ? i + lowest(at) : n;
}

KERNEL static void words(struct asf_scan_counts *counts, const void *s, size_t n) {
    const unsigned char *p = s;
    unsigned char block[BLOCK];
    vector newline = splat('\n');
    uint64_t in_word = counts->in_word != 0; /* the byte before the block was in a word */
    size_t line_count = 0, word_count = 0;
    for (size_t taken; n > 0; p += taken, n -= taken) {
        taken = n < BLOCK ? n : BLOCK;
        const unsigned char *q = taken < BLOCK ? padded(block, p, n) : p;
        uint64_t in = ~mask_space(q) & ~(uint64_t)0 >> (BLOCK - taken);
        line_count += popcount(mask_equal(q, newline));
        word_count += popcount(in & ~(in << 1 | in_word));
        in_word = in >> (taken - 1);
    }
    counts->lines += line_count;
    counts->words += word_count;
    counts->in_word = (int)in_word;
}

KERNEL static void masks(const void *s, size_t n, int a, int b, uint64_t *at_a, uint64_t *at_b) {
    const unsigned char *p = s;
    vector va = splat(a), vb = splat(b);
    for (; n >= BLOCK; p += BLOCK, n -= BLOCK) {
        *at_a++ = mask_equal(p, va);
        *at_b++ = mask_equal(p, vb);
    }
    if (n) {
        *at_a = first_equal(p, a, n);
        *at_b = first_equal(p, b, n);
    }
}

/* block_equal: compare the first BLOCK of n bytes, or all of them; v is a vector of c. */
INLINE uint64_t block_equal(const unsigned char *p, int c, size_t n, vector v) {
    return n < BLOCK ? first_equal(p, c, n) : mask_equal(p, v);
}

KERNEL static uint64_t ends(const void *s, size_t n, int c) {
    return first_equal(s, c, n) | end_bit(n);
}

/* Removes the lowest bit from the mask and returns its offset; any offset if the mask is empty. */
INLINE uint16_t next_place(uint64_t *at, size_t base) {
    uint64_t lowest_bit = (uint64_t)__builtin_ctzll(*at | (uint64_t)1 << 63);
    *at &= *at - 1;
    return (uint16_t)(base + lowest_bit);
}

/* Stores the offsets of a block's bits.  It always stores two, or eight: the processor mispredicts the
 * number of bits more often than whether there are more than two. */
INLINE uint16_t *put_places(uint16_t *to, uint64_t at, size_t base) {
    enum { SOME = 2, MANY = 8 };
    uint16_t *end = to + popcount(at);
    for (int i = 0; i < SOME; i++)
        to[i] = next_place(&at, base);
    if (at == 0)
        return end;
    for (int i = SOME; i < MANY; i++)
        to[i] = next_place(&at, base);
    for (to += MANY; at; to++)
        *to = next_place(&at, base);
    return end;
}

KERNEL static size_t places(const void *s, size_t *n, int c, uint16_t *at) {
    const unsigned char *p = s;
    const uint16_t *last = at + ASF_SCAN_PLACES - BLOCK;
    uint16_t *to = at;
    vector v = splat(c);
    size_t i = 0;
    for (; i < *n && to <= last; i += BLOCK)
        to = put_places(to, block_equal(p + i, c, *n - i, v), i);
    if (i < *n)
        *n = i;
    return (size_t)(to - at);
}

#define SCAN_KERNELS(name, places)                                                                           \
    { name, count_byte, find_byte, rfind_byte, differ, ascii, words, masks, ends, places }

#endif
