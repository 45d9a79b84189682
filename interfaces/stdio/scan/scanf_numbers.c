/* SPDX-License-Identifier: MIT
 *
 * scanf_numbers.c - scanf's integers and floating-point numbers.  An ordinary number that is wholly in the
 * window is read at once, any other byte by byte, as in glibc.
 */
#include "interfaces/stdio/scan/scanf_engine.h"

#ifndef ASF_TEXT_BY_LIBC
#include <stdlib.h>

#include "lib/text/scan_number.h"

typedef const unsigned char *text;

/* Returns the limit of a number at p: the end of its width, or of the window if that comes first. */
static inline text width_limit(text p, text end, int width) {
    return width > 0 && width < end - p ? p + width : end;
}

/* The value of a hexadecimal digit; 16 for other bytes. */
static inline unsigned digit_value(unsigned char c) {
    enum { NONE = 16 };
    static const unsigned char values[UCHAR_MAX + 1] = {
        ['0'] = NONE ^ 0,  ['1'] = NONE ^ 1,  ['2'] = NONE ^ 2,  ['3'] = NONE ^ 3,  ['4'] = NONE ^ 4,
        ['5'] = NONE ^ 5,  ['6'] = NONE ^ 6,  ['7'] = NONE ^ 7,  ['8'] = NONE ^ 8,  ['9'] = NONE ^ 9,
        ['a'] = NONE ^ 10, ['b'] = NONE ^ 11, ['c'] = NONE ^ 12, ['d'] = NONE ^ 13, ['e'] = NONE ^ 14,
        ['f'] = NONE ^ 15, ['A'] = NONE ^ 10, ['B'] = NONE ^ 11, ['C'] = NONE ^ 12, ['D'] = NONE ^ 13,
        ['E'] = NONE ^ 14, ['F'] = NONE ^ 15,
    };
    return values[c] ^ (unsigned)NONE;
}

static inline int lower(int c) {
    return c | 0x20;
}

/* musl sets EINVAL if the input is not a number: no digits, or only part of a word such as "infinity". */
static void set_invalid_errno(void) {
    if (ASF_LIBC(scan_invalid))
        errno = EINVAL;
}

/* --- integers ------------------------------------------------------------------ */

static inline text decimal_digits(text p, text limit, uint64_t *value) {
    uint64_t v = 0;
    for (; p < limit && (unsigned)(*p - '0') < 10; p++)
        v = v * 10 + (uint64_t)(*p - '0');
    *value = v;
    return p;
}

static inline text hexadecimal_digits(text p, text limit, uint64_t *value) {
    uint64_t v = 0;
    for (unsigned digit; p < limit && (digit = digit_value(*p)) < 16; p++)
        v = v * 16 + digit;
    *value = v;
    return p;
}

/* Reads an integer that has a digit, too few digits to overflow, and the byte after it in the window:
 * glibc looks at that byte even if the width has ended. */
static inline bool plain_integer(struct asf_scan *s, const struct asf_directive *d, uint64_t *value) {
    enum { DECIMAL = 18, HEXADECIMAL = 15 };
    text p = s->at, end = asf__scan_end(s), limit = width_limit(p, end, d->width);
    bool negative = p < limit && *p == '-', hexadecimal = d->item.base == 16;
    if (p < limit && (*p == '-' || *p == '+'))
        p++;
    if (p < limit && *p == '0' && (d->item.base == 0 || d->item.base == 16)) {
        if (limit - p < 2 || lower(p[1]) != 'x')
            return false;
        hexadecimal = true;
        p += 2;
    }
    if (d->item.base != 10 && !hexadecimal && d->item.base != 0)
        return false;
    text first = p, most = limit - p > (hexadecimal ? HEXADECIMAL : DECIMAL)
                               ? p + (hexadecimal ? HEXADECIMAL : DECIMAL)
                               : limit;
    p = hexadecimal ? hexadecimal_digits(p, most, value) : decimal_digits(p, most, value);
    if (p == first || (p == most && most != limit) || (p == end && !asf__scan_ended(s)))
        return false;
    *value = negative ? 0 - *value : *value;
    s->at = p;
    return true;
}

/* The state of an integer that is read byte by byte. */
struct integer {
    int width, base;
    bool sign, negative, prefix, digits, too_large;
    uint64_t value;
};

static inline void decrement_width(int *width) {
    *width -= *width > 0;
}

/* Reads the byte after a byte of the number.  glibc reads it even if the width is used up. */
static int next_integer_byte(struct asf_scan *s, struct integer *n) {
    decrement_width(&n->width);
    return n->width == 0 && !ASF_LIBC(scan_reads_past_width) ? EOF : asf__scan_next(s);
}

