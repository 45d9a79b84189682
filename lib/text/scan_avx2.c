/* SPDX-License-Identifier: MIT
 *
 * scan_avx2.c - the scanning functions on vectors of 32 bytes.
 */
#include <immintrin.h>

typedef __m256i vector;
#define KERNEL __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))

#include "lib/text/scan_x86.h"

INLINE vector load_vector(const unsigned char *p) {
    return _mm256_loadu_si256((const vector *)(const void *)p);
}

INLINE vector splat(int c) {
    return _mm256_set1_epi8((char)c);
}

INLINE uint64_t join(vector a, vector b) {
    return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
}

INLINE uint64_t mask_equal(const unsigned char *p, vector v) {
    return join(_mm256_cmpeq_epi8(load_vector(p), v), _mm256_cmpeq_epi8(load_vector(p + 32), v));
}

INLINE uint64_t first_equal(const unsigned char *p, int c, size_t n) {
    return n < BLOCK ? overlapping_equal(p, c, n) : mask_equal(p, splat(c));
}

INLINE uint64_t mask_differ(const unsigned char *p, const unsigned char *q) {
    return ~join(_mm256_cmpeq_epi8(load_vector(p), load_vector(q)),
                 _mm256_cmpeq_epi8(load_vector(p + 32), load_vector(q + 32)));
}

INLINE uint64_t mask_high(const unsigned char *p) {
    return join(load_vector(p), load_vector(p + 32));
}

INLINE vector space(vector x) {
    vector from_tab = _mm256_sub_epi8(x, splat('\t'));
    vector tab_to_return = _mm256_cmpeq_epi8(_mm256_min_epu8(from_tab, splat('\r' - '\t')), from_tab);
    return _mm256_or_si256(_mm256_cmpeq_epi8(x, splat(' ')), tab_to_return);
}

INLINE uint64_t mask_space(const unsigned char *p) {
    vector a = load_vector(p), b = load_vector(p + 32);
    return join(space(a), space(b));
}

const struct asf_scan_table asf__scan_avx2 = SCAN_KERNELS("avx2", places);
