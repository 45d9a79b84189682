/* SPDX-License-Identifier: MIT
 *
 * record_avx512.c - the engine with AVX-512: shuffles of 64 bytes, from four windows of 16.
 */
#if defined(__x86_64__)
#include <sys/platform/x86.h>

#define RUN __attribute__((target("avx512f,avx512bw,avx2")))
#include "interfaces/record/record_shuffle_avx.h"

INLINE __m512i load_four(const unsigned char *p) {
    return _mm512_loadu_si512(p);
}

INLINE void four(__m512i mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    (void)second;
    _mm512_storeu_si512(dst, _mm512_shuffle_epi8(load_four(src), mask));
}

SHUFFLE_FEW(few_four, __m512i, load_four, four)

INLINE void up_to_four(const struct asf__item *item, const unsigned char *src, unsigned char *dst) {
    if (item->width == FOUR_LANES)
        four(load_four(item->mask), src + item->src, src, dst + item->dst);
    else
        up_to_two(item, src, dst);
}

SHUFFLE_EVERY(up_to_four)

static asf__runner *pick(const struct asf__run *run) {
    SHUFFLE_UP_TO_FOUR(few_four, FOUR_LANES, run)
    SHUFFLE_UP_TO_FOUR(few_lanes, TWO_LANES, run)
    SHUFFLE_UP_TO_FOUR(few_windows, TWO_WINDOWS, run)
    return every;
}

/* Also requires VBMI, as the scanning kernels do: the first CPUs with AVX-512 lack it, and run slower with
 * AVX-512. */
static bool available(void) {
    return CPU_FEATURE_ACTIVE(AVX512BW) && CPU_FEATURE_ACTIVE(AVX512_VBMI);
}

SHUFFLE_ENGINE(asf__engine_avx512, "avx512", 64);
#endif
