/* SPDX-License-Identifier: MIT
 *
 * scan_number.h - decimal numbers as scanf reads them, from memory: the usual
 * ones exactly, the others refused, so that the caller asks libc.
 */
#ifndef ASF_LIB_SCAN_NUMBER_H
#define ASF_LIB_SCAN_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The value is digits * 10^exponent; of more than 19 digits it is at least
 * that and less than (digits + 1) * 10^exponent. */
struct asf_decimal {
    uint64_t digits;
    int exponent;
    bool negative, more;
};

/* asf__is_blank: isspace in the C locale, which a text of numbers is in. */
static inline bool asf__is_blank(unsigned char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* asf__scan_decimal: a number with an optional sign, a decimal point (the byte
 * `point`) and an exponent.
 * returns  where it ends, which may be `end`; NULL for anything else, such as
 *          "inf", "0x1p3", "." and "1e". */
const unsigned char *asf__scan_decimal(const unsigned char *p, const unsigned char *end, int point,
                                       struct asf_decimal *number);

/* What strtod, strtof and strtold give for it while the x87 unit, which libc
 * goes by, rounds to nearest; false when that is not certain, or would set
 * errno. */
bool asf__decimal_double(const struct asf_decimal *number, double *value);
bool asf__decimal_float(const struct asf_decimal *number, float *value);
bool asf__decimal_long_double(const struct asf_decimal *number, long double *value);

/* asf__scan_doubles: at most so many numbers, each with blanks before and one
 * after it that stands before `end`.  *text: after the last of them.
 * returns  how many; fewer when the next is none, or none of the usual ones. */
size_t asf__scan_doubles(const unsigned char **text, const unsigned char *end, double *to, size_t most);

#pragma GCC visibility pop

#endif
