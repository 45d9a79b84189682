/* SPDX-License-Identifier: MIT
 *
 * powers.h - the powers of ten by which binary numbers become decimal ones and
 * back.
 */
#ifndef ASF_LIB_POWERS_H
#define ASF_LIB_POWERS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { ASF__POWER_FIRST = -342, ASF__POWER_LAST = 342 };

/* asf__powers: the leading 128 bits of 10^ASF__POWER_FIRST and those after it,
 * which are those of the same powers of five; cut off and not rounded, the first
 * of them a 1, the upper half first. */
extern const uint64_t asf__powers[ASF__POWER_LAST - ASF__POWER_FIRST + 1][2];

static inline const uint64_t *asf__power(int exponent) {
    return asf__powers[exponent - ASF__POWER_FIRST];
}

#pragma GCC visibility pop

#endif
