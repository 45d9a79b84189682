/* SPDX-License-Identifier: MIT
 *
 * format_decimal.h - binary floating point to decimal; rounds the exact value to nearest, ties to
 * even, as libc does.
 */
#ifndef ASF_LIB_FORMAT_DECIMAL_H
#define ASF_LIB_FORMAT_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* mantissa * 2^exponent.  The mantissa's highest bit is 1, or the mantissa is zero. */
struct asf__binary {
    uint64_t mantissa;
    int exponent;
};

/* Bounds of `exponent` in struct asf__binary, for all doubles. */
enum { ASF__EXPONENT_MIN = -1137, ASF__EXPONENT_MAX = 960 };

/* Digits of a number: 0.d1d2d3... * 10^point.  Digits after the last one are zeros. */
struct asf__decimal {
    char *digits;
    int count;
    int point;
};

/* Memory for the digits of any number, with margins before and after them. */
enum { ASF__DIGITS_ROOM = 1600, ASF__DIGITS_MARGIN = 16 };

/* asf__fixed_parts: round to `places` <= 19 digits after the point, as two integers.
 * returns  false: 128 bits are not enough. */
bool asf__fixed_parts(struct asf__binary v, int places, uint64_t *whole, uint64_t *fraction);

/* asf__decimal_fixed: round to `places` digits after the point, with at least one digit before it. */
struct asf__decimal asf__decimal_fixed(struct asf__binary v, int places, char room[ASF__DIGITS_ROOM]);

/* asf__decimal_significant: round to `wanted` > 0 digits; the first is not 0, except for the value 0. */
struct asf__decimal asf__decimal_significant(struct asf__binary v, int wanted, char room[ASF__DIGITS_ROOM]);

#pragma GCC visibility pop

#endif
