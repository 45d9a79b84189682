/* SPDX-License-Identifier: MIT
 *
 * format_decimal.c - binary floating point to decimal.
 *
 * Up to 17 digits: the value is multiplied by a power of ten of 128 bits, which is too small by less than a
 * unit of its last place.  The product is an integer and a fraction.  The number is converted exactly, 19
 * digits at a time, if more digits are wanted, or if the error could move the fraction across a half.
 */
#include "lib/text/format_decimal.h"

#include "lib/sys/machine.h"
#include "lib/text/format_digits.h"
#include "lib/text/powers.h"

typedef unsigned __int128 uint128;

enum { QUICK_DIGITS = 17, GROUP = 19 };
#define GROUP_VALUE UINT64_C(10000000000000000000) /* 10^19 */

const char asf__digit_pairs[201] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637"
    "38394041424344454647484950515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";

const uint64_t asf__tens[20] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    GROUP_VALUE,
};

/* --- a fixed number of places, in 128 bits ---------------------------------------- */

bool asf__fixed_parts(struct asf__binary v, int places, uint64_t *whole, uint64_t *fraction) {
    int shift = -v.exponent;
    *whole = *fraction = 0;
    if (v.mantissa == 0 || shift > 128) /* shift > 128: 2^64 * 10^19 / 2^129 is less than a half */
        return true;
    if (shift < 0 || shift == 128)
        return false;
    uint64_t below = v.mantissa;
    if (shift < 64) {
        *whole = v.mantissa >> shift;
        below -= *whole << shift;
    }
    if (below == 0)
        return true;
    /* n: scaled * 2^-shift; rest: the bits below n, at the top of a word */
    uint128 scaled = (uint128)below * asf__tens[places];
    uint64_t high = (uint64_t)(scaled >> 64), low = (uint64_t)scaled, n, rest, more;
    if (shift < 64) {
        n = high << (64 - shift) | low >> shift;
        rest = low << (64 - shift);
        more = 0;
    } else {
        n = shift == 64 ? high : high >> (shift - 64);
        rest = shift == 64 ? low : high << (128 - shift) | low >> (shift - 64);
        more = shift == 64 ? 0 : low << (128 - shift);
    }
    const uint64_t half = UINT64_C(1) << 63;
    bool odd = (places > 0 ? n : *whole) & 1;
    if (rest > half || (rest == half && (more || odd)))
        n++;
    if (n == asf__tens[places]) {
        n = 0;
        ++*whole;
    }
    *fraction = n;
    return true;
}

/* --- significant digits, by one multiplication ---------------------------------- */

/* floor(log2(10^n)) */
static int binary_exponent(int n) {
    return (n * 217706) >> 16;
}

/* 10^n as bits * 2^exponent.  `exact`: equal; else `bits` is too small by less than 1. */
struct power {
    uint128 bits;
    int exponent;
    bool exact;
};

static struct power power_of_ten(int n) {
    enum { LAST_EXACT = 55 }; /* 5^55 has 128 bits */
    const uint64_t *half = asf__power(n);
    return (struct power){(uint128)half[0] << 64 | half[1], binary_exponent(n) - 127,
                          n >= 0 && n <= LAST_EXACT};
}

/* integer + fraction / (2 * half); `rest` has the lower bits of the fraction. */
struct scaled {
    uint64_t integer, rest;
    uint128 fraction, half;
    bool exact;
};

/* v * 10^n, where the result is less than 2^60. */
static struct scaled scale(struct asf__binary v, int n) {
    struct power p = power_of_ten(n);
    uint128 low = (uint128)v.mantissa * (uint64_t)p.bits;
    uint128 high = (uint128)v.mantissa * (uint64_t)(p.bits >> 64) + (uint64_t)(low >> 64);
    int shift = -(v.exponent + p.exponent + 64);
    uint64_t integer = (uint64_t)(high >> shift);
    return (struct scaled){integer, (uint64_t)low, high - ((uint128)integer << shift),
                           (uint128)1 << (shift - 1), p.exact};
}

/* Rounds the integer.  Returns false if the error is too large to decide. */
static bool rounded(const struct scaled *s, uint64_t *result) {
    *result = s->integer;
    if (s->fraction > s->half) {
        ++*result;
    } else if (s->exact) {
        if (s->fraction == s->half && (s->rest > 0 || s->integer & 1))
            ++*result;
    } else if (s->fraction + 2 > s->half) {
        return false;
    }
    return true;
}

/* Returns floor(log10(v)), or one less.  log2(1 + f) is at least f; log10(2) is a little more than 78913
 * / 2^18, and the subtraction corrects this for negative numbers. */
static int decimal_exponent(struct asf__binary v) {
    int64_t log2 = (int64_t)(v.exponent + 63) * 1024 + (int64_t)((v.mantissa << 1) >> 54);
    return (int)((log2 * 78913 - (1 << 18)) >> 28);
}

/* Finds v = n * 10^(exponent - wanted + 1), where n has `wanted` digits. */
static bool quick_significant(struct asf__binary v, int wanted, uint64_t *n, int *exponent) {
    struct scaled s;
    *exponent = decimal_exponent(v);
    s = scale(v, wanted - 1 - *exponent);
    if (s.integer >= asf__tens[wanted])
        s = scale(v, wanted - 1 - ++*exponent);
    if (!rounded(&s, n))
        return false;
    if (*n == asf__tens[wanted]) {
        *n = asf__tens[wanted - 1];
        ++*exponent;
    }
    return true;
}

/* --- any number of digits, exactly --------------------------------------------- */

/* 1024 bits before the point, or 1137 after it. */
enum { LIMBS = 18 };

