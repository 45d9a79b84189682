/* SPDX-License-Identifier: MIT
 *
 * record_neon.c - the engine of AArch64: shuffles of 16 bytes.
 */
#if defined(__aarch64__)
#include <arm_neon.h>

#define RUN
#include "interfaces/record/record_shuffle.h"

/* An index above 15 gives 0, so the mask byte 0x80 has the same effect as on x86. */
INLINE void one(uint8x16_t mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    (void)second;
    vst1q_u8(dst, vqtbl1q_u8(vld1q_u8(src), mask));
}

SHUFFLE_SIXTEEN(uint8x16_t, vld1q_u8, one)

static bool available(void) {
    return true;
}

SHUFFLE_ENGINE(asf__engine_neon, "neon", 16);
#endif