static int read_sign(struct asf_scan *s, struct integer *n, int ch) {
    if (ch != '-' && ch != '+')
        return ch;
    n->sign = true;
    n->negative = ch == '-';
    return next_integer_byte(s, n);
}

/* Reads a leading 0, and the x or b after it that gives the base.  Returns the byte after them. */
static int read_prefix(struct asf_scan *s, struct integer *n, bool binary, int ch) {
    if (n->width == 0 || ch != '0')
        return ch;
    n->digits = true;
    ch = next_integer_byte(s, n);
    int letter = n->width == 0 ? 0 : lower(ch);
    int base = letter == 'x' ? 16 : letter == 'b' && binary ? 2 : 8;
    if (n->base == 0)
        n->base = base;
    if (base == 8 || n->base != base)
        return ch;
    decrement_width(&n->width);
    n->prefix = true;
    n->digits = !ASF_LIBC(scan_digits);
    return n->digits || n->width != 0 ? asf__scan_next(s) : EOF;
}

/* Reads the digits.  Returns the byte after them. */
static int read_digits(struct asf_scan *s, struct integer *n, int ch) {
    unsigned digit, base = (unsigned)n->base;
    while (ch != EOF && n->width != 0 && (digit = digit_value((unsigned char)ch)) < base) {
        n->digits = true;
        n->too_large |= __builtin_mul_overflow(n->value, base, &n->value);
        n->too_large |= __builtin_add_overflow(n->value, digit, &n->value);
        ch = next_integer_byte(s, n);
    }
    return ch;
}

/* Reads "nil)"; the "(" has been read. */
static bool read_nil(struct asf_scan *s, const struct integer *n) {
    if (!ASF_LIBC(scan_nil) || n->sign || (n->width >= 0 && n->width < 5) || s->progress.last != '(')
        return false;
    for (const char *p = "nil"; *p; p++)
        if (tolower(asf__scan_next(s)) != *p)
            return false;
    return asf__scan_next(s) == ')';
}

/* Limits the value as strtol and strtoul do: errno is set even if nothing is assigned. */
static uint64_t clamp_value(const struct integer *n, bool is_signed) {
    uint64_t most = is_signed && ASF_LIBC(scan_signed_range) ? (uint64_t)INT64_MAX + n->negative : UINT64_MAX;
    if (n->too_large || n->value > most) {
        errno = ERANGE;
        return most;
    }
    return n->negative ? 0 - n->value : n->value;
}

static __attribute__((noinline)) enum asf_scan_result
read_integer(struct asf_scan *s, const struct asf_directive *d, uint64_t *value) {
    struct integer n = {.width = d->width, .base = d->item.base};
    int ch = asf__scan_next(s);
    if (ch == EOF)
        return ASF_INPUT_END;
    ch = read_sign(s, &n, ch);
    ch = read_prefix(s, &n, (d->item.flags & ASF_SCAN_BINARY) != 0, ch);
    if (n.base == 0)
        n.base = 10;
    ch = read_digits(s, &n, ch);
    bool nil = !n.digits && d->item.flags & ASF_SCAN_POINTER && read_nil(s, &n);
    if (!nil && ch != EOF)
        asf__scan_unget(s);
    *value = clamp_value(&n, (d->item.flags & ASF_SCAN_SIGNED) != 0);
    if (n.digits || nil)
        return ASF_SCANNED;
    if (!n.prefix)
        set_invalid_errno();
    return ASF_MISMATCH;
}

enum asf_scan_result asf__scan_integer(struct asf_scan *s, const struct asf_directive *d) {
    uint64_t value;
    if (asf__unlikely(!plain_integer(s, d, &value))) {
        enum asf_scan_result r = asf__scan_unless_truncated(s, read_integer(s, d, &value));
        if (r != ASF_SCANNED)
            return r;
    }
    asf__scan_assign(s, d, value);
    return ASF_SCANNED;
}

/* --- floating-point numbers -------------------------------------------------------- */

union floating {
    float f;
    double d;
    long double l;
};

static inline bool to_binary(const struct asf_decimal *n, int flags, union floating *value) {
    return flags & ASF_SCAN_LONGER ? asf__decimal_long_double(n, &value->l)
           : flags & ASF_SCAN_LONG ? asf__decimal_double(n, &value->d)
                                   : asf__decimal_float(n, &value->f);
}

/* The number's bytes, for strtod. */
enum { SMALL_TOKEN = 128 };
struct token {
    char *bytes;
    size_t used, size;
    int width, point;
    bool failed;
    char small[SMALL_TOKEN];
};

