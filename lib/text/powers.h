/* SPDX-License-Identifier: MIT
 *
 * powers.h - powers of ten, for converting binary numbers to decimal and back.
 */
#ifndef ASF_LIB_POWERS_H
#define ASF_LIB_POWERS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { ASF__POWER_FIRST = -342, ASF__POWER_LAST = 342 };

/* asf__powers: the leading 128 bits of 10^ASF__POWER_FIRST to 10^ASF__POWER_LAST, upper half first.
 * They are truncated, not rounded, and their first bit is 1.  The powers of five have the same bits. */
extern const uint64_t asf__powers[ASF__POWER_LAST - ASF__POWER_FIRST + 1][2];

static inline const uint64_t *asf__power(int exponent) {
    return asf__powers[exponent - ASF__POWER_FIRST];
}

#pragma GCC visibility pop

#endif
