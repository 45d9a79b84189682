/* SPDX-License-Identifier: MIT
 *
 * format_float.c - printf's %f, %e and %g, of double and long double, and %a of
 * double.
 */
#define _GNU_SOURCE
#include <float.h>
#include <langinfo.h>
#include <string.h>

#include "lib/text/format_decimal.h"
#include "lib/text/format_digits.h"
#include "lib/text/format_spec.h"
#include "lib/text/of_libc.h"

enum { DOUBLE_BITS = 52, DOUBLE_BIAS = 1075, LONG_DOUBLE_BIAS = 16446, QUICK_PLACES = 19 };

struct real {
    struct asf__binary value;
    bool negative;
    const char *word; /* "inf" or "nan"; NULL: a number */
};

static struct asf__binary normalised(uint64_t mantissa, int exponent) {
    int shift = mantissa ? __builtin_clzll(mantissa) : 0;
    return (struct asf__binary){mantissa << shift, exponent - shift};
}

static struct real from_double(double v) {
    uint64_t bits, mantissa;
    memcpy(&bits, &v, sizeof bits);
    mantissa = bits & ((UINT64_C(1) << DOUBLE_BITS) - 1);
    int exponent = (int)(bits >> DOUBLE_BITS) & 0x7ff;
    struct real r = {.negative = bits >> 63};
    if (exponent == 0x7ff)
        r.word = mantissa ? "nan" : "inf";
    else if (exponent == 0)
        r.value = normalised(mantissa, 1 - DOUBLE_BIAS);
    else
        r.value =
            (struct asf__binary){(mantissa | UINT64_C(1) << DOUBLE_BITS) << 11, exponent - DOUBLE_BIAS - 11};
    return r;
}

/* Splits a long double into 64 bits of its mantissa, sign and exponent.  Returns false if its mantissa
 * has more bits. */
#if __LDBL_MANT_DIG__ == 64 /* the x87 format of x86-64 */
static bool long_double_parts(long double v, uint64_t *mantissa, unsigned *exponent) {
    *exponent = 0;
    memcpy(mantissa, &v, sizeof *mantissa);
    memcpy(exponent, (const char *)&v + sizeof *mantissa, 2);
    return true;
}
#else /* binary128: the leading 1 is not stored */
static bool long_double_parts(long double v, uint64_t *mantissa, unsigned *exponent) {
    enum { MORE = 49 };
    unsigned __int128 bits;
    memcpy(&bits, &v, sizeof bits);
    *exponent = (unsigned)(bits >> 112);
    *mantissa = (uint64_t)(bits >> MORE) | (uint64_t)((*exponent & 0x7fff) > 0) << 63;
    return !((uint64_t)bits & ((UINT64_C(1) << MORE) - 1));
}
#endif

/* Returns false for values beyond the range of doubles, and for bit patterns that no operation of the
 * processor yields. */
static bool from_long_double(long double v, struct real *r) {
    uint64_t mantissa;
    unsigned top;
    if (!long_double_parts(v, &mantissa, &top))
        return false;
    int exponent = top & 0x7fff;
    *r = (struct real){.negative = top >> 15};
    if (mantissa == 0 && exponent == 0)
        return true;
    if (!(mantissa >> 63))
        return false;
    if (exponent == 0x7fff)
        r->word = mantissa << 1 ? "nan" : "inf";
    r->value = (struct asf__binary){mantissa, exponent - LONG_DOUBLE_BIAS};
    return r->word || (r->value.exponent >= ASF__EXPONENT_MIN && r->value.exponent <= ASF__EXPONENT_MAX);
}

/* Returns the decimal point; 0 if it is longer than a byte, or the rounding mode is not to nearest. */
static char plain_point(void) {
    const char *point = nl_langinfo(RADIXCHAR);
    if (!asf__rounds_to_nearest() || point[0] == '\0' || point[1] != '\0')
        return '\0';
    return point[0];
}

static void put_word(struct asf__output *o, const struct asf__spec *s, struct asf__field *f,
                     const char *word) {
    static const char upper[2][4] = {"INF", "NAN"};
    struct asf__spec plain = *s;
    plain.flags &= ~(unsigned)FLAG_ZERO;
    f->text = s->conversion >= 'a' ? word : upper[*word == 'n'];
    f->length = 3;
    asf__put_field(o, &plain, f);
}

