/* SPDX-License-Identifier: MIT
 *
 * record_ssse3.c - shuffles of 16 bytes.
 * Layer: interfaces/record.  May include: lib, include/asf.
 */
#if defined(__x86_64__)
#include <sys/platform/x86.h>
#include <tmmintrin.h>

#define RUN __attribute__((target("ssse3")))
#include "interfaces/record/record_shuffle.h"

INLINE __m128i load(const unsigned char *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE void one(__m128i mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    (void)second;
    _mm_storeu_si128((__m128i *)(void *)dst, _mm_shuffle_epi8(load(src), mask));
}

SHUFFLE_FEW(few, __m128i, load, one)

RUN static void run(const struct asf__run *r, const unsigned char *src, unsigned char *dst, size_t n) {
    if (r->items_count <= 4 && n >= FEW_ITERATIONS)
        SHUFFLE_UP_TO_FOUR(few, r, src, dst, n)
    const struct asf__item *end = r->items + r->items_count;
    for (; n > 0; n--, src += r->src_step, dst += r->dst_step)
        for (const struct asf__item *item = r->items; item < end; item++)
            one(load(item->mask), src + item->src, src, dst + item->dst);
}

static bool available(void) {
    return CPU_FEATURE_ACTIVE(SSSE3);
}

const struct asf__engine asf__engine_ssse3 = {.name = "ssse3",
                                              .available = available,
                                              .prepare = asf__vector_prepare,
                                              .convert = asf__vector_convert,
                                              .discard = asf__vector_discard,
                                              .width = 16,
                                              .run = run};
#endif
