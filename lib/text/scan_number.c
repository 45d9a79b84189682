/* SPDX-License-Identifier: MIT
 *
 * scan_number.c - decimal numbers to binary numbers, by one multiplication with a power of five of 128
 * bits: D. Lemire, "Number parsing at a gigabyte per second" (2021), which proves that 128 bits are enough.
 */
#include "lib/text/scan_number.h"

#include <stddef.h>
#include <string.h>

#include "lib/sys/machine.h"
#include "lib/text/powers.h"
#include "lib/text/scan_digits.h"

/* --- from text --------------------------------------------------------------- */

struct digits {
    const unsigned char *p, *end;
    uint64_t value;
    int kept;    /* significant digits in `value` */
    int dropped; /* further digits, which `value` does not contain */
    int seen;
};

static inline bool digit_at(const unsigned char *p, const unsigned char *end) {
    return p < end && (unsigned)(*p - '0') < 10;
}

static inline void take_digits(struct digits *d) {
    const unsigned char *p = d->p, *start = p;
    uint64_t value = d->value;
    while (value == 0 && p < d->end && *p == '0')
        p++;
    const unsigned char *first = p;
    const unsigned char *last = d->end - p > MOST_DIGITS - d->kept ? p + (MOST_DIGITS - d->kept) : d->end;
    for (; digit_at(p, last); p++)
        value = value * 10 + (uint64_t)(*p - '0');
    d->kept += (int)(p - first);
    for (first = p; digit_at(p, d->end); p++)
        continue;
    d->dropped += (int)(p - first);
    d->seen += (int)(p - start);
    d->value = value;
    d->p = p;
}

/* Reads the exponent after an 'e'.  Returns NULL if there is none, or it is above 100000. */
static const unsigned char *take_exponent(const unsigned char *p, const unsigned char *end, int *exponent) {
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (!digit_at(p, end))
        return NULL;
    int value = 0;
    for (; digit_at(p, end); p++) {
        value = value * 10 + (*p - '0');
        if (value > 100000)
            return NULL;
    }
    *exponent = negative ? -value : value;
    return p;
}

static bool is_hexadecimal(const struct digits *d) {
    return d->seen == 1 && d->value == 0 && d->p < d->end && (*d->p | 0x20) == 'x';
}

static inline const unsigned char *scan_decimal(const unsigned char *p, const unsigned char *end, int point,
                                                struct asf_decimal *number) {
    enum { LONGEST = 1 << 20 };
    bool cut = end - p > LONGEST;
    struct digits d = {.p = p, .end = cut ? p + LONGEST : end};
    number->negative = d.p < d.end && *d.p == '-';
    if (d.p < d.end && (*d.p == '-' || *d.p == '+'))
        d.p++;
    take_digits(&d);
    int exponent = 0, whole = d.seen, too_long = d.dropped;
    if (is_hexadecimal(&d))
        return NULL;
    if (d.p < d.end && *d.p == point) {
        d.p++;
        take_digits(&d);
    }
    int of_fraction = (d.seen - whole) - (d.dropped - too_long);
    if (d.seen == 0)
        return NULL;
    if (d.p < d.end && (*d.p | 0x20) == 'e' && !(d.p = take_exponent(d.p + 1, d.end, &exponent)))
        return NULL;
    number->digits = d.value;
    number->more = d.dropped > 0;
    number->exponent = exponent + too_long - of_fraction;
    return cut && d.p == d.end ? NULL : d.p;
}

const unsigned char *asf__scan_decimal(const unsigned char *p, const unsigned char *end, int point,
                                       struct asf_decimal *number) {
    return scan_decimal(p, end, point, number);
}

static inline __attribute__((always_inline)) bool scan_field(const unsigned char *p, size_t n,
                                                             const unsigned char *begin,
                                                             const unsigned char *end,
                                                             struct asf_decimal *number) {
    if (n > 0 && n <= 32 && has_margins(p, begin, end) && is_usual(p, (int)n, false, number))
        return true;
    return asf__scan_decimal(p, p + n, '.', number) == p + n;
}

bool asf__scan_field(const unsigned char *p, size_t n, const unsigned char *begin, const unsigned char *end,
                     struct asf_decimal *number) {
    return scan_field(p, n, begin, end, number);
}

/* --- to binary ----------------------------------------------------------------- */

struct binary {
    int bits; /* bits of the stored mantissa, without the leading one */
    int least,
        infinite; /* least: the exponent that is stored as 0; infinite: the stored exponent of infinity */
    int tie_first, tie_last; /* powers of ten whose multiples can be halfway between two values */
};

static const struct binary binary64 = {52, -1023, 0x7ff, -4, 23};
static const struct binary binary32 = {23, -127, 0xff, -17, 10};