/* --- %f ------------------------------------------------------------------------ */

static void put_short_fixed(struct asf__output *o, const struct asf__spec *s, struct asf__field *f,
                            uint64_t whole, uint64_t fraction, char point) {
    char apart[48], *p;
    size_t places = (size_t)s->precision, before = asf__count_digits(whole), behind;
    size_t points = places > 0 || s->flags & FLAG_ALTERNATE;
    f->whole = before;
    f->length = before + points + places;
    p = asf__begin_field(o, s, f->prefix, f->prefix_length, 0, f->length, &behind);
    if (!p)
        f->text = p = apart;
    asf__write_digits(p + before, whole);
    if (points)
        p[before] = point;
    asf__write_places(p + before + points, fraction, (int)places);
    if (p == apart)
        asf__put_field(o, s, f);
    else
        asf__end_field(o, behind);
}

/* Puts the point after the first `before` digits, which move into the margin. */
static void set_point(struct asf__field *f, struct asf__decimal *d, int before, char point) {
    memmove(d->digits - 1, d->digits, (size_t)before);
    d->digits[before - 1] = point;
    f->text = d->digits - 1;
    f->length = (size_t)d->count + 1;
}

static __attribute__((noinline)) void put_long_fixed(struct asf__output *o, const struct asf__spec *s,
                                                     struct asf__field *f, struct asf__binary v, char point) {
    char room[ASF__DIGITS_ROOM];
    struct asf__decimal d = asf__decimal_fixed(v, s->precision, room);
    f->whole = (size_t)d.point;
    f->text = d.digits;
    f->length = (size_t)d.count;
    f->zeros_after = (size_t)d.point + (size_t)s->precision - (size_t)d.count;
    if (s->precision > 0 || s->flags & FLAG_ALTERNATE)
        set_point(f, &d, d.point, point);
    asf__put_field(o, s, f);
}

static void put_fixed(struct asf__output *o, const struct asf__spec *s, struct asf__field *f,
                      struct asf__binary v, char point) {
    uint64_t whole, fraction;
    if (s->precision <= QUICK_PLACES && asf__fixed_parts(v, s->precision, &whole, &fraction))
        put_short_fixed(o, s, f, whole, fraction, point);
    else
        put_long_fixed(o, s, f, v, point);
}

/* --- %e and %g ---------------------------------------------------------------------- */

/* Writes an exponent such as e+05; returns its length. */
static size_t write_exponent(char *p, char letter, int exponent) {
    unsigned n = (unsigned)(exponent < 0 ? -exponent : exponent);
    p[0] = letter;
    p[1] = exponent < 0 ? '-' : '+';
    if (n < 100) {
        asf__write_pair(p + 2, n);
        return 4;
    }
    asf__write_places(p + 2, n, 3);
    return 5;
}

/* Returns how many digits follow the first one, whose exponent is given, in its group of nine: `group` of
 * struct asf__field. */
static size_t digits_behind_first(int exponent) {
    enum {
        DIGITS = 9,
        MULTIPLE = 9999
    }; /* MULTIPLE: a multiple of DIGITS that is larger than any exponent */
    return (size_t)(exponent + MULTIPLE) % DIGITS;
}

/* %e: puts `wanted` digits in all, with zeros after the digits of d. */
static void put_scientific(struct asf__output *o, const struct asf__spec *s, struct asf__field *f,
                           struct asf__decimal *d, long wanted, char point) {
    char suffix[8];
    f->whole = 1;
    f->group = digits_behind_first(d->point - 1);
    f->text = d->digits;
    f->length = (size_t)d->count;
    f->zeros_after = (size_t)(wanted - d->count);
    if (wanted > 1 || s->flags & FLAG_ALTERNATE)
        set_point(f, d, 1, point);
    f->suffix = suffix;
    f->suffix_length = write_exponent(suffix, s->conversion >= 'a' ? 'e' : 'E', d->point - 1);
    asf__put_field(o, s, f);
}

