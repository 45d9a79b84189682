/* SPDX-License-Identifier: MIT
 *
 * decimal.c - doubles as text and back.
 */
#define _GNU_SOURCE
#include "lib/text/decimal.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/lock.h"
#include "lib/sys/machine.h"
#include "lib/text/format_digits.h"
#include "lib/text/powers.h"
#include "lib/text/scan_number.h"

/* Returns the C locale, in which the decimal point is "."; made once, never freed. */
static locale_t c_locale(void) {
    static locale_t made;
    locale_t have = __atomic_load_n(&made, __ATOMIC_ACQUIRE), none = (locale_t)0;
    if (have)
        return have;
    have = newlocale(LC_ALL_MASK, "C", none);
    if (__atomic_compare_exchange_n(&made, &none, have, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return have;
    freelocale(have);
    return none;
}

/* --- the shortest digits: R. Giulietti, "The Schubfach way to render doubles" ---
 *
 * Of the numbers that round to the value, take those with the fewest digits, and of
 * these the nearest.  The paper proves that 126 bits of a power of ten are enough. */

/* digits * 10^exponent */
struct digits {
    uint64_t digits;
    int exponent;
};

/* Logarithms of powers, rounded down, by a multiplication that is exact for all doubles. */
static int log10_of_power_of_2(int e) {
    return (int)((e * INT64_C(661971961083)) >> 41);
}

static int log10_of_three_quarters_of_power_of_2(int e) {
    return (int)((e * INT64_C(661971961083) - INT64_C(274743187321)) >> 41);
}

static int log2_of_power_of_10(int e) {
    return (int)((e * INT64_C(913124641741)) >> 38);
}

typedef unsigned __int128 uint128;

/* Returns a number just above 10^e, of 126 bits. */
static uint128 above_power_of_10(int e) {
    const uint64_t *power = asf__power(e);
    return (((uint128)power[0] << 64 | power[1]) >> 2) + 1;
}

/* A product of 192 bits. */
struct product {
    uint128 upper;
    uint64_t low;
};

static inline struct product multiply(uint128 power, uint64_t by) {
    uint128 low = (uint128)(uint64_t)power * by;
    return (struct product){(power >> 64) * by + (uint64_t)(low >> 64), (uint64_t)low};
}

static inline struct product add(struct product a, struct product b) {
    uint64_t low = a.low + b.low;
    return (struct product){a.upper + b.upper + (low < b.low), low};
}

static inline struct product subtract(struct product a, struct product b) {
    return (struct product){a.upper - b.upper - (a.low < b.low), a.low - b.low};
}

static inline struct product shifted(uint128 power, int by) {
    uint64_t high = (uint64_t)(power >> 64), low = (uint64_t)power;
    return (struct product){(uint128)(high >> (64 - by)) << 64 | (high << by | low >> (64 - by)), low << by};
}

/* Returns the product's upper 65 bits.  Bit 0 is also set if one of the 63 bits below is set.  The last
 * 64 bits are inexact and ignored. */
static inline uint64_t without_fraction(struct product p) {
    return (uint64_t)(p.upper >> 63) | (((uint64_t)p.upper & INT64_MAX) != 0);
}

/* The value, and the least and the greatest number that round to it, times 4 * 10^-k. */
struct interval {
    uint64_t least, value, most;
};

/* Returns the multiple of ten in the interval, if there is exactly one; otherwise the nearest number, or
 * the even one of two equally near.  The code has no branch: its outcome would be random, and
 * mispredicted half the time. */
static inline uint64_t choose(const struct interval *v) {
    uint64_t below = v->value >> 2, ten = below / 10 * 10;
    bool ten_below = v->least <= ten << 2, ten_above = (ten + 10) << 2 <= v->most;
    uint64_t nearest = below + ((v->value & 3) + (below & 1) > 2);
    uint64_t tens = -(uint64_t)((below >= 10) & (ten_below != ten_above));
    return (nearest & ~tens) | ((ten + 10 * (uint64_t)ten_above) & tens);
}

/* Returns the shortest number for mantissa * 2^exponent.
 *   edge   the mantissa is a power of two: the next lower double is nearer than the next higher one.  The
 *          nearest number may then be below the interval; in this case the number above it is inside. */
static inline __attribute__((always_inline)) struct digits shortest_of(uint64_t mantissa, int exponent,
                                                                       bool edge) {
    int k = edge ? log10_of_three_quarters_of_power_of_2(exponent) : log10_of_power_of_2(exponent);
    int shift = exponent + log2_of_power_of_10(-k) + 2;
    uint128 power = above_power_of_10(-k);
    struct product value = multiply(power, mantissa << 2 << shift);
    struct product above = shifted(power, shift + 1), below = edge ? shifted(power, shift) : above;
    uint64_t open = mantissa & 1; /* odd: the interval excludes its ends, which round to other values */
    struct interval v = {.least = without_fraction(subtract(value, below)) + open,
                         .value = without_fraction(value),
                         .most = without_fraction(add(value, above)) - open};
    uint64_t chosen = choose(&v);
    return (struct digits){chosen + (edge && chosen << 2 < v.least), k};
}

static __attribute__((noinline)) struct digits shortest_at_edge(uint64_t mantissa, int exponent) {
    return shortest_of(mantissa, exponent, true);
}

static __attribute__((noinline)) struct digits shortest_by_interval(uint64_t mantissa, int exponent) {
    return shortest_of(mantissa, exponent, false);
}

/* Returns the same by V. Zverovich's method, which is faster.  It computes the value times 10^-k in fixed
 * point, and compares the last digit and 60 bits after it with half the distance to the next double.  If
 * the two sides of a comparison differ by no more than the error, it uses the interval. */
static inline struct digits shortest(uint64_t mantissa, int exponent) {
    const uint64_t ten = UINT64_C(10) << 60, half = UINT64_C(1) << 63, error = 2;
    int k = log10_of_power_of_2(exponent), shift = exponent + log2_of_power_of_10(-k) + 2;
    uint128 power = above_power_of_10(-k), value = multiply(power, mantissa << 2 << shift).upper >> 1;
    uint64_t whole = (uint64_t)(value >> 64), fraction = (uint64_t)value, tens = whole / 10 * 10;
    uint64_t here = (whole - tens) << 60 | fraction >> 4, distance = asf__power(-k)[0] >> (6 - shift);
    if (asf__unlikely(here - distance + error <= 2 * error || here + distance - ten + error <= 2 * error ||
                      fraction - half + error <= 2 * error))
        return shortest_by_interval(mantissa, exponent);
    uint64_t nearest = whole + (fraction > half), above = tens + 10;
    uint64_t chosen = here < distance ? tens : nearest;
    return (struct digits){here + distance > ten ? above : chosen, k};
}

/* --- to text ----------------------------------------------------------------------- */

/* A double's digits as characters.  There are always seventeen, enough for any double; the last ones may be
 * zeros. */
struct text {
    char first;
    unsigned __int128 others; /* sixteen digits, the first of them in the lowest byte */
    unsigned count;           /* the number of digits without trailing zeros */
    int point;                /* the number of digits before the decimal point */
};

static struct text text_of(struct digits d) {
    enum { MOST = 17 };
    const uint64_t half = 100000000, characters = 0x3030303030303030;
    unsigned n = asf__likely(d.digits >= asf__tens[MOST - 2]) ? MOST - 1 + (d.digits >= asf__tens[MOST - 1])
                                                              : asf__count_digits(d.digits);
    uint64_t all = d.digits * asf__tens[MOST - n], first = all / (half * half), others = all % (half * half);
    unsigned __int128 digits = asf__sixteen_digits((uint32_t)(others / half), (uint32_t)(others % half));
    uint64_t low = (uint64_t)(digits >> 64), high = (uint64_t)digits;
    unsigned zeros = low ? (unsigned)__builtin_clzll(low) / 8 : 8 + (unsigned)__builtin_clzll(high | 1) / 8;
    return (struct text){.first = (char)('0' + first),
                         .others = digits | (unsigned __int128)characters << 64 | characters,
                         .count = MOST - zeros - (others == 0),
                         .point = (int)n + d.exponent};
}

/* Stores sixteen bytes; the last ones may be unused. */
static void store(char *to, unsigned __int128 bytes) {
    memcpy(to, &bytes, sizeof bytes);
}

/* Writes the digits with a point after the first, and an exponent. */
static size_t put_scientific(char *to, const struct text *t) {
    int exponent = t->point - 1;
    size_t n = t->count > 1 ? t->count + 1 : 1;
    to[0] = t->first;
    to[1] = '.';
    store(to + 2, t->others);
    to[n++] = 'e';
    to[n++] = exponent < 0 ? '-' : '+';
    struct asf__short_text e = asf__short_decimal((uint32_t)abs(exponent), 2);
    asf__store(to + n, e);
    return n + e.length;
}

/* Writes the digits with a point among them, or with zeros before or after them. */
static size_t put_positional(char *to, const struct text *t) {
    if (t->point <= 0) {
        size_t lead = (size_t)(2 - t->point);
        memcpy(to, "0.000000", 8);
        to[lead] = t->first;
        store(to + lead + 1, t->others);
        return lead + t->count;
    }
    unsigned point = (unsigned)t->point;
    to[0] = t->first;
    store(to + 1, t->others);
    if (point >= t->count)
        return point;
    to[point] = '.';
    store(to + point + 1, t->others >> 8 * (point - 1));
    return t->count + 1;
}

/* Writes a number in the layout of %g, with all its digits. */
static size_t put_plainly(char *to, struct digits d) {
    struct text t = text_of(d);
    return t.point < -3 || t.point > 17 ? put_scientific(to, &t) : put_positional(to, &t);
}

static size_t put_whole(char *to, uint64_t value) {
    size_t n = asf__count_digits(value);
    asf__write_digits(to + n, value);
    return n;
}

static size_t put_nan(char *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t payload = bits & ((UINT64_C(1) << 51) - 1);
    char *p = to;
    if (bits >> 63)
        *p++ = '-';
    p = mempcpy(p, payload ? "nan(0x" : "nan", payload ? 6 : 3);
    if (payload) {
        for (int shift = (63 - __builtin_clzll(payload)) / 4 * 4; shift >= 0; shift -= 4)
            *p++ = "0123456789abcdef"[payload >> shift & 15];
        *p++ = ')';
    }
    *p = '\0';
    return (size_t)(p - to);
}

static size_t put_infinity(char *to) {
    memcpy(to, "inf", 3);
    return 3;
}

enum { BIAS = 1075, NO_NUMBER = 2047 };

/* Returns the digits of a positive number that is neither infinite nor zero. */
static inline struct digits digits_of(uint64_t bits) {
    const uint64_t lead = UINT64_C(1) << 52;
    uint64_t rest = bits & (lead - 1);
    int exponent = (int)(bits >> 52);
    if (exponent == 0) /* a subnormal number */
        return shortest(rest, 1 - BIAS);
    if (rest == 0 && exponent > 1)
        return shortest_at_edge(lead, exponent - BIAS);
    return shortest(lead | rest, exponent - BIAS);
}

/* Whether a positive number is whole, and so small that every whole number of its size is a double. */
static inline bool is_whole(double value) {
    return value < 1e15 && value == (double)(int64_t)value;
}

static size_t put_positive(char *to, double value, uint64_t bits) {
    if (bits >> 52 == NO_NUMBER)
        return put_infinity(to);
    if (is_whole(value))
        return put_whole(to, (uint64_t)value);
    return put_plainly(to, digits_of(bits));
}

size_t asf__put_double(char *to, double value) {
    uint64_t bits;
    if (isnan(value))
        return put_nan(to, value);
    memcpy(&bits, &value, sizeof bits);
    size_t sign = bits >> 63;
    to[0] = '-';
    size_t n = sign + put_positive(to + sign, fabs(value), bits & INT64_MAX);
    to[n] = '\0';
    return n;
}

/* Writes a whole number below 10^38 with all its digits, as %.0f. */
static __attribute__((noinline)) size_t put_exactly(char *to, uint64_t bits) {
    enum { GROUP = 19 };
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52, rest;
    int shift = (int)(bits >> 52) - BIAS;
    if (shift <= 0)
        return put_whole(to, mantissa >> -shift);
    unsigned __int128 value = (unsigned __int128)mantissa << shift;
    if (value < asf__tens[GROUP])
        return put_whole(to, (uint64_t)value);
    size_t n = put_whole(to, asf__divide((uint64_t)(value >> 64), (uint64_t)value, asf__tens[GROUP], &rest));
    asf__write_places(to + n, rest, GROUP);
    return n + GROUP;
}

/* Writes the number, with an exponent if that is shorter. */
static size_t put_shorter(char *to, struct digits d, uint64_t bits) {
    struct text t = text_of(d);
    int zeros = t.point - (int)t.count; /* zeros after the digits, if the number is whole */
    bool one = t.count == 1;
    if (t.point < (one ? -2 : -3) || zeros > (one ? 4 : 5))
        return put_scientific(to, &t);
    return zeros > 0 ? put_exactly(to, bits) : put_positional(to, &t);
}

size_t asf__put_shortest(char *to, double value) {
    enum { ALWAYS_POSITIONAL = 100000 };
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    size_t sign = bits >> 63;
    bits &= INT64_MAX;
    *to = '-';
    to += sign;
    if (asf__unlikely(bits >> 52 == NO_NUMBER)) {
        memcpy(to, bits << 12 ? "nan" : "inf", 3);
        return sign + 3;
    }
    value = fabs(value);
    if (!is_whole(value))
        return sign + put_shorter(to, digits_of(bits), bits);
    uint64_t whole = (uint64_t)value;
    if (whole % 10 != 0 || whole < ALWAYS_POSITIONAL)
        return sign + put_whole(to, whole);
    return sign + put_shorter(to, (struct digits){whole, 0}, bits);
}

/* --- from text ------------------------------------------------------------------------ */

/* Returns a NaN with the sign and payload of the word; musl's strtod ignores these. */
static double nan_of(const char *word) {
    const uint64_t quiet = UINT64_C(0x7ff8000000000000), most = (UINT64_C(1) << 51) - 1;
    const char *open = strchr(word, '(');
    char *end;
    uint64_t payload = open ? strtoull(open + 1, &end, 0) : 0;
    uint64_t bits = quiet | (open && *end == ')' ? payload & most : 0) | (uint64_t)(*word == '-') << 63;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int by_libc(const char *word, double *value) {
    char *end;
    int saved = errno;
    errno = 0;
    *value = strtod_l(word, &end, c_locale());
    bool huge = errno == ERANGE && isinf(*value);
    if (isnan(*value))
        *value = nan_of(word);
    errno = saved;
    if (end == word || *end != '\0' || isspace((unsigned char)word[0]))
        return -EBADMSG;
    return huge ? -ERANGE : 0;
}

int asf__get_double(const char *word, size_t length, double *value) {
    const unsigned char *p = (const unsigned char *)word, *end = p + length;
    struct asf_decimal number;
    if (asf__scan_decimal(p, end, '.', &number) == end && length > 0 && asf__decimal_double(&number, value))
        return 0;
    return by_libc(word, value);
}
