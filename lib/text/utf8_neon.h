/* SPDX-License-Identifier: MIT
 *
 * utf8_neon.h - sixteen characters of ASCII at a time.
 */
#ifndef ASF_LIB_UTF8_NEON_H
#define ASF_LIB_UTF8_NEON_H

#include <arm_neon.h>
#include <wchar.h>

enum { RUN = 16 };

/* Converts the ASCII at p, up to sixteen characters; returns their number.  Overwrites all sixteen
 * elements of `to`. */
static inline int widen_ascii(const char *p, wchar_t *to) {
    uint8x16_t bytes = vld1q_u8((const uint8_t *)p);
    uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_high_u8(bytes);
    uint32_t *q = (uint32_t *)to;
    vst1q_u32(q, vmovl_u16(vget_low_u16(low)));
    vst1q_u32(q + 4, vmovl_high_u16(low));
    vst1q_u32(q + 8, vmovl_u16(vget_low_u16(high)));
    vst1q_u32(q + 12, vmovl_high_u16(high));
    /* Four bits of the mask for each byte. */
    uint8x8_t others = vshrn_n_u16(vreinterpretq_u16_u8(vcltzq_s8(vreinterpretq_s8_u8(bytes))), 4);
    uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(others), 0);
    return mask ? __builtin_ctzll(mask) / 4 : RUN;
}

/* Converts sixteen characters if all are ASCII; returns whether they are. */
static inline int narrow_run(const wchar_t *from, char *to) {
    const uint32_t *p = (const uint32_t *)from;
    uint32x4_t a = vld1q_u32(p), b = vld1q_u32(p + 4), c = vld1q_u32(p + 8), d = vld1q_u32(p + 12);
    if (vmaxvq_u32(vorrq_u32(vorrq_u32(a, b), vorrq_u32(c, d))) > 0x7f)
        return 0;
    uint16x8_t low = vmovn_high_u32(vmovn_u32(a), b), high = vmovn_high_u32(vmovn_u32(c), d);
    vst1q_u8((uint8_t *)to, vmovn_high_u16(vmovn_u16(low), high));
    return 1;
}

#endif
