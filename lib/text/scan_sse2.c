/* SPDX-License-Identifier: MIT
 *
 * scan_sse2.c - the scanning functions on vectors of 16 bytes, which every
 * x86-64 has.
 */
#include <immintrin.h>

typedef __m128i vector;
#define KERNEL __attribute__((target("sse2")))

#include "lib/text/scan_x86.h"

INLINE vector load_vector(const unsigned char *p) {
    return _mm_loadu_si128((const vector *)(const void *)p);
}

INLINE vector splat(int c) {
    return _mm_set1_epi8((char)c);
}

INLINE uint64_t join(vector a, vector b, vector c, vector d) {
    uint64_t low = (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
    uint64_t high = (uint32_t)_mm_movemask_epi8(c) | (uint32_t)_mm_movemask_epi8(d) << 16;
    return low | high << 32;
}

INLINE uint64_t mask_equal(const unsigned char *p, vector v) {
    return join(_mm_cmpeq_epi8(load_vector(p), v), _mm_cmpeq_epi8(load_vector(p + 16), v),
                _mm_cmpeq_epi8(load_vector(p + 32), v), _mm_cmpeq_epi8(load_vector(p + 48), v));
}

INLINE uint64_t first_equal(const unsigned char *p, int c, size_t n) {
    return n < BLOCK ? overlapping_equal(p, c, n) : mask_equal(p, splat(c));
}

INLINE uint64_t mask_differ(const unsigned char *p, const unsigned char *q) {
    return ~join(_mm_cmpeq_epi8(load_vector(p), load_vector(q)),
                 _mm_cmpeq_epi8(load_vector(p + 16), load_vector(q + 16)),
                 _mm_cmpeq_epi8(load_vector(p + 32), load_vector(q + 32)),
                 _mm_cmpeq_epi8(load_vector(p + 48), load_vector(q + 48)));
}

INLINE uint64_t mask_high(const unsigned char *p) {
    return join(load_vector(p), load_vector(p + 16), load_vector(p + 32), load_vector(p + 48));
}

INLINE vector space(vector x) {
    vector from_tab = _mm_sub_epi8(x, splat('\t'));
    vector tab_to_return = _mm_cmpeq_epi8(_mm_min_epu8(from_tab, splat('\r' - '\t')), from_tab);
    return _mm_or_si128(_mm_cmpeq_epi8(x, splat(' ')), tab_to_return);
}

INLINE uint64_t mask_space(const unsigned char *p) {
    vector a = load_vector(p), b = load_vector(p + 16), c = load_vector(p + 32), d = load_vector(p + 48);
    return join(space(a), space(b), space(c), space(d));
}

const struct asf_scan_table asf__scan_sse2 = SCAN_KERNELS("sse2", places);