/* Returns the upper half of w times the power; *low: enough of the lower half to round. */
static inline uint64_t multiply(uint64_t w, int exponent, int bits, uint64_t *low) {
    const uint64_t *power = asf__power(exponent);
    const uint64_t rounds = ~UINT64_C(0) >> (bits + 3);
    unsigned __int128 product = (unsigned __int128)w * power[0];
    if (__builtin_expect(((uint64_t)(product >> 64) & rounds) == rounds, false)) {
        unsigned up =
            exponent >= -27 && exponent < 0; /* rounded up by one, so that exact decimals are not too low */
        product += (uint64_t)(((unsigned __int128)w * (power[1] + up)) >> 64);
    }
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

/* Stores the bits of w * 10^exponent without a sign.  Returns false if the value is zero, subnormal or
 * too large. */
static inline __attribute__((always_inline)) bool store(uint64_t w, int exponent, const struct binary *to,
                                                        uint64_t *stored) {
    if (exponent < ASF__POWER_FIRST || exponent > ASF__POWER_LAST || w == 0)
        return false;
    int zeros = __builtin_clzll(w);
    uint64_t low, high = multiply(w << zeros, exponent, to->bits, &low);
    int top = (int)(high >> 63), shift = top + 64 - to->bits - 3;
    uint64_t mantissa = high >> shift;
    /* floor(log2(10^exponent)) by a multiplication, as in Lemire's paper. */
    int power = ((217706 * exponent) >> 16) + 63 + top - zeros - to->least;
    if (__builtin_expect(low <= 1, false) && exponent >= to->tie_first && exponent <= to->tie_last &&
        (mantissa & 3) == 1 && mantissa << shift == high)
        mantissa--; /* halfway between two values: round to even */
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    /* The mantissa still has its leading one.  The addition adds that bit, and a carry from rounding, to the
     * exponent: therefore `power - 1`. */
    *stored = ((uint64_t)(power - 1) << to->bits) + mantissa;
    return power > 0 && *stored >> to->bits < (uint64_t)to->infinite;
}

/* Whether `digits` and `digits` + 1 give the same value.  Used for a number of which only the first
 * digits are stored: if so, the others make no difference. */
static __attribute__((noinline)) bool same_above(const struct asf_decimal *number, const struct binary *to,
                                                 uint64_t stored) {
    uint64_t next;
    return store(number->digits + 1, number->exponent, to, &next) && next == stored;
}

/* Assumes that the rounding mode is to nearest. */
static inline __attribute__((always_inline)) bool convert(const struct asf_decimal *number,
                                                          const struct binary *to, uint64_t *stored) {
    *stored = 0;
    if (number->digits == 0 && !number->more)
        return true;
    return store(number->digits, number->exponent, to, stored) &&
           (!number->more || same_above(number, to, *stored));
}

static inline __attribute__((always_inline)) bool to_double(const struct asf_decimal *number, double *value) {
    uint64_t stored;
    if (number->exponent == 0 && !number->more && number->digits >> 53 == 0) {
        double whole = (double)(int64_t)number->digits; /* exact */
        memcpy(&stored, &whole, sizeof stored);
    } else if (!convert(number, &binary64, &stored)) {
        return false;
    }
    stored |= (uint64_t)number->negative << 63;
    memcpy(value, &stored, sizeof *value);
    return true;
}

bool asf__decimal_double(const struct asf_decimal *number, double *value) {
    return asf__rounds_to_nearest() && to_double(number, value);
}

bool asf__scan_double_field(const unsigned char *p, size_t n, const unsigned char *begin,
                            const unsigned char *end, double *value) {
    struct asf_decimal number;
    return scan_field(p, n, begin, end, &number) && to_double(&number, value);
}

bool asf__decimal_float(const struct asf_decimal *number, float *value) {
    uint64_t stored;
    if (!asf__rounds_to_nearest() || !convert(number, &binary32, &stored))
        return false;
    uint32_t bits = (uint32_t)stored | (uint32_t)number->negative << 31;
    memcpy(value, &bits, sizeof *value);
    return true;
}

/* Multiplies or divides by a power of ten.  Both operands are exact, so only the result is rounded. */
bool asf__decimal_long_double(const struct asf_decimal *number, long double *value) {
    static const long double tens[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                       1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                       1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    enum { LAST = sizeof tens / sizeof *tens - 1 };
    if (number->more || number->exponent > LAST || number->exponent < -LAST || !asf__long_double_is_exact())
        return false;
    long double exact = (long double)number->digits;
    exact = number->exponent < 0 ? exact / tens[-number->exponent] : exact * tens[number->exponent];
    *value = number->negative ? -exact : exact;
    return true;
}

/* --- many numbers ---------------------------------------------------------------------- */

static __attribute__((noinline)) const unsigned char *scan_any(const unsigned char *p,
                                                               const unsigned char *end, double *to) {
    struct asf_decimal number;
    const unsigned char *behind = p < end ? scan_decimal(p, end, '.', &number) : NULL;
    return behind && behind < end && asf__is_blank(*behind) && to_double(&number, to) ? behind : NULL;
}

/* `number` is local to the loop, so that for usual numbers it stays in registers.  Each number waits only
 * for the end of the previous one, not for its value. */
size_t asf__scan_doubles(const unsigned char **text, const unsigned char *end, double *to, size_t most) {
    const unsigned char *p = *text, *begin = p;
    size_t n = 0;
    if (!asf__rounds_to_nearest())
        return 0;
    for (; n < most; n++) {
        struct asf_decimal number;
        const unsigned char *first = p;
        while (first < end && asf__is_blank(*first))
            first++;
        const unsigned char *behind = scan_usual(first, begin, end, &number);
        if (!behind || !to_double(&number, to + n)) {
            behind = scan_any(first, end, to + n);
            if (!behind)
                break;
        }
        p = behind;
    }
    *text = p;
    return n;
}
