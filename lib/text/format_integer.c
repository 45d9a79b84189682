/* SPDX-License-Identifier: MIT
 *
 * format_integer.c - printf's integers.
 */
#define _GNU_SOURCE
#include "lib/text/format_digits.h"
#include "lib/text/format_plain.h"
#include "lib/text/format_spec.h"
#include "lib/text/of_libc.h"

/* Finds up to eight digits at once: a loop over pairs would end at another iteration for each length,
 * which the processor mispredicts. */
char *asf__plain_large(char *p, uint64_t n) {
    unsigned length = asf__count_digits(n);
    if (n < 100000000) {
        uint64_t text = asf_eight_digits((uint32_t)n) | 0x3030303030303030;
        asf__store(p, (struct asf__short_text){text >> 8 * (8 - length), length});
    } else {
        asf__write_digits(p + length, n);
    }
    return p + length;
}

static uint64_t unsigned_value(const struct asf__spec *s, asf__arguments ap) {
    switch (s->length) {
    case LENGTH_CHAR:
        return (unsigned char)asf__next_of(ap, unsigned);
    case LENGTH_SHORT:
        return (unsigned short)asf__next_of(ap, unsigned);
    case LENGTH_INT:
        return asf__next_of(ap, unsigned);
    default:
        return asf__next_of(ap, unsigned long);
    }
}

static int64_t signed_value(const struct asf__spec *s, asf__arguments ap) {
    switch (s->length) {
    case LENGTH_CHAR:
        return (signed char)asf__next_of(ap, int);
    case LENGTH_SHORT:
        return (short)asf__next_of(ap, int);
    case LENGTH_INT:
        return asf__next_of(ap, int);
    default:
        return asf__next_of(ap, long);
    }
}

/* Writes the digits before `end`, `bits` bits each. */
static void write_bits(char *end, uint64_t n, unsigned bits, bool upper) {
    const char *alphabet = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    do {
        *--end = alphabet[n & ((1u << bits) - 1)];
        n >>= bits;
    } while (n);
}

/* An integer to put: its value, its base and the number of its digits. */
struct number {
    uint64_t value;
    unsigned bits; /* the bits of a digit; 0: decimal */
    bool upper;
    size_t length;
};

static inline void write_number(char *p, const struct number *n) {
    if (n->length == 0)
        return;
    if (n->bits)
        write_bits(p + n->length, n->value, n->bits, n->upper);
    else
        asf__write_digits(p + n->length, n->value);
}

/* Puts a number for which the output has too little room, by way of an array. */
static __attribute__((noinline)) void put_number_apart(struct asf__output *o, const struct asf__spec *s,
                                                       const struct number *n, struct asf__field *f) {
    char digits[64];
    write_number(digits, n);
    f->text = digits;
    f->length = n->length;
    if (ASF__PUTS_GROUPS && n->value == 0) { /* in musl 0 has no digits, only padding */
        f->zeros += f->length;
        f->length = 0;
    }
    asf__put_field(o, s, f);
}

/* Inline in each caller: most of `n` is constant there. */
static inline __attribute__((always_inline)) void put_number(struct asf__output *o, struct asf__spec *s,
                                                             const char *prefix, size_t prefix_length,
                                                             struct number *n) {
    size_t zeros = 0, behind;
    if (s->precision >= 0) {
        s->flags &= ~(unsigned)FLAG_ZERO;
        if (s->precision == 0 && n->value == 0)
            n->length = 0; /* C17 7.21.6.1: zero with precision zero is no characters */
        zeros = (size_t)s->precision > n->length ? (size_t)s->precision - n->length : 0;
    }
    if (s->conversion == 'o' && s->flags & FLAG_ALTERNATE && zeros == 0 && (n->value != 0 || n->length == 0))
        zeros = 1;
    char *p = asf__begin_field(o, s, prefix, prefix_length, zeros, n->length, &behind);
    if (asf__unlikely(!p)) {
        struct asf__field f = {.prefix = prefix, .prefix_length = prefix_length, .zeros = zeros};
        struct number apart = *n; /* a copy, so that `n` can stay in registers */
        put_number_apart(o, s, &apart, &f);
        return;
    }
    write_number(p, n);
    asf__end_field(o, behind);
}

void asf__put_hexadecimal(struct asf__output *o, struct asf__spec *s, uint64_t value, const char *sign) {
    struct number n = {.value = value, .bits = 4, .upper = s->conversion == 'X'};
    n.length = (size_t)(67 - __builtin_clzll(value | 1)) / 4;
    char prefix[3] = {*sign};
    size_t length = *sign != '\0';
    if (s->flags & FLAG_ALTERNATE && value != 0) {
        prefix[length++] = '0';
        prefix[length++] = n.upper ? 'X' : 'x';
    }
    put_number(o, s, prefix, length, &n);
}

void asf__put_octal(struct asf__output *o, struct asf__spec *s, uint64_t value) {
    struct number n = {.value = value, .bits = 3};
    n.length = (size_t)(66 - __builtin_clzll(value | 1)) / 3;
    put_number(o, s, "", 0, &n);
}

void asf__put_decimal(struct asf__output *o, struct asf__spec *s, uint64_t value, const char *sign) {
    struct number n = {.value = value, .length = asf__count_digits(value)};
    put_number(o, s, sign, *sign != '\0', &n);
}

static void put_signed(struct asf__output *o, struct asf__spec *s, asf__arguments ap) {
    int64_t v = signed_value(s, ap);
    asf__put_decimal(o, s, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, asf__sign(s, v < 0));
}

bool asf__put_integer(struct asf__output *o, struct asf__spec *s, asf__arguments ap) {
    switch (s->conversion) {
    case 'd':
    case 'i':
        put_signed(o, s, ap);
        return true;
    case 'u':
        asf__put_decimal(o, s, unsigned_value(s, ap), "");
        return true;
    case 'x':
    case 'X':
        asf__put_hexadecimal(o, s, unsigned_value(s, ap), "");
        return true;
    case 'o':
        asf__put_octal(o, s, unsigned_value(s, ap));
        return true;
    default:
        return false;
    }
}
