/* SPDX-License-Identifier: MIT
 *
 * scan_avx512.c - the scanning functions on vectors of 64 bytes, whose
 * comparisons give masks.
 * Layer: lib.  May include: lib, include/asf.
 */
#include <immintrin.h>

typedef __m512i vector;
#define KERNEL __attribute__((target("avx512f,avx512bw,bmi,bmi2,popcnt,lzcnt")))

#include "lib/text/scan_loops.h"

INLINE vector load(const unsigned char *p) {
    return _mm512_loadu_si512(p);
}

INLINE vector splat(int c) {
    return _mm512_set1_epi8((char)c);
}

INLINE uint64_t mask_equal(const unsigned char *p, vector v) {
    return _mm512_cmpeq_epi8_mask(load(p), v);
}

INLINE uint64_t mask_differ(const unsigned char *p, const unsigned char *q) {
    return _mm512_cmpneq_epi8_mask(load(p), load(q));
}

INLINE uint64_t mask_high(const unsigned char *p) {
    return _mm512_movepi8_mask(load(p));
}

/* x - low <= high - low, unsigned: x lies from low to high. */
INLINE uint64_t between(vector x, int low, int high) {
    return _mm512_cmple_epu8_mask(_mm512_sub_epi8(x, splat(low)), splat(high - low));
}

INLINE struct classes classes(const unsigned char *p) {
    vector x = load(p);
    uint64_t graphics = between(x, 0x21, 0x7e);
    uint64_t spaces = between(x, '\t', '\r') | _mm512_cmpeq_epi8_mask(x, splat(' '));
    return (struct classes){_mm512_cmpeq_epi8_mask(x, splat('\n')), graphics, ~(graphics | spaces)};
}

const struct asf_scan_table asf__scan_avx512 = SCAN_KERNELS("avx512");
