/* SPDX-License-Identifier: MIT
 *
 * record_avx512.c - shuffles of 64 bytes: four windows of 16.
 * Layer: interfaces/record.  May include: lib, include/asf.
 */
#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/platform/x86.h>

#define RUN __attribute__((target("avx512f,avx512bw,avx2")))
#include "interfaces/record/record_shuffle.h"

INLINE __m128i load(const unsigned char *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE __m256i load_two(const unsigned char *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE __m512i load_four(const unsigned char *p) {
    return _mm512_loadu_si512(p);
}

INLINE void four(__m512i mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    (void)second;
    _mm512_storeu_si512(dst, _mm512_shuffle_epi8(load_four(src), mask));
}

INLINE void two(__m256i mask, __m256i bytes, unsigned char *dst) {
    _mm256_storeu_si256((__m256i *)(void *)dst, _mm256_shuffle_epi8(bytes, mask));
}

INLINE void windows(__m256i mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    two(mask, _mm256_inserti128_si256(_mm256_castsi128_si256(load(src)), load(second), 1), dst);
}

SHUFFLE_FEW(few_four, __m512i, load_four, four)
SHUFFLE_FEW(few_windows, __m256i, load_two, windows)

INLINE void any(const struct asf__item *item, const unsigned char *src, unsigned char *dst) {
    const unsigned char *from = src + item->src;
    dst += item->dst;
    if (item->width == FOUR_LANES)
        four(load_four(item->mask), from, src, dst);
    else if (item->width == TWO_LANES)
        two(load_two(item->mask), load_two(from), dst);
    else if (item->width == TWO_WINDOWS)
        windows(load_two(item->mask), from, src + item->second, dst);
    else
        _mm_storeu_si128((__m128i *)(void *)dst, _mm_shuffle_epi8(load(from), load(item->mask)));
}

RUN static void run(const struct asf__run *r, const unsigned char *src, unsigned char *dst, size_t n) {
    if (r->items_count <= 4 && n >= FEW_ITERATIONS && r->uniform == FOUR_LANES)
        SHUFFLE_UP_TO_FOUR(few_four, r, src, dst, n)
    if (r->items_count <= 4 && n >= FEW_ITERATIONS && r->uniform == TWO_WINDOWS)
        SHUFFLE_UP_TO_FOUR(few_windows, r, src, dst, n)
    const struct asf__item *end = r->items + r->items_count;
    for (; n > 0; n--, src += r->src_step, dst += r->dst_step)
        for (const struct asf__item *item = r->items; item < end; item++)
            any(item, src, dst);
}

/* As for scanning: the first CPUs with AVX-512 slow down when they meet it. */
static bool available(void) {
    return CPU_FEATURE_ACTIVE(AVX512BW) && CPU_FEATURE_ACTIVE(AVX512_VBMI);
}

const struct asf__engine asf__engine_avx512 = {.name = "avx512",
                                               .available = available,
                                               .prepare = asf__vector_prepare,
                                               .convert = asf__vector_convert,
                                               .discard = asf__vector_discard,
                                               .width = 64,
                                               .run = run};
#endif
