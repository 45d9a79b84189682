/* SPDX-License-Identifier: MIT
 *
 * record_neon.c - shuffles of 16 bytes on AArch64.
 * Layer: interfaces/record.  May include: lib, include/asf.
 */
#if defined(__aarch64__)
#include <arm_neon.h>

#define RUN
#include "interfaces/record/record_shuffle.h"

INLINE uint8x16_t load(const unsigned char *p) {
    return vld1q_u8(p);
}

/* An index beyond 15 gives zero, as the mask's high bit does elsewhere. */
INLINE void one(uint8x16_t mask, const unsigned char *src, const unsigned char *second, unsigned char *dst) {
    (void)second;
    vst1q_u8(dst, vqtbl1q_u8(load(src), mask));
}

SHUFFLE_FEW(few, uint8x16_t, load, one)

static void run(const struct asf__run *r, const unsigned char *src, unsigned char *dst, size_t n) {
    if (r->items_count <= 4 && n >= FEW_ITERATIONS)
        SHUFFLE_UP_TO_FOUR(few, r, src, dst, n)
    const struct asf__item *end = r->items + r->items_count;
    for (; n > 0; n--, src += r->src_step, dst += r->dst_step)
        for (const struct asf__item *item = r->items; item < end; item++)
            one(load(item->mask), src + item->src, src, dst + item->dst);
}

static bool available(void) {
    return true;
}

const struct asf__engine asf__engine_neon = {.name = "neon",
                                             .available = available,
                                             .prepare = asf__vector_prepare,
                                             .convert = asf__vector_convert,
                                             .discard = asf__vector_discard,
                                             .width = 16,
                                             .run = run};
#endif
