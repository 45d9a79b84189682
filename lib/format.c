/* SPDX-License-Identifier: MIT
 *
 * format.c - printf's integers, characters, strings and %f.  Everything rare,
 * and what the locale or the rounding mode makes different, is refused and left
 * to libc.
 * Layer: lib.  May include: lib.
 */
#define _GNU_SOURCE
#include "lib/format.h"

#include <langinfo.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

bool asf__format_custom;

/* The longest number with its sign and prefix, and the longest padding that is
 * not left to libc. */
enum { NUMBER = 26, PADDING = 1024 };

enum { LEFT = 1, ZERO = 2, PLUS = 4, SPACE = 8, ALTERNATE = 16 };

enum length { LENGTH_HH, LENGTH_H, LENGTH_INT, LENGTH_LONG };

struct spec {
    unsigned flags;
    int width;
    int precision; /* -1: none */
    enum length length;
    char conversion;
};

struct output {
    char *p, *end;
};

static const char digits[] = "0001020304050607080910111213141516171819202122232425262728293031323334353637"
                             "38394041424344454647484950515253545556575859606162636465666768697071727374"
                             "7576777879808182838485868788899091929394959697989900";

/* Decimal digits, written backwards from `end`; returns where they start. */
static char *decimal(char *end, uint64_t n) {
    while (n >= 100) {
        unsigned pair = (unsigned)(n % 100) * 2;
        n /= 100;
        *--end = digits[pair + 1];
        *--end = digits[pair];
    }
    if (n >= 10) {
        *--end = digits[n * 2 + 1];
        *--end = digits[n * 2];
    } else {
        *--end = (char)('0' + n);
    }
    return end;
}

static char *power_of_two(char *end, uint64_t n, unsigned shift, const char *alphabet) {
    do {
        *--end = alphabet[n & ((1u << shift) - 1)];
        n >>= shift;
    } while (n);
    return end;
}

static bool fill(struct output *o, char c, long n) {
    if (n <= 0)
        return true;
    if (o->end - o->p < n)
        return false;
    memset(o->p, c, (size_t)n);
    o->p += n;
    return true;
}

static bool put(struct output *o, const char *text, size_t n) {
    if ((size_t)(o->end - o->p) < n)
        return false;
    memcpy(o->p, text, n);
    o->p += n;
    return true;
}

/* Blanks, prefix, zeros, text, blanks: the shape of every conversion. */
static bool put_field(struct output *o, const struct spec *s, const char *prefix, long zeros,
                      const char *text, size_t n) {
    size_t plen = strlen(prefix);
    long blanks = s->width - (long)(plen + n) - zeros;
    if (s->flags & ZERO && !(s->flags & LEFT) && s->precision < 0 && blanks > 0) {
        zeros += blanks;
        blanks = 0;
    }
    return (s->flags & LEFT || fill(o, ' ', blanks)) && put(o, prefix, plen) && fill(o, '0', zeros) &&
           put(o, text, n) && (!(s->flags & LEFT) || fill(o, ' ', blanks));
}

static uint64_t unsigned_value(const struct spec *s, va_list *ap) {
    switch (s->length) {
    case LENGTH_HH:
        return (unsigned char)va_arg(*ap, unsigned);
    case LENGTH_H:
        return (unsigned short)va_arg(*ap, unsigned);
    case LENGTH_INT:
        return va_arg(*ap, unsigned);
    case LENGTH_LONG:
        break;
    }
    return va_arg(*ap, unsigned long);
}

static int64_t signed_value(const struct spec *s, va_list *ap) {
    switch (s->length) {
    case LENGTH_HH:
        return (signed char)va_arg(*ap, int);
    case LENGTH_H:
        return (short)va_arg(*ap, int);
    case LENGTH_INT:
        return va_arg(*ap, int);
    case LENGTH_LONG:
        break;
    }
    return va_arg(*ap, long);
}

static bool put_number(struct output *o, const struct spec *s, const char *prefix, const char *start,
                       const char *end) {
    long n = end - start, zeros = s->precision > n ? s->precision - n : 0;
    if (s->precision == 0 && n == 1 && *start == '0')
        n = 0; /* C23 7.23.6.1: zero with precision zero is no characters */
    if (s->flags & ALTERNATE && s->conversion == 'o' && zeros == 0 && (n == 0 || *start != '0'))
        zeros = 1;
    return put_field(o, s, prefix, zeros, start, (size_t)n);
}

