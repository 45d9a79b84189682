/* SPDX-License-Identifier: MIT
 *
 * record_avx2.c - the engine with AVX2: shuffles of 32 bytes, each from two windows of 16.
 */
#if defined(__x86_64__)
#include <sys/platform/x86.h>

#define RUN __attribute__((target("avx2")))
#include "interfaces/record/record_shuffle_avx.h"

SHUFFLE_EVERY(up_to_two)

static asf__runner *pick(const struct asf__run *run) {
    SHUFFLE_UP_TO_FOUR(few_lanes, TWO_LANES, run)
    SHUFFLE_UP_TO_FOUR(few_windows, TWO_WINDOWS, run)
    return every;
}

static bool available(void) {
    return CPU_FEATURE_ACTIVE(AVX2);
}

SHUFFLE_ENGINE(asf__engine_avx2, "avx2", 32);
#endif
