/* SPDX-License-Identifier: MIT
 *
 * scan_digits.h - decimal numbers of the usual form: digits with a sign or a point.  Lengths differ from
 * number to number, and the processor would mispredict the end of a loop over the digits.  So the end is
 * found in 32 bytes at once, and sixteen digits are converted at once.  The digits before the point are
 * loaded from one byte earlier, which moves them next to the digits after it.
 */
#ifndef ASF_LIB_SCAN_DIGITS_H
#define ASF_LIB_SCAN_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/text/scan_number.h"

enum { MOST_DIGITS = 19 }; /* every number of 19 digits fits into 64 bits */

#ifdef __SSE2__
#include <emmintrin.h>

/* The loads read up to BEFORE bytes before the end of a number, and up to AHEAD bytes from its beginning. */
enum { BEFORE = 33, AHEAD = 34 };

/* Returns a bit for each of the 32 bytes: its highest bit. */
static inline uint64_t marks(__m128i first, __m128i second) {
    return (uint64_t)_mm_movemask_epi8(second) << 16 | (uint64_t)_mm_movemask_epi8(first);
}

static inline __m128i load_sixteen(const unsigned char *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline __m128i up_to(__m128i bytes, char most) {
    return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(most)), bytes);
}

static inline __m128i values(__m128i text) {
    return _mm_sub_epi8(text, _mm_set1_epi8('0'));
}

static inline uint64_t blanks(const unsigned char *p) {
    return marks(up_to(load_sixteen(p), ' '), up_to(load_sixteen(p + 16), ' '));
}

static inline uint64_t digits_of(const unsigned char *p) {
    return marks(up_to(values(load_sixteen(p)), 9), up_to(values(load_sixteen(p + 16)), 9));
}

/* Returns 16 bytes, of which the last n are 0xff; n is from -16 to 32. */
static inline __m128i last_bytes(int n) {
    static const unsigned char steps[] = {
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    return load_sixteen(steps + 16 + n);
}

/* Returns the value of the last `digits` digits before `end`, at most sixteen.
 *   fraction  the digits after the point, or all digits if there is no point.  The other digits are loaded
 *             from one byte earlier, because of the point between. */
static inline uint64_t sixteen(const unsigned char *end, int fraction, int digits) {
    __m128i behind = last_bytes(fraction), here = load_sixteen(end - 16);
    __m128i earlier = load_sixteen(end - 17);
    __m128i text = _mm_or_si128(_mm_and_si128(behind, here), _mm_andnot_si128(behind, earlier));
    __m128i ones = _mm_and_si128(values(text), last_bytes(digits));
    __m128i tens =
        _mm_add_epi16(_mm_mullo_epi16(_mm_and_si128(ones, _mm_set1_epi16(0xff)), _mm_set1_epi16(10)),
                      _mm_srli_epi16(ones, 8));
    __m128i hundreds = _mm_madd_epi16(tens, _mm_set1_epi32(1 << 16 | 100));
    __m128i eights = _mm_madd_epi16(_mm_packs_epi32(hundreds, hundreds), _mm_set1_epi32(1 << 16 | 10000));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    return (both & 0xffffffff) * 100000000 + (both >> 32);
}

/* Returns 1 if c is 0.  Compilers implement == by writing a part of a register, which waits for the
 * register's previous value: the one from the previous number. */
static inline uint64_t is_zero(int c) {
    return ((uint64_t)c - 1) >> 63;
}

/* Whether the `length` <= 32 bytes at p are a number of at most 19 digits.  has_margins must be true.
 *   any_length  the caller expects short and long numbers in any order: the code does not branch on whether
 *               there are more than 16 digits */
static inline __attribute__((always_inline)) bool is_usual(const unsigned char *p, int length,
                                                           bool any_length, struct asf_decimal *number) {
    uint64_t negative = is_zero(*p ^ '-');
    uint64_t others = ~(digits_of(p) | negative) & (((uint64_t)1 << length) - 1);
    int whole = __builtin_ctzll(others | (uint64_t)1 << length);
    uint64_t point = is_zero(p[whole] ^ '.');
    int fraction = length - whole - (int)point, digits = length - (int)(point + negative);
    if (digits < 1 || digits > MOST_DIGITS || others != point << whole)
        return false;
    number->negative = negative;
    const unsigned char *last = p + length;
    int moved = point ? fraction : digits;
    number->digits = sixteen(last, moved, digits);
    if (any_length || digits > 16)
        number->digits += sixteen(last - 16, moved - 16, digits - 16) * UINT64_C(10000000000000000);
    number->exponent = -fraction;
    number->more = false;
    return true;
}

/* Whether there is enough room between `begin` and `end` for the loads. */
static inline bool has_margins(const unsigned char *p, const unsigned char *begin, const unsigned char *end) {
    return p - begin >= BEFORE && end - p >= AHEAD;
}

/* Scans a number of at most 19 digits, followed by a blank.  Returns its end; NULL: it has another form,
 * or there is no room for the loads. */
static inline const unsigned char *scan_usual(const unsigned char *p, const unsigned char *begin,
                                              const unsigned char *end, struct asf_decimal *number) {
    if (!has_margins(p, begin, end))
        return NULL;
    int length = __builtin_ctzll(blanks(p) | (uint64_t)1 << 32);
    return asf__is_blank(p[length]) && is_usual(p, length, true, number) ? p + length : NULL;
}
#else
static inline const unsigned char *scan_usual(const unsigned char *p, const unsigned char *begin,
                                              const unsigned char *end, struct asf_decimal *number) {
    (void)p, (void)begin, (void)end, (void)number;
    return NULL;
}

static inline bool is_usual(const unsigned char *p, int length, bool any_length, struct asf_decimal *number) {
    (void)p, (void)length, (void)any_length, (void)number;
    return false;
}

static inline bool has_margins(const unsigned char *p, const unsigned char *begin, const unsigned char *end) {
    (void)p, (void)begin, (void)end;
    return false;
}
#endif

#endif
