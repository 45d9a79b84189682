/* SPDX-License-Identifier: MIT
 *
 * record_ssse3.c - the engine with SSSE3: shuffles of 16 bytes.
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

SHUFFLE_SIXTEEN(__m128i, load, one)

static bool available(void) {
    return CPU_FEATURE_ACTIVE(SSSE3);
}

SHUFFLE_ENGINE(asf__engine_ssse3, "ssse3", 16);
#endif
