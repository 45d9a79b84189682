/* SPDX-License-Identifier: MIT
 *
 * format_digits.h - integers as digits.
 */
#ifndef ASF_LIB_FORMAT_DIGITS_H
#define ASF_LIB_FORMAT_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

#include <asf/numbers.h>

#include "lib/sys/copy.h"

#pragma GCC visibility push(hidden)

/* "00" to "99". */
extern const char asf__digit_pairs[201];
/* 10^0 to 10^19. */
extern const uint64_t asf__tens[20];

/* Returns the number of decimal digits.  log2(10) is nearly 4096 / 1233. */
static inline unsigned asf__count_digits(uint64_t n) {
    unsigned bits = 64 - (unsigned)__builtin_clzll(n | 1), most = bits * 1233 >> 12;
    return most + ((n | 1) >= asf__tens[most]);
}

static inline void asf__write_pair(char *p, unsigned n) {
    memcpy(p, asf__digit_pairs + 2 * (size_t)n, 2);
}

/* Returns the sixteen digits of two numbers below 10^8, the first digit in the lowest byte. */
static inline unsigned __int128 asf__sixteen_digits(uint32_t high, uint32_t low) {
#ifdef __SSE2__
    __m128i v = _mm_unpacklo_epi64(_mm_cvtsi32_si128((int)high), _mm_cvtsi32_si128((int)low));
    __m128i quotient = _mm_srli_epi64(_mm_mul_epu32(v, _mm_set1_epi64x(3518437209)), 45);
    v = _mm_sub_epi64(v, _mm_mul_epu32(quotient, _mm_set1_epi64x(10000)));
    v = _mm_or_si128(quotient, _mm_slli_epi64(v, 32)); /* four numbers below 10^4 */
    quotient = _mm_srli_epi32(_mm_mulhi_epu16(v, _mm_set1_epi32(5243)), 3);
    v = _mm_sub_epi32(v, _mm_mullo_epi16(quotient, _mm_set1_epi32(100)));
    v = _mm_or_si128(quotient, _mm_slli_epi32(v, 16)); /* eight numbers below 100 */
    quotient = _mm_mulhi_epu16(v, _mm_set1_epi16(6554));
    v = _mm_sub_epi16(v, _mm_mullo_epi16(quotient, _mm_set1_epi16(10)));
    v = _mm_or_si128(quotient, _mm_slli_epi16(v, 8));
    uint64_t first = (uint64_t)_mm_cvtsi128_si64(v);
    return (unsigned __int128)(uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(v, v)) << 64 | first;
#else
    return (unsigned __int128)asf_eight_digits(low) << 64 | asf_eight_digits(high);
#endif
}

/* Returns eight hexadecimal digits as characters. */
static inline uint64_t asf__eight_nibbles(uint32_t n) {
    uint64_t v = n;
    v = (v | v << 16) & 0x0000ffff0000ffff;
    v = (v | v << 8) & 0x00ff00ff00ff00ff;
    return __builtin_bswap64((v | v << 4) & 0x0f0f0f0f0f0f0f0f);
}

/* Up to eight characters, the first in the lowest byte. */
struct asf__short_text {
    uint64_t text;
    unsigned length;
};

/* Returns the number of leading zeros of eight digits, in bits; at least `least` >= 1 digits remain. */
static inline unsigned asf__skip_zeros(uint64_t digits, unsigned least) {
    unsigned skip = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) & ~7u;
    unsigned most = 64 - 8 * (least < 8 ? least : 8);
    return skip < most ? skip : most;
}

static inline struct asf__short_text asf__short_decimal(uint32_t n, unsigned least) {
    uint64_t v = asf_eight_digits(n);
    unsigned skip = asf__skip_zeros(v, least);
    return (struct asf__short_text){(v | 0x3030303030303030) >> skip, 8 - skip / 8};
}

static inline struct asf__short_text asf__short_hexadecimal(uint32_t n, bool upper, unsigned least) {
    uint64_t v = asf__eight_nibbles(n), letters = ((v + 0x0606060606060606) >> 4) & 0x0101010101010101;
    unsigned skip = asf__skip_zeros(v, least);
    return (struct asf__short_text){(v + 0x3030303030303030 + letters * (upper ? 7 : 39)) >> skip,
                                    8 - skip / 8};
}

/* Stores exactly t.length characters, by two stores that may overlap. */
static inline void asf__store(char *p, struct asf__short_text t) {
    if (t.length >= 4) {
        *(asf__word4 *)p = (uint32_t)t.text;
        *(asf__word4 *)(p + t.length - 4) = (uint32_t)(t.text >> 8 * (t.length - 4));
    } else {
        *p = (char)t.text;
        if (t.length >= 2)
            *(asf__word2 *)(p + t.length - 2) = (uint16_t)(t.text >> 8 * (t.length - 2));
    }
}

static inline void asf__write_eight(char *p, uint32_t n) {
    *(asf__word8 *)p = asf_eight_digits(n) | 0x3030303030303030;
}

/* asf__write_digits: write backwards from `end`; returns the first digit's address. */
static inline char *asf__write_digits(char *end, uint64_t n) {
    while (n >= 100000000) {
        asf__write_eight(end -= 8, (uint32_t)(n % 100000000));
        n /= 100000000;
    }
    uint32_t rest = (uint32_t)n;
    while (rest >= 100) {
        asf__write_pair(end -= 2, rest % 100);
        rest /= 100;
    }
    if (rest >= 10)
        asf__write_pair(end -= 2, rest);
    else
        *--end = (char)('0' + rest);
    return end;
}

/* asf__write_places: write exactly `count` digits at p, with leading zeros. */
static inline void asf__write_places(char *p, uint64_t n, int count) {
    while (count > 8) {
        asf__write_eight(p + (count -= 8), (uint32_t)(n % 100000000));
        n /= 100000000;
    }
    if (count > 0) {
        unsigned length = (unsigned)count;
        uint64_t text = asf_eight_digits((uint32_t)n) | 0x3030303030303030;
        asf__store(p, (struct asf__short_text){text >> 8 * (8 - length), length});
    }
}

#pragma GCC visibility pop

#endif