/* Puts 0.000ddd, with at most three zeros before the digits. */
static void lead_with_zeros(struct asf__field *f, struct asf__decimal *d, char point) {
    size_t zeros = (size_t)-d->point;
    char *p = d->digits - zeros - 2;
    memset(p, '0', zeros + 2);
    p[1] = point;
    f->whole = 1;
    f->text = p;
    f->length = (size_t)d->count + zeros + 2;
}

/* %g with a small exponent: puts the number as %f does, with `wanted` digits in all. */
static void put_positional(struct asf__output *o, const struct asf__spec *s, struct asf__field *f,
                           struct asf__decimal *d, long wanted, char point) {
    f->whole = (size_t)d->point;
    f->text = d->digits;
    f->length = (size_t)d->count;
    f->zeros_after = (size_t)(wanted - d->count);
    if (d->point <= 0)
        lead_with_zeros(f, d, point);
    else if (wanted > d->point || s->flags & FLAG_ALTERNATE)
        set_point(f, d, d->point, point);
    asf__put_field(o, s, f);
}

/* Whether glibc omits zeros.  glibc chooses the form before it rounds.  If rounding makes a number too
 * long for the form without exponent (%#g of 999999.5), glibc omits the zeros that # asks for.  Not
 * inline: every %g would need this function's stack. */
static __attribute__((noinline)) bool zeros_are_lost(struct asf__binary v, const struct asf__decimal *d,
                                                     int wanted) {
    char room[ASF__DIGITS_ROOM];
    if (d->point != wanted + 1 || *d->digits != '1')
        return false;
    return asf__decimal_fixed(v, -ASF__EXPONENT_MIN, room).point == wanted;
}

static void put_shorter(struct asf__output *o, const struct asf__spec *s, struct asf__field *f,
                        struct asf__binary v, struct asf__decimal *d, int wanted, char point) {
    bool scientific = d->point < -3 || d->point > wanted;
    long shown = wanted;
    if (!(s->flags & FLAG_ALTERNATE)) {
        int least = !scientific && d->point > 1 ? d->point : 1;
        while (d->count > least && d->digits[d->count - 1] == '0')
            d->count--;
        shown = d->count;
    } else if (ASF__LOSES_ZEROS && scientific && zeros_are_lost(v, d, wanted)) {
        shown = d->count = 1;
    }
    if (scientific)
        put_scientific(o, s, f, d, shown, point);
    else
        put_positional(o, s, f, d, shown, point);
}

static __attribute__((noinline)) void put_significant(struct asf__output *o, const struct asf__spec *s,
                                                      struct asf__field *f, struct asf__binary v,
                                                      char point) {
    char room[ASF__DIGITS_ROOM];
    if ((s->conversion | 0x20) == 'e') {
        long wanted = (long)s->precision + 1;
        struct asf__decimal d =
            asf__decimal_significant(v, wanted > INT32_MAX ? INT32_MAX : (int)wanted, room);
        put_scientific(o, s, f, &d, wanted, point);
    } else {
        int wanted = s->precision > 0 ? s->precision : 1;
        struct asf__decimal d = asf__decimal_significant(v, wanted, room);
        put_shorter(o, s, f, v, &d, wanted, point);
    }
}

/* --- %a ------------------------------------------------------------------------- */

enum { NIBBLES = DOUBLE_BITS / 4 };

/* Rounds n to `places` hexadecimal digits after the point, and keeps the digit before it. */
static uint64_t round_nibbles(uint64_t n, int places) {
    if (places >= NIBBLES)
        return n;
    int shift = 4 * (NIBBLES - places);
    uint64_t half = UINT64_C(1) << (shift - 1), rest = n & (2 * half - 1);
    n >>= shift;
    return n + (rest > half || (rest == half && n & 1));
}

static int shortest_nibbles(uint64_t n) {
    return NIBBLES - __builtin_ctzll(n | UINT64_C(1) << DOUBLE_BITS) / 4;
}

/* Writes the last `places` digits of n; always stores sixteen bytes. */
static void write_nibbles(char *p, uint64_t n, int places, bool upper) {
    n = places > 0 ? n << (64 - 4 * places) : 0;
    uint64_t first = asf__short_hexadecimal((uint32_t)(n >> 32), upper, 8).text;
    uint64_t second = asf__short_hexadecimal((uint32_t)n, upper, 8).text;
    memcpy(p, &first, 8);
    memcpy(p + 8, &second, 8);
}

