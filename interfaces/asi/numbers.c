/* SPDX-License-Identifier: MIT
 *
 * numbers.c - numbers as text, written into the current buffer: the out-of-line half of <asf/numbers.h>.
 */
#define ASF_NO_INLINE /* this file defines the functions that <asf/numbers.h> would define inline */
#include <asf/numbers.h>

#include <errno.h>
#include <limits.h>

#include "backplane/backplane.h"
#include "interfaces/asi/locked.h"
#include "lib/sys/export.h"
#include "lib/text/decimal.h"
#include "lib/text/format_digits.h"
#include "lib/text/format_spec.h"

/* MOST_DIGITS: the most digits before the point of a double.  MOST_PRECISION: the most digits after the
 * point in asf_put_double_as. */
enum { MOST_DIGITS = 310, MOST_PRECISION = 1100 };

/* Stores one or two digits; always writes two bytes. */
static inline char *put_one_or_two(char *to, unsigned n) {
    const char *pair = asf__digit_pairs + 2 * (size_t)n;
    bool two = n >= 10;
    to[0] = two ? pair[0] : pair[1];
    to[1] = pair[1];
    return to + 1 + two;
}

char *asf_v1_digits_long(char *to, uint64_t value) {
    const uint64_t half = 100000000;
    uint64_t upper = value / half, lowest = value % half;
    if (upper < 100) { /* most 32-bit numbers */
        to = put_one_or_two(to, (unsigned)upper);
    } else if (upper < half) {
        to = asf_view_digits(to, upper);
    } else {
        to = asf_view_digits(to, upper / half);
        asf__write_eight(to, (uint32_t)(upper % half));
        to += 8;
    }
    asf__write_eight(to, (uint32_t)lowest);
    return to + 8;
}

char *asf_digits_uint(char *to, uint64_t value) {
    return asf_view_digits(to, value);
}

char *asf_digits_int(char *to, int64_t value) {
    *to = '-';
    return asf_view_digits(to + (value < 0), value < 0 ? -(uint64_t)value : (uint64_t)value);
}

char *asf_digits_double(char *to, double value) {
    return to + asf__put_shortest(to, value);
}

char *asf_digits_double_as(char *to, double value, int conversion, int precision) {
    struct asf__output o = {.p = to, .begin = to, .end = to + MOST_DIGITS + ASF_DOUBLE_ROOM + MOST_PRECISION};
    asf__put_real(&o, (char)conversion, precision, value);
    return o.p;
}

int asf_v1_u_put_text(struct asf_cios *c, const char *text, size_t n) {
    int rc = asf__to_bytes(c);
    if (rc == 0)
        rc = asf__attach(c);
    if (rc == 0 && n > 0)
        asf__append(c, text, n, &rc);
    return rc;
}

int asf_u_put_int(struct asf_cios *c, int64_t value) {
    char digits[ASF_INTEGER_ROOM];
    return asf_v1_u_put_text(c, digits, (size_t)(asf_digits_int(digits, value) - digits));
}

int asf_u_put_uint(struct asf_cios *c, uint64_t value) {
    char digits[ASF_INTEGER_ROOM];
    return asf_v1_u_put_text(c, digits, (size_t)(asf_digits_uint(digits, value) - digits));
}

int asf_u_put_double(struct asf_cios *c, double value) {
    char text[ASF_DOUBLE_ROOM];
    return asf_v1_u_put_text(c, text, asf__put_shortest(text, value));
}

int asf_u_put_double_as(struct asf_cios *c, double value, int conversion, int precision) {
    char text[MOST_DIGITS + ASF_DOUBLE_ROOM + MOST_PRECISION];
    if (precision < 0 || precision > MOST_PRECISION || !memchr("eEfFgG", conversion, 6) ||
        conversion > CHAR_MAX || conversion < 0)
        return -EINVAL;
    char *end = asf_digits_double_as(text, value, conversion, precision);
    return asf_v1_u_put_text(c, text, (size_t)(end - text));
}

LOCKED(int, v1_put_text, (struct asf_cios * c, const char *text, size_t n), asf_v1_u_put_text(c, text, n))
LOCKED(int, put_int, (struct asf_cios * c, int64_t value), asf_u_put_int(c, value))
LOCKED(int, put_uint, (struct asf_cios * c, uint64_t value), asf_u_put_uint(c, value))
LOCKED(int, put_double, (struct asf_cios * c, double value), asf_u_put_double(c, value))
LOCKED(int, put_double_as, (struct asf_cios * c, double value, int conversion, int precision),
       asf_u_put_double_as(c, value, conversion, precision))

/* The exported names of the functions that <asf/numbers.h> also defines inline. */
int asf_put_text(struct asf_cios *c, const char *text, size_t n) ALIAS(asf_v1_put_text);
int asf_u_put_text(struct asf_cios *c, const char *text, size_t n) ALIAS(asf_v1_u_put_text);
