/* SPDX-License-Identifier: MIT
 *
 * record_avx2.c - shuffles of 32 bytes: two windows of 16.
 * Layer: interfaces/record.  May include: lib, include/asf.
 */
#if defined(__x86_64__)
#include <sys/platform/x86.h>

#define RUN __attribute__((target("avx2")))
#include "interfaces/record/record_shuffle_avx.h"

SHUFFLE_FEW(few_lanes, __m256i, load_two, lanes)
SHUFFLE_EVERY(up_to_two)

RUN static void run(const struct asf__run *r, const unsigned char *src, unsigned char *dst, size_t n) {
    SHUFFLE_UP_TO_FOUR(few_lanes, TWO_LANES, r, src, dst, n)
    SHUFFLE_UP_TO_FOUR(few_windows, TWO_WINDOWS, r, src, dst, n)
    every(r, src, dst, n);
}

static bool available(void) {
    return CPU_FEATURE_ACTIVE(AVX2);
}

SHUFFLE_ENGINE(asf__engine_avx2, "avx2", 32);
#endif
