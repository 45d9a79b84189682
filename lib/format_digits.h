/* SPDX-License-Identifier: MIT
 *
 * format_digits.h - integers as decimal digits.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_FORMAT_DIGITS_H
#define ASF_LIB_FORMAT_DIGITS_H

#include <stdint.h>

#include "lib/copy.h"

#pragma GCC visibility push(hidden)

/* "00" to "99". */
extern const char asf__digit_pairs[200];
/* 10^0 to 10^19. */
extern const uint64_t asf__tens[20];

/* The number of digits; log2(10) is nearly 4096 / 1233. */
static inline unsigned asf__count_digits(uint64_t n) {
    unsigned bits = 64 - (unsigned)__builtin_clzll(n | 1), most = bits * 1233 >> 12;
    return most + ((n | 1) >= asf__tens[most]);
}

static inline void asf__write_pair(char *p, unsigned n) {
    memcpy(p, asf__digit_pairs + 2 * (size_t)n, 2);
}

/* Exactly eight digits; in halves, so that they do not wait for each other. */
static inline void asf__write_eight(char *p, uint32_t n) {
    uint32_t high = n / 10000, low = n % 10000;
    asf__write_pair(p, high / 100);
    asf__write_pair(p + 2, high % 100);
    asf__write_pair(p + 4, low / 100);
    asf__write_pair(p + 6, low % 100);
}

/* asf__write_digits: backwards from `end`; returns where they start. */
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

/* asf__write_places: exactly `count` digits, zeros leading; at p. */
static inline void asf__write_places(char *p, uint64_t n, int count) {
    while (count > 8) {
        asf__write_eight(p + (count -= 8), (uint32_t)(n % 100000000));
        n /= 100000000;
    }
    uint32_t rest = (uint32_t)n;
    while (count >= 2) {
        asf__write_pair(p + (count -= 2), rest % 100);
        rest /= 100;
    }
    if (count)
        *p = (char)('0' + rest);
}

#pragma GCC visibility pop

#endif
