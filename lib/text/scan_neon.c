/* SPDX-License-Identifier: MIT
 *
 * scan_neon.c - the scanning functions on vectors of 16 bytes, which every AArch64 has.
 */
#include <arm_neon.h>

typedef uint8x16_t vector;
#define KERNEL

#include "lib/text/scan_loops.h"

INLINE vector splat(int c) {
    return vdupq_n_u8((uint8_t)c);
}

/* Returns a vector whose byte i has only bit i % 8 set. */
INLINE vector weights(void) {
    return vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
}

/* Makes a mask of one bit for each byte from vectors whose bytes are all ones or all zeros: adds
 * neighbours until each byte has the bits of eight bytes. */
INLINE uint64_t join(vector a, vector b, vector c, vector d) {
    vector bits = weights();
    vector low = vpaddq_u8(vandq_u8(a, bits), vandq_u8(b, bits));
    vector high = vpaddq_u8(vandq_u8(c, bits), vandq_u8(d, bits));
    vector all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

INLINE uint64_t mask_equal(const unsigned char *p, vector v) {
    return join(vceqq_u8(vld1q_u8(p), v), vceqq_u8(vld1q_u8(p + 16), v), vceqq_u8(vld1q_u8(p + 32), v),
                vceqq_u8(vld1q_u8(p + 48), v));
}

INLINE uint64_t first_equal(const unsigned char *p, int c, size_t n) {
    return n < BLOCK ? overlapping_equal(p, c, n) : mask_equal(p, splat(c));
}

INLINE uint64_t mask_differ(const unsigned char *p, const unsigned char *q) {
    return ~join(vceqq_u8(vld1q_u8(p), vld1q_u8(q)), vceqq_u8(vld1q_u8(p + 16), vld1q_u8(q + 16)),
                 vceqq_u8(vld1q_u8(p + 32), vld1q_u8(q + 32)), vceqq_u8(vld1q_u8(p + 48), vld1q_u8(q + 48)));
}

INLINE vector is_high(const unsigned char *p) {
    return vcltzq_s8(vreinterpretq_s8_u8(vld1q_u8(p)));
}

INLINE uint64_t mask_high(const unsigned char *p) {
    return join(is_high(p), is_high(p + 16), is_high(p + 32), is_high(p + 48));
}

/* Tests low <= x <= high by one unsigned comparison: x - low <= high - low. */
INLINE vector between(vector x, int low, int high) {
    return vcleq_u8(vsubq_u8(x, splat(low)), splat(high - low));
}

INLINE vector space(vector x) {
    return vorrq_u8(vceqq_u8(x, splat(' ')), between(x, '\t', '\r'));
}

INLINE vector space_at(const unsigned char *p) {
    return space(vld1q_u8(p));
}

INLINE uint64_t mask_space(const unsigned char *p) {
    return join(space_at(p), space_at(p + 16), space_at(p + 32), space_at(p + 48));
}

INLINE uint64_t equal_16(const unsigned char *p, int c) {
    vector bits = vandq_u8(vceqq_u8(vld1q_u8(p), splat(c)), weights());
    return vaddv_u8(vget_low_u8(bits)) | (uint64_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

INLINE uint64_t equal_8(const unsigned char *p, int c) {
    return vaddv_u8(vand_u8(vceq_u8(vld1_u8(p), vdup_n_u8((uint8_t)c)), vget_low_u8(weights())));
}

const struct asf_scan_table asf__scan_neon = SCAN_KERNELS("neon", places);

const struct asf_scan_table *const asf__scan_all[] = {&asf__scan_scalar, &asf__scan_neon, NULL};

bool asf__scan_has(int which) {
    (void)which;
    return true;
}

int asf__scan_best(void) {
    return 1;
}
