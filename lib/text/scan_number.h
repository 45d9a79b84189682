/* SPDX-License-Identifier: MIT
 *
 * scan_number.h - decimal numbers as scanf reads them, from memory: usual numbers exactly; others are
 * refused, and the caller asks libc.
 */
#ifndef ASF_LIB_SCAN_NUMBER_H
#define ASF_LIB_SCAN_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* The value is digits * 10^exponent.  `more`: there were more than 19 digits, and the value is at least
 * digits * 10^exponent and less than (digits + 1) * 10^exponent. */
struct asf_decimal {
    uint64_t digits;
    int exponent;
    bool negative, more;
};

/* asf__is_blank: isspace in the C locale. */
static inline bool asf__is_blank(unsigned char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* asf__scan_decimal: scan a number with an optional sign, decimal point (the byte `point`) and
 * exponent.
 * returns  the end of the number, which may be `end`; NULL for anything else, such as
 *          "inf", "0x1p3", "." and "1e". */
const unsigned char *asf__scan_decimal(const unsigned char *p, const unsigned char *end, int point,
                                       struct asf_decimal *number);

/* The results of strtod, strtof and strtold while rounding is to nearest (on x86-64 by the x87 control
 * word, as in libc).  Return false if the result is uncertain, or would set errno. */
bool asf__decimal_double(const struct asf_decimal *number, double *value);
bool asf__decimal_float(const struct asf_decimal *number, float *value);
bool asf__decimal_long_double(const struct asf_decimal *number, long double *value);

/* asf__scan_doubles: scan at most `most` numbers in *text..end.  Blanks may precede a number; one blank must
 * follow it.  *text is set to the end of the last number.
 * returns  how many were scanned; fewer if the next text is not a number, or an unusual one. */
size_t asf__scan_doubles(const unsigned char **text, const unsigned char *end, double *to, size_t most);

/* asf__scan_short_integer: whether the n bytes at p are 1 to 8 digits after an optional minus sign.
 * Eight bytes from the first digit on may be read if they are before `end`. */
static inline bool asf__scan_short_integer(const unsigned char *p, size_t n, const unsigned char *end,
                                           int64_t *value) {
    const uint64_t zeros = 0x3030303030303030;
    bool negative = *p == '-';
    p += negative;
    n -= negative;
    if (n - 1 >= 8 || end - p < 8)
        return false;
    uint64_t text, digits;
    memcpy(&text, p, sizeof text);
    digits = (text ^ zeros) << (64 - 8 * n); /* the last n bytes are digits; the bytes before them are 0 */
    if (((digits + 0x7676767676767676) | digits) & 0x8080808080808080)
        return false;
    digits = digits * 10 + (digits >> 8); /* pairs of digits, in every other byte */
    digits = ((digits & 0x000000ff000000ff) * 0x000f424000000064 +
              ((digits >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
             32;
    *value = negative ? -(int64_t)digits : (int64_t)digits;
    return true;
}

/* asf__scan_field: whether all n bytes at p are a number as asf__scan_decimal reads it.
 * asf__scan_double_field: the same, and stores its value if that is certain.  The rounding mode must be to
 * nearest.
 *   begin, end   the bytes that may be read: more than the number, for speed */
bool asf__scan_field(const unsigned char *p, size_t n, const unsigned char *begin, const unsigned char *end,
                     struct asf_decimal *number);
bool asf__scan_double_field(const unsigned char *p, size_t n, const unsigned char *begin,
                            const unsigned char *end, double *value);

#pragma GCC visibility pop

#endif
