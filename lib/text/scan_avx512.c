/* SPDX-License-Identifier: MIT
 *
 * scan_avx512.c - the scanning functions on vectors of 64 bytes, whose
 * comparisons give masks.
 */
#include <immintrin.h>
#include <sys/platform/x86.h>

typedef __m512i vector;
#define KERNEL __attribute__((target("avx512f,avx512bw,bmi,bmi2,popcnt,lzcnt")))

#include "lib/text/scan_x86.h"

INLINE vector load_vector(const unsigned char *p) {
    return _mm512_loadu_si512(p);
}

INLINE vector splat(int c) {
    return _mm512_set1_epi8((char)c);
}

INLINE uint64_t mask_equal(const unsigned char *p, vector v) {
    return _mm512_cmpeq_epi8_mask(load_vector(p), v);
}

INLINE uint64_t first_equal(const unsigned char *p, int c, size_t n) {
    uint64_t part = end_bit(n) - 1;
    return _mm512_mask_cmpeq_epi8_mask(part, _mm512_maskz_loadu_epi8(part, p), splat(c));
}

INLINE uint64_t mask_differ(const unsigned char *p, const unsigned char *q) {
    return _mm512_cmpneq_epi8_mask(load_vector(p), load_vector(q));
}

INLINE uint64_t mask_high(const unsigned char *p) {
    return _mm512_movepi8_mask(load_vector(p));
}

/* Tests low <= x <= high by one unsigned comparison: x - low <= high - low. */
INLINE uint64_t between(vector x, int low, int high) {
    return _mm512_cmple_epu8_mask(_mm512_sub_epi8(x, splat(low)), splat(high - low));
}

INLINE uint64_t mask_space(const unsigned char *p) {
    vector x = load_vector(p);
    return between(x, '\t', '\r') | _mm512_cmpeq_epi8_mask(x, splat(' '));
}

#define COMPRESSING __attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi,bmi2,popcnt,lzcnt")))

/* Stores the offsets of a block's bits, at most 64. */
COMPRESSING static inline uint16_t *compress_places(uint16_t *to, uint64_t at, __m512i numbers, size_t base) {
    vector x = _mm512_maskz_compress_epi8(at, numbers), from = _mm512_set1_epi16((short)base);
    vector low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(x));
    _mm512_storeu_si512(to, _mm512_add_epi16(low, from));
    if (__builtin_expect(popcount(at) > 32, 0)) {
        vector high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(x, 1));
        _mm512_storeu_si512(to + 32, _mm512_add_epi16(high, from));
    }
    return to + popcount(at);
}

COMPRESSING static size_t compressed_places(const void *s, size_t *n, int c, uint16_t *at) {
    static const uint8_t count_up[BLOCK] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                            16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                            32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                            48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const unsigned char *p = s;
    const uint16_t *last = at + ASF_SCAN_PLACES - BLOCK;
    uint16_t *to = at;
    vector v = splat(c), numbers = load_vector(count_up);
    size_t i = 0;
    for (; i < *n && to <= last; i += BLOCK)
        to = compress_places(to, block_equal(p + i, c, *n - i, v), numbers, i);
    if (i < *n)
        *n = i;
    return (size_t)(to - at);
}

/* Selects the method: the first CPUs with AVX-512 cannot compress bytes. */
static size_t best_places(const void *s, size_t *n, int c, uint16_t *at) {
    return CPU_FEATURE_ACTIVE(AVX512_VBMI2) ? compressed_places(s, n, c, at) : places(s, n, c, at);
}

const struct asf_scan_table asf__scan_avx512 = SCAN_KERNELS("avx512", best_places);
