/* SPDX-License-Identifier: MIT
 *
 * decimal.c - doubles as text and back.
 * Layer: lib.  May include: lib.
 */
#define _GNU_SOURCE
#include "lib/decimal.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/format_digits.h"
#include "lib/powers.h"
#include "lib/scan_number.h"

/* The locale in which a decimal point is a point; made once, kept for good. */
static locale_t plain(void) {
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
 * Of the numbers that round to the value, the one with the fewest digits, and of
 * those the nearest.  The paper proves that 126 bits of a power of ten do. */

/* digits * 10^exponent */
struct digits {
    uint64_t digits;
    int exponent;
};

/* Logarithms of powers, rounded down, by multiplication: exact for all doubles. */
static int log10_of_power_of_2(int e) {
    return (int)((e * INT64_C(661971961083)) >> 41);
}

static int log10_of_three_quarters_of_power_of_2(int e) {
    return (int)((e * INT64_C(661971961083) - INT64_C(274743187321)) >> 41);
}

static int log2_of_power_of_10(int e) {
    return (int)((e * INT64_C(913124641741)) >> 38);
}

/* Just above 10^e: 126 bits. */
static unsigned __int128 above_power_of_10(int e) {
    const uint64_t *power = asf__power(e);
    return (((unsigned __int128)power[0] << 64 | power[1]) >> 2) + 1;
}

/* The product without its last 127 bits, and a last bit that says whether there
 * was anything in those that counts. */
static uint64_t multiply(unsigned __int128 power, uint64_t by) {
    uint64_t upper = (uint64_t)(power >> 63), lower = (uint64_t)power & INT64_MAX;
    unsigned __int128 product = (unsigned __int128)upper * by;
    uint64_t middle = ((uint64_t)product >> 1) + (uint64_t)(((unsigned __int128)lower * by) >> 64);
    uint64_t sum = (uint64_t)(product >> 64) + (middle >> 63);
    return sum | (((middle & INT64_MAX) + INT64_MAX) >> 63);
}

/* The value and the ends of the interval that rounds to it, times 4 * 10^-k. */
struct interval {
    uint64_t low, value, high;
    unsigned open; /* 1: the ends round elsewhere */
};

static bool holds(const struct interval *v, uint64_t number, bool below) {
    return below ? v->low + v->open <= number << 2 : (number << 2) + v->open <= v->high;
}

/* With one digit less if just one such number is in the interval; otherwise the
 * nearer of the two neighbours, and the even one of two as near. */
static uint64_t choose(const struct interval *v) {
    uint64_t below = v->value >> 2, above = below + 1;
    uint64_t ten = below / 10 * 10;
    bool ten_below = holds(v, ten, true), ten_above = holds(v, ten + 10, false);
    if (below >= 10 && ten_below != ten_above)
        return ten_below ? ten : ten + 10;
    bool in_below = holds(v, below, true), in_above = holds(v, above, false);
    if (in_below != in_above)
        return in_below ? below : above;
    int64_t middle = (int64_t)(v->value - ((below + above) << 1));
    return middle < 0 || (middle == 0 && !(below & 1)) ? below : above;
}

/* The value is mantissa * 2^exponent; `edge`: its lower neighbour is nearer than
 * its upper one. */
static struct digits shortest(uint64_t mantissa, int exponent, bool edge) {
    int k = edge ? log10_of_three_quarters_of_power_of_2(exponent) : log10_of_power_of_2(exponent);
    int shift = exponent + log2_of_power_of_10(-k) + 2;
    unsigned __int128 power = above_power_of_10(-k);
    uint64_t four = mantissa << 2;
    struct interval v = {.low = multiply(power, (four - (edge ? 1 : 2)) << shift),
                         .value = multiply(power, four << shift),
                         .high = multiply(power, (four + 2) << shift),
                         .open = mantissa & 1};
    struct digits d = {choose(&v), k};
    while (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }
    return d;
}

/* --- to text ----------------------------------------------------------------------- */

static size_t put_whole(char *to, uint64_t value) {
    size_t n = asf__count_digits(value);
    char *p = to + n;
    for (; value >= 100; value /= 100)
        asf__write_pair(p -= 2, (unsigned)(value % 100));
    if (value >= 10)
        asf__write_pair(to, (unsigned)value);
    else
        *to = (char)('0' + value);
    return n;
}

static size_t put_zeros(char *to, int count) {
    for (int i = 0; i < count; i++)
        to[i] = '0';
    return count > 0 ? (size_t)count : 0;
}

/* The point goes behind the first digit. */
static size_t put_scientific(char *to, struct digits d) {
    size_t n = put_whole(to + 1, d.digits);
    int exponent = d.exponent + (int)n - 1;
    to[0] = to[1];
    to[1] = '.';
    n = n > 1 ? n + 1 : 1;
    to[n++] = 'e';
    to[n++] = exponent < 0 ? '-' : '+';
    exponent = exponent < 0 ? -exponent : exponent;
    n += put_zeros(to + n, exponent < 10);
    return n + put_whole(to + n, (uint64_t)exponent);
}

/* As %g lays numbers out, with the digits that there are. */
static size_t put_plainly(char *to, struct digits d) {
    size_t n = put_whole(to, d.digits);
    int point = (int)n + d.exponent; /* digits before it */
    if (point < -3 || point > 17)
        return put_scientific(to, d);
    if (point >= (int)n)
        return n + put_zeros(to + n, point - (int)n);
    if (point > 0) {
        memmove(to + point + 1, to + point, n - (size_t)point);
        to[point] = '.';
        return n + 1;
    }
    size_t lead = (size_t)(2 - point);
    memmove(to + lead, to, n);
    put_zeros(to, (int)lead);
    to[1] = '.';
    return n + lead;
}

static size_t put_nan(char *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned long long payload = bits & ((UINT64_C(1) << 51) - 1);
    const char *sign = bits >> 63 ? "-" : "";
    return (size_t)(payload ? snprintf(to, ASF_DECIMAL, "%snan(0x%llx)", sign, payload)
                            : snprintf(to, ASF_DECIMAL, "%snan", sign));
}

static size_t put_positive(char *to, double value) {
    enum { BIAS = 1075 };
    uint64_t bits, lead = UINT64_C(1) << 52;
    if (isinf(value)) {
        to[0] = 'i';
        to[1] = 'n';
        to[2] = 'f';
        return 3;
    }
    if (value < 1e15 && value == (double)(uint64_t)value)
        return put_whole(to, (uint64_t)value);
    memcpy(&bits, &value, sizeof bits);
    uint64_t rest = bits & (lead - 1);
    int exponent = (int)(bits >> 52);
    if (exponent == 0) /* not normal */
        return put_plainly(to, shortest(rest, 1 - BIAS, false));
    return put_plainly(to, shortest(lead | rest, exponent - BIAS, rest == 0 && exponent > 1));
}

size_t asf__put_double(char *to, double value) {
    if (isnan(value))
        return put_nan(to, value);
    size_t sign = signbit(value) ? 1 : 0;
    to[0] = '-';
    size_t n = sign + put_positive(to + sign, fabs(value));
    to[n] = '\0';
    return n;
}

/* --- from text ------------------------------------------------------------------------ */

static int by_libc(const char *word, double *value) {
    char *end;
    int saved = errno;
    errno = 0;
    *value = strtod_l(word, &end, plain());
    bool huge = errno == ERANGE && isinf(*value);
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