/* Converts the number.  Returns false if the bytes are not a number. */
static bool convert_token(const char *bytes, int flags, union floating *value) {
    char *end;
    if (flags & ASF_SCAN_LONGER)
        value->l = strtold(bytes, &end);
    else if (flags & ASF_SCAN_LONG)
        value->d = strtod(bytes, &end);
    else
        value->f = strtof(bytes, &end);
    return end != bytes;
}

static bool make_token(char *token, text from, text end) {
    if (end - from >= SMALL_TOKEN)
        return false;
    memcpy(token, from, (size_t)(end - from));
    token[end - from] = '\0';
    return true;
}

/* Reads a decimal number that is wholly in the window.  strtod converts it if to_binary cannot. */
static bool plain_float(struct asf_scan *s, const struct asf_directive *d, union floating *value) {
    struct asf_decimal n;
    char token[SMALL_TOKEN];
    text end = asf__scan_end(s), limit = width_limit(s->at, end, d->width);
    text p = asf__scan_decimal(s->at, limit, d->item.base, &n);
    if (!p)
        return false;
    bool easy = to_binary(&n, d->item.flags, value);
    if (asf__unlikely(!easy) && !make_token(token, s->at, p))
        return false;
    if (limit > asf__scan_end(s)) /* the file was truncated meanwhile */
        return false;
    /* A number that ends with the window may continue in the next buffer, unless it is as long as the width.
     * (plain_integer makes no such exception: glibc reads the byte after every integer.) */
    if (p == end && p - s->at != d->width && !asf__scan_ended(s))
        return false;
    s->at = p;
    return easy || convert_token(token, d->item.flags, value);
}

static void add_to_token(struct token *t, int ch) {
    if (t->used == t->size) {
        char *larger = t->bytes == t->small ? malloc(2 * t->size) : realloc(t->bytes, 2 * t->size);
        t->failed |= !larger;
        if (!larger)
            return;
        if (t->bytes == t->small)
            memcpy(larger, t->small, t->used);
        t->bytes = larger;
        t->size *= 2;
    }
    t->bytes[t->used++] = (char)ch;
}

/* The next byte within the width; EOF also when the width is used up. */
static int next_in_width(struct asf_scan *s, struct token *t) {
    if (t->width == 0)
        return EOF;
    int ch = asf__scan_next(s);
    if (ch != EOF)
        decrement_width(&t->width);
    return ch;
}

/* A byte does not match.  returns  false. */
static bool reject_byte(struct asf_scan *s) {
    if (!ASF_LIBC(scan_eats_mismatch))
        asf__scan_unget(s);
    return false;
}

/* Reads `rest`, the end of "nan" or "infinity". */
static bool read_word(struct asf_scan *s, struct token *t, const char *rest) {
    for (; *rest; rest++) {
        int ch = next_in_width(s, t);
        if (ch == EOF || tolower(ch) != *rest)
            return ch != EOF && reject_byte(s);
        add_to_token(t, ch);
    }
    return true;
}

/* Adds the next byte if it is `wanted`, and returns whether it is. */
static bool accept_byte(struct asf_scan *s, struct token *t, int wanted) {
    if (t->width == 0 || asf__scan_next(s) == EOF)
        return false;
    if (tolower(s->progress.last) != wanted) {
        asf__scan_unget(s);
        return false;
    }
    decrement_width(&t->width);
    add_to_token(t, s->progress.last);
    return true;
}

static bool read_infinity(struct asf_scan *s, struct token *t) {
    return read_word(s, t, "nf") && (!accept_byte(s, t, 'i') || read_word(s, t, "nity"));
}

/* Reads the text in the brackets after "nan". */
static bool read_payload(struct asf_scan *s, struct token *t) {
    for (int ch; (ch = next_in_width(s, t)) != EOF;) {
        bool letter = (unsigned)(lower(ch) - 'a') < 26, digit = (unsigned)(ch - '0') < 10;
        if (!letter && !digit && ch != '_' && ch != ')')
            return reject_byte(s);
        add_to_token(t, ch);
        if (ch == ')')
            return true;
    }
    return false;
}

static bool read_nan(struct asf_scan *s, struct token *t) {
    return read_word(s, t, "an") && (!ASF_LIBC(scan_nan) || !accept_byte(s, t, '(') || read_payload(s, t));
}

/* The parts of a number that have been read. */
struct number_parts {
    bool digit, point, exponent, hexadecimal;
};