static void put_hexadecimal(struct asf__output *o, const struct asf__spec *s, struct asf__field *f, double v,
                            char point) {
    bool upper = s->conversion == 'A';
    uint64_t n;
    memcpy(&n, &v, sizeof n);
    int exponent = (int)(n >> DOUBLE_BITS) & 0x7ff;
    n = (n & ((UINT64_C(1) << DOUBLE_BITS) - 1)) | (uint64_t)(exponent > 0) << DOUBLE_BITS;
    exponent = n == 0 ? 0 : (exponent > 0 ? exponent : 1) - 1023;
    int places = s->precision < 0 ? shortest_nibbles(n) : s->precision > NIBBLES ? NIBBLES : s->precision;
    n = round_nibbles(n, places);
    char text[2 + 16], suffix[8], prefix[4], *end = suffix + sizeof suffix;
    f->length = (size_t)places + (places > 0 || s->precision > 0 || s->flags & FLAG_ALTERNATE ? 2 : 1);
    write_nibbles(text + 2, n, places, upper);
    text[0] = (char)('0' + (n >> 4 * places));
    text[1] = point;
    f->text = text;
    f->zeros_after = s->precision > places ? (size_t)(s->precision - places) : 0;
    for (; ASF__PUTS_GROUPS && f->length > 2 && text[f->length - 1] == '0'; f->length--)
        f->zeros_after++;
    f->suffix = asf__write_digits(end, (uint64_t)(exponent < 0 ? -exponent : exponent)) - 2;
    memcpy(suffix + (f->suffix - suffix), exponent < 0 ? (upper ? "P-" : "p-") : (upper ? "P+" : "p+"), 2);
    f->suffix_length = (size_t)(end - f->suffix);
    prefix[0] = *f->prefix;
    memcpy(prefix + f->prefix_length, upper ? "0X" : "0x", 2);
    f->prefix = prefix;
    f->prefix_length += 2;
    asf__put_field(o, s, f);
}

/* --- all conversions ------------------------------------------------------------------ */

static void put_finite(struct asf__output *o, struct asf__spec *s, struct asf__field *f, struct asf__binary v,
                       char point) {
    f->not_zero = v.mantissa != 0;
    if (s->precision < 0)
        s->precision = 6;
    if ((s->conversion | 0x20) == 'f')
        put_fixed(o, s, f, v, point);
    else
        put_significant(o, s, f, v, point);
}

void asf__put_real(struct asf__output *o, char conversion, int precision, double value) {
    struct asf__spec s = {.precision = precision, .conversion = conversion};
    struct real r = from_double(value);
    struct asf__field f = {.prefix = asf__sign(&s, r.negative), .prefix_length = r.negative, .group = 9};
    if (r.word)
        put_word(o, &s, &f, r.word);
    else
        put_finite(o, &s, &f, r.value, '.');
}

bool asf__put_float(struct asf__output *o, struct asf__spec *s, asf__arguments ap) {
    struct real r;
    double v = 0;
    char point = plain_point();
    bool hexadecimal = (s->conversion | 0x20) == 'a';
    if (!point || s->length == LENGTH_CHAR || s->length == LENGTH_SHORT || s->length == LENGTH_WORD)
        return false;
    if (s->length == LENGTH_LONG_LONG) {
        if (hexadecimal || !from_long_double(asf__next_of(ap, long double), &r))
            return false;
    } else {
        v = asf__next_of(ap, double);
        r = from_double(v);
    }
    if (!ASF__SCALES_BY_EXPONENT && hexadecimal && v != 0 && v < DBL_MIN && v > -DBL_MIN)
        return false;
    struct asf__field f = {.prefix = asf__sign(s, r.negative), .group = 9};
    f.prefix_length = *f.prefix != '\0';
    if (r.word)
        put_word(o, s, &f, r.word);
    else if (hexadecimal)
        put_hexadecimal(o, s, &f, v, point);
    else
        put_finite(o, s, &f, r.value, point);
    return true;
}