/* An integer of `count` limbs, the lowest first.  The limbs below index `low` are zero. */
struct limbs {
    uint64_t limb[LIMBS];
    int low, count;
};

/* Divides by 10^19, and returns the remainder. */
static uint64_t divide_group(struct limbs *n) {
    uint64_t remainder = 0;
    for (int i = n->count - 1; i >= 0; i--)
        n->limb[i] = asf__divide(remainder, n->limb[i], GROUP_VALUE, &remainder);
    while (n->count > 0 && n->limb[n->count - 1] == 0)
        n->count--;
    return remainder;
}

/* Multiplies by 10^19, and returns the part that moves before the point. */
static uint64_t multiply_group(struct limbs *n) {
    uint64_t carry = 0;
    for (int i = n->low; i < n->count; i++) {
        uint128 product = (uint128)n->limb[i] * GROUP_VALUE + carry;
        n->limb[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    while (n->low < n->count && n->limb[n->low] == 0)
        n->low++;
    return carry;
}

/* mantissa * 2^shift */
static void set_limbs(struct limbs *n, uint64_t mantissa, int shift) {
    int i = shift / 64, bits = shift % 64;
    memset(n, 0, sizeof *n);
    n->limb[i] = mantissa << bits;
    n->low = i;
    n->count = i + 1;
    if (bits > 0 && mantissa >> (64 - bits))
        n->limb[n->count++] = mantissa >> (64 - bits);
}

static char *write_integer(char *p, struct asf__binary v) {
    struct limbs n;
    uint64_t groups[LIMBS];
    int count = 0;
    if (v.exponent < 0)
        set_limbs(&n, v.exponent > -64 ? v.mantissa >> -v.exponent : 0, 0);
    else
        set_limbs(&n, v.mantissa, v.exponent);
    do {
        groups[count++] = divide_group(&n);
    } while (n.count > 0);
    int first = (int)asf__count_digits(groups[--count]);
    asf__write_digits(p += first, groups[count]);
    while (count > 0) {
        asf__write_places(p, groups[--count], GROUP);
        p += GROUP;
    }
    return p;
}

static void set_fraction(struct limbs *n, struct asf__binary v) {
    int behind = -v.exponent; /* bits after the point */
    n->low = n->count = 0;
    if (behind <= 0)
        return;
    uint64_t mantissa = behind < 64 ? v.mantissa & ((UINT64_C(1) << behind) - 1) : v.mantissa;
    if (mantissa == 0)
        return;
    set_limbs(n, mantissa, -behind & 63);
    n->count = (behind + 63) / 64;
}

/* Rounds to `keep` digits.  `more`: nonzero digits follow the last one. */
static void round_digits(struct asf__decimal *d, int keep, bool more) {
    char *cut = d->digits + keep, next = *cut, *end = d->digits + d->count;
    for (char *p = cut + 1; p < end && !more; p++)
        more = *p != '0';
    d->count = keep;
    if (next < '5' || (next == '5' && !more && !(cut[-1] & 1)))
        return;
    while (cut > d->digits && cut[-1] == '9')
        *--cut = '0';
    if (cut > d->digits) {
        cut[-1]++;
    } else {
        *--d->digits = '1';
        d->count++;
        d->point++;
    }
}

/* Removes leading zeros, which are not significant in a number less than 1. */
static void skip_zeros(struct asf__decimal *d) {
    while (d->count > 0 && *d->digits == '0') {
        d->digits++;
        d->count--;
        d->point--;
    }
}

/* Appends the next 19 digits.  Zeros before the first significant digit, of which a small number has
 * many, only move the point. */
static void append_group(struct asf__decimal *d, struct limbs *fraction, bool significant) {
    uint64_t group = multiply_group(fraction);
    if (significant && d->count == 0 && group == 0) {
        d->point -= GROUP;
        return;
    }
    asf__write_places(d->digits + d->count, group, GROUP);
    d->count += GROUP;
    if (significant)
        skip_zeros(d);
}

static __attribute__((noinline)) struct asf__decimal exact(struct asf__binary v, bool significant, int wanted,
                                                           char *room) {
    struct limbs fraction;
    struct asf__decimal d = {.digits = room + ASF__DIGITS_MARGIN};
    d.point = d.count = (int)(write_integer(d.digits, v) - d.digits);
    set_fraction(&fraction, v);
    if (significant)
        skip_zeros(&d);
    for (;;) {
        /* the sum is a long, since wanted may be INT_MAX */
        bool enough = d.count > (long)wanted + (significant ? 0 : d.point);
        if (enough || fraction.low == fraction.count)
            break;
        append_group(&d, &fraction, significant);
    }
    long keep = (long)wanted + (significant ? 0 : d.point);
    if (d.count > keep)
        round_digits(&d, (int)keep, fraction.low < fraction.count);
    if (significant && d.count > wanted)
        d.count = wanted; /* for example, 999 has become 1000 */
    return d;
}

struct asf__decimal asf__decimal_fixed(struct asf__binary v, int places, char room[ASF__DIGITS_ROOM]) {
    return exact(v, false, places, room);
}

struct asf__decimal asf__decimal_significant(struct asf__binary v, int wanted, char room[ASF__DIGITS_ROOM]) {
    uint64_t n;
    int exponent;
    if (v.mantissa == 0) {
        room[ASF__DIGITS_MARGIN] = '0';
        return (struct asf__decimal){room + ASF__DIGITS_MARGIN, 1, 1};
    }
    if (wanted > QUICK_DIGITS || !quick_significant(v, wanted, &n, &exponent))
        return exact(v, true, wanted, room);
    asf__write_digits(room + ASF__DIGITS_MARGIN + wanted, n);
    return (struct asf__decimal){room + ASF__DIGITS_MARGIN, wanted, exponent + 1};
}
