/* SPDX-License-Identifier: MIT
 *
 * record_avx2.c - shuffles of 32 bytes: two windows of 16.
 * Layer: interfaces/record.  May include: lib, include/asf.
 */
#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/platform/x86.h>

#define RUN __attribute__((target("avx2")))
#include "interfaces/record/record_shuffle.h"

INLINE __m128i load(const unsigned char *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE __m256i load_two(const unsigned char *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE void store_two(unsigned char *p, __m256i v) {
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

INLINE void lanes(__m256i mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    (void)second;
    store_two(dst, _mm256_shuffle_epi8(load_two(src), mask));
}

INLINE void windows(__m256i mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(load(src)), load(second), 1);
    store_two(dst, _mm256_shuffle_epi8(both, mask));
}

SHUFFLE_FEW(few_lanes, __m256i, load_two, lanes)
SHUFFLE_FEW(few_windows, __m256i, load_two, windows)

INLINE void any(const struct asf__item *item, const unsigned char *src, unsigned char *dst) {
    dst += item->dst;
    if (item->width == TWO_LANES)
        lanes(load_two(item->mask), src + item->src, src, dst);
    else if (item->width == TWO_WINDOWS)
        windows(load_two(item->mask), src + item->src, src + item->second, dst);
    else
        _mm_storeu_si128((__m128i *)(void *)dst, _mm_shuffle_epi8(load(src + item->src), load(item->mask)));
}

RUN static void run(const struct asf__run *r, const unsigned char *src, unsigned char *dst, size_t n) {
    if (r->items_count <= 4 && n >= FEW_ITERATIONS && r->uniform == TWO_LANES)
        SHUFFLE_UP_TO_FOUR(few_lanes, r, src, dst, n)
    if (r->items_count <= 4 && n >= FEW_ITERATIONS && r->uniform == TWO_WINDOWS)
        SHUFFLE_UP_TO_FOUR(few_windows, r, src, dst, n)
    const struct asf__item *end = r->items + r->items_count;
    for (; n > 0; n--, src += r->src_step, dst += r->dst_step)
        for (const struct asf__item *item = r->items; item < end; item++)
            any(item, src, dst);
}

static bool available(void) {
    return CPU_FEATURE_ACTIVE(AVX2);
}

const struct asf__engine asf__engine_avx2 = {.name = "avx2",
                                             .available = available,
                                             .prepare = asf__vector_prepare,
                                             .convert = asf__vector_convert,
                                             .discard = asf__vector_discard,
                                             .width = 32,
                                             .run = run};
#endif
