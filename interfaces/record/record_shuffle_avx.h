/* SPDX-License-Identifier: MIT
 *
 * record_shuffle_avx.h - items of 16 and 32 bytes, for AVX2 and AVX-512.
 */
#ifndef ASF_RECORD_SHUFFLE_AVX_H
#define ASF_RECORD_SHUFFLE_AVX_H

#include <immintrin.h>

#include "interfaces/record/record_shuffle.h"

INLINE __m128i load(const unsigned char *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE __m256i load_two(const unsigned char *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE void two(__m256i mask, __m256i bytes, unsigned char *dst) {
    _mm256_storeu_si256((__m256i *)(void *)dst, _mm256_shuffle_epi8(bytes, mask));
}

INLINE void lanes(__m256i mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    (void)second;
    two(mask, load_two(src), dst);
}

INLINE void windows(__m256i mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    two(mask, _mm256_inserti128_si256(_mm256_castsi128_si256(load(src)), load(second), 1), dst);
}

SHUFFLE_FEW(few_lanes, __m256i, load_two, lanes)
SHUFFLE_FEW(few_windows, __m256i, load_two, windows)

INLINE void up_to_two(const struct asf__item *item, const unsigned char *src, unsigned char *dst) {
    const unsigned char *from = src + item->src;
    dst += item->dst;
    if (item->width == TWO_LANES)
        lanes(load_two(item->mask), from, src, dst);
    else if (item->width == TWO_WINDOWS)
        windows(load_two(item->mask), from, src + item->second, dst);
    else
        _mm_storeu_si128((__m128i *)(void *)dst, _mm_shuffle_epi8(load(from), load(item->mask)));
}

#endif