static bool put_signed(struct output *o, const struct spec *s, va_list *ap) {
    char number[NUMBER], *end = number + sizeof number;
    int64_t v = signed_value(s, ap);
    const char *sign = v < 0 ? "-" : s->flags & PLUS ? "+" : s->flags & SPACE ? " " : "";
    char *start = decimal(end, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    return put_number(o, s, sign, start, end);
}

static bool put_unsigned(struct output *o, const struct spec *s, va_list *ap) {
    char number[NUMBER], *end = number + sizeof number, *start;
    uint64_t v = unsigned_value(s, ap);
    const char *prefix = "";
    if (s->conversion == 'u') {
        start = decimal(end, v);
    } else if (s->conversion == 'o') {
        start = power_of_two(end, v, 3, "01234567");
    } else {
        bool upper = s->conversion == 'X';
        start = power_of_two(end, v, 4, upper ? "0123456789ABCDEF" : "0123456789abcdef");
        if (s->flags & ALTERNATE && v != 0)
            prefix = upper ? "0X" : "0x";
    }
    return put_number(o, s, prefix, start, end);
}

static bool put_string(struct output *o, const struct spec *s, va_list *ap) {
    struct spec plain = *s;
    const char *text = va_arg(*ap, const char *);
    if (!text) /* as glibc: cut short it would mislead */
        text = s->precision < 0 || s->precision >= 6 ? "(null)" : "";
    size_t n = s->precision < 0 ? strlen(text) : strnlen(text, (size_t)s->precision);
    plain.flags &= (unsigned)~ZERO;
    return put_field(o, &plain, "", 0, text, n);
}

static bool put_character(struct output *o, const struct spec *s, va_list *ap) {
    struct spec plain = *s;
    char c = (char)va_arg(*ap, int);
    plain.flags &= (unsigned)~ZERO;
    return put_field(o, &plain, "", 0, &c, 1);
}

/* --- %f ------------------------------------------------------------------------ */

enum { MANTISSA = 52, BIAS = 1075, PLACES = 9 };

/* |v| * 10^places, rounded half to even on the exact value as libc rounds it in
 * the default mode; false when that does not fit 64 bits. */
static bool scaled(uint64_t bits, int places, uint64_t *result) {
    static const uint32_t powers[] = {1,      10,      100,      1000,      10000,
                                      100000, 1000000, 10000000, 100000000, 1000000000};
    unsigned exponent = (unsigned)(bits >> MANTISSA) & 0x7ff;
    uint64_t mantissa = bits & ((UINT64_C(1) << MANTISSA) - 1);
    if (exponent == 0x7ff)
        return false;
    if (exponent)
        mantissa |= UINT64_C(1) << MANTISSA;
    int shift = BIAS - (exponent ? (int)exponent : 1);
    unsigned __int128 n = (unsigned __int128)mantissa * powers[places];
    if (shift <= 0 || shift > 120) { /* an integer beyond 2^52, or less than half a unit */
        *result = 0;
        return shift > 120;
    }
    unsigned __int128 whole = n >> shift, rest = n - (whole << shift),
                      half = (unsigned __int128)1 << (shift - 1);
    if (rest > half || (rest == half && whole & 1))
        whole++;
    *result = (uint64_t)whole;
    return whole >> 64 == 0;
}

static bool plain_environment(void) {
    const char *point = nl_langinfo(RADIXCHAR);
    return point[0] == '.' && point[1] == '\0' && (__builtin_ia32_stmxcsr() & 0x6000) == 0;
}

static bool put_fixed(struct output *o, const struct spec *s, va_list *ap) {
    char text[NUMBER + PLACES], *end = text + sizeof text, *start = end;
    int places = s->precision < 0 ? 6 : s->precision;
    double v = va_arg(*ap, double);
    uint64_t bits, n;
    memcpy(&bits, &v, sizeof bits);
    if (places > PLACES || s->flags & ALTERNATE || !plain_environment() || !scaled(bits, places, &n))
        return false;
    for (int i = 0; i < places; i++) {
        *--start = (char)('0' + n % 10);
        n /= 10;
    }
    if (places > 0)
        *--start = '.';
    start = decimal(start, n);
    struct spec field = *s;
    field.precision = -1;
    const char *sign = bits >> 63 ? "-" : s->flags & PLUS ? "+" : s->flags & SPACE ? " " : "";
    return put_field(o, &field, sign, 0, start, (size_t)(end - start));
}

static bool put_conversion(struct output *o, const struct spec *s, va_list *ap) {
    switch (s->conversion) {
    case 'd':
    case 'i':
        return put_signed(o, s, ap);
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        return put_unsigned(o, s, ap);
    case 's':
        return s->length == LENGTH_INT && put_string(o, s, ap);
    case 'c':
        return s->length == LENGTH_INT && put_character(o, s, ap);
    case 'f':
        return s->length == LENGTH_INT && put_fixed(o, s, ap);
    default:
        return false;
    }
}

/* --- the conversion specification ------------------------------------------- */

static const char *parse_flags(const char *f, struct spec *s) {
    for (;; f++) {
        switch (*f) {
        case '-':
            s->flags |= LEFT;
            break;
        case '0':
            s->flags |= ZERO;
            break;
        case '+':
            s->flags |= PLUS;
            break;
        case ' ':
            s->flags |= SPACE;
            break;
        case '#':
            s->flags |= ALTERNATE;
            break;
        default:
            return f;
        }
    }
}

/* A number or an asterisk; NULL when it is too large for us. */
static const char *parse_number(const char *f, int *n, va_list *ap) {
    *n = 0;
    if (*f == '*') {
        *n = va_arg(*ap, int);
        return *n > PADDING || *n < -PADDING ? NULL : f + 1;
    }
    for (; *f >= '0' && *f <= '9'; f++) {
        *n = *n * 10 + (*f - '0');
        if (*n > PADDING)
            return NULL;
    }
    return f;
}

static const char *parse_length(const char *f, struct spec *s) {
    s->length = LENGTH_INT;
    if (*f == 'h') {
        s->length = f[1] == 'h' ? LENGTH_HH : LENGTH_H;
        return f + (f[1] == 'h' ? 2 : 1);
    }
    if (*f == 'l' || *f == 'z' || *f == 'j' || *f == 't') {
        s->length = LENGTH_LONG;
        return f + (f[0] == 'l' && f[1] == 'l' ? 2 : 1);
    }
    return f;
}

/* What follows the percent sign; NULL when it is left to libc. */
static const char *parse(const char *f, struct spec *s, va_list *ap) {
    *s = (struct spec){.precision = -1, .length = LENGTH_INT};
    f = parse_flags(f, s);
    f = parse_number(f, &s->width, ap);
    if (!f)
        return NULL;
    if (s->width < 0) {
        s->flags |= LEFT;
        s->width = -s->width;
    }
    if (*f == '.') {
        f = parse_number(f + 1, &s->precision, ap);
        if (!f)
            return NULL;
        if (s->precision < 0)
            s->precision = -1;
    }
    f = parse_length(f, s);
    s->conversion = *f;
    return f + (*f != '\0');
}

/* The commonest specifications have nothing between the percent sign and the
 * letter. */
static const char *convert(struct output *o, const char *f, va_list *ap) {
    static const struct spec plain = {.precision = -1, .length = LENGTH_INT};
    struct spec s;
    if (*f == '%')
        return put(o, "%", 1) ? f + 1 : NULL;
    if (*f >= 'c') {
        s = plain;
        s.conversion = *f;
        if (*f == 'd' || *f == 's' || *f == 'c' || *f == 'u' || *f == 'x')
            return put_conversion(o, &s, ap) ? f + 1 : NULL;
    }
    f = parse(f, &s, ap);
    return f && put_conversion(o, &s, ap) ? f : NULL;
}

long asf__format(char *p, size_t room, const char *format, va_list ap) {
    struct output o = {p, p + room};
    va_list args;
    if (asf__format_custom)
        return -1;
    va_copy(args, ap);
    while (format && *format) {
        if (*format == '%') {
            format = convert(&o, format + 1, &args);
        } else if (o.p < o.end) {
            *o.p++ = *format++;
        } else {
            format = NULL;
        }
    }
    va_end(args);
    return format ? o.p - p : -1;
}