/* Adds the byte if the number can continue with it, and returns whether it can. */
static bool add_to_number(struct token *t, struct number_parts *seen, int ch) {
    int mark = seen->hexadecimal ? 'p' : 'e';
    if (digit_value((unsigned char)ch) < (seen->hexadecimal && !seen->exponent ? 16 : 10)) {
        seen->digit = true;
    } else if (seen->exponent && t->bytes[t->used - 1] == mark && (ch == '-' || ch == '+')) {
        /* the exponent's sign */
    } else if (seen->digit && !seen->exponent && lower(ch) == mark) {
        seen->exponent = seen->point = true;
        seen->digit = false;
        ch = mark;
    } else if (!seen->point && ch == t->point) {
        seen->point = true;
    } else {
        return false;
    }
    add_to_token(t, ch);
    return true;
}

/* Reads a leading 0, and the x that makes the number hexadecimal. */
static int read_float_prefix(struct asf_scan *s, struct token *t, struct number_parts *seen, int ch) {
    if (t->width == 0 || ch != '0')
        return ch;
    add_to_token(t, ch);
    ch = asf__scan_next(s);
    decrement_width(&t->width);
    if (ch == EOF || lower(ch) != 'x' || (t->width == 0 && !ASF_LIBC(scan_digits))) {
        seen->digit = true;
        return ch;
    }
    add_to_token(t, ch);
    seen->hexadecimal = true;
    if (t->width == 0)
        return EOF;
    ch = asf__scan_next(s);
    decrement_width(&t->width);
    return ch;
}

static bool read_number(struct asf_scan *s, struct token *t, size_t sign, int ch) {
    struct number_parts seen = {.digit = false};
    for (ch = read_float_prefix(s, t, &seen, ch); ch != EOF; ch = next_in_width(s, t)) {
        if (t->failed)
            return false;
        if (!add_to_number(t, &seen, ch)) {
            asf__scan_unget(s);
            break;
        }
    }
    if (!seen.digit && !seen.exponent && !seen.hexadecimal)
        set_invalid_errno();
    bool enough = seen.digit || !ASF_LIBC(scan_digits) || (!seen.exponent && !ASF_LIBC(scan_complete));
    return enough && t->used > sign + (seen.hexadecimal ? 2 : 0);
}

static enum asf_scan_result read_token(struct asf_scan *s, struct token *t) {
    int ch = asf__scan_next(s);
    size_t sign = 0;
    bool right;
    decrement_width(&t->width);
    if (ch == EOF)
        return ASF_INPUT_END;
    if (ch == '-' || ch == '+') {
        sign = 1;
        add_to_token(t, ch);
        if ((ch = next_in_width(s, t)) == EOF) {
            set_invalid_errno();
            return ASF_MISMATCH;
        }
    }
    int letter = tolower(ch);
    if (letter == 'n' || letter == 'i') {
        add_to_token(t, ch);
        right = letter == 'n' ? read_nan(s, t) : read_infinity(s, t);
        if (!right)
            set_invalid_errno();
    } else {
        right = read_number(s, t, sign, ch);
    }
    add_to_token(t, '\0');
    return t->failed ? ASF_NO_MEMORY : right ? ASF_SCANNED : ASF_MISMATCH;
}

static __attribute__((noinline)) enum asf_scan_result
read_float(struct asf_scan *s, const struct asf_directive *d, union floating *value) {
    struct token t = {.size = sizeof t.small, .width = d->width, .point = d->item.base};
    t.bytes = t.small;
    enum asf_scan_result r = read_token(s, &t);
    if (r == ASF_SCANNED && !convert_token(t.bytes, d->item.flags, value))
        r = ASF_MISMATCH;
    if (t.bytes != t.small)
        free(t.bytes);
    if (r == ASF_NO_MEMORY)
        errno = ENOMEM;
    return r;
}

static void store_float(struct asf_scan *s, const struct asf_directive *d, const union floating *value) {
    void *to = asf__scan_argument(s, d);
    if (d->item.flags & ASF_SCAN_LONGER)
        *(long double *)to = value->l;
    else if (d->item.flags & ASF_SCAN_LONG)
        *(double *)to = value->d;
    else
        *(float *)to = value->f;
}

enum asf_scan_result asf__scan_float(struct asf_scan *s, const struct asf_directive *d) {
    union floating value;
    if (!plain_float(s, d, &value)) {
        enum asf_scan_result r = asf__scan_unless_truncated(s, read_float(s, d, &value));
        if (r != ASF_SCANNED)
            return r;
    }
    if (!(d->item.flags & ASF_SCAN_SUPPRESS)) {
        store_float(s, d, &value);
        s->progress.done++;
    }
    return ASF_SCANNED;
}
#endif
