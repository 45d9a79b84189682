/* SPDX-License-Identifier: MIT
 *
 * format.c - printf's formats: text, characters and strings.  Other files make the other conversions; rare
 * cases are left to libc.
 */
#define _GNU_SOURCE
#include "lib/text/format.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <string.h>

#include "lib/text/format_plain.h"
#include "lib/text/of_libc.h"

bool asf__format_custom;

/* --- output ---------------------------------------------------------------------- */

static size_t cut(struct asf__output *o, size_t n) {
    size_t fits = asf__left(o) < n ? asf__left(o) : n;
    o->before += n - fits;
    return fits;
}

static void hand_over(struct asf__output *o, const char *text, size_t n) {
    size_t made = asf__made(o) + n;
    bool taken = o->full(o, text, n);
    o->begin = o->p;
    if (taken)
        o->before = made;
    o->failed = !taken || made > INT_MAX;
    if (o->failed)
        o->end = o->p;
}

void asf__put_beyond(struct asf__output *o, const char *text, size_t n) {
    if (o->failed)
        return;
    if (o->full) {
        hand_over(o, text, n);
        return;
    }
    size_t fits = cut(o, n);
    if (fits > 0)
        memmove(o->p, text, fits);
    o->p += fits;
}

void asf__pad(struct asf__output *o, char c, size_t n) {
    char piece[ASF__PAD_CHUNK];
    if (!o->full) {
        n = cut(o, n);
        if (n > 0)
            memset(o->p, c, n);
        o->p += n;
        return;
    }
    memset(piece, c, n < sizeof piece ? n : sizeof piece);
    for (size_t part; n > 0 && !o->failed; n -= part) {
        part = n < sizeof piece ? n : sizeof piece;
        asf__put(o, piece, part);
    }
}

/* Puts a number's digits as musl does: musl has them in words of nine, counted from the point, and puts
 * each word separately.  After the last nonzero word it puts padding, unless the number was too small for
 * the precision. */
static void put_groups(struct asf__output *o, const struct asf__field *f) {
    enum { DIGITS = 9 };
    const char *p = f->text, *point = p + f->whole, *end = p + f->length;
    for (size_t part; p < point; p += part) {
        part = (size_t)(point - p - 1) % DIGITS + 1;
        asf__put(o, p, part);
    }
    size_t left = (size_t)(end - p) + f->zeros_after;
    if (p < end) {
        asf__put(o, p++, 1);
        left--;
    }
    while (end > p && end[-1] == '0')
        end--;
    bool too_small = end == p && *f->text == '0' && f->not_zero;
    for (size_t group = f->group; p < end || group < DIGITS || (too_small && left > 0); group = DIGITS) {
        char digits[DIGITS] = "000000000";
        size_t part = group < left ? group : left, there = (size_t)(end - p);
        if (part > DIGITS)
            __builtin_unreachable();
        there = there < part ? there : part;
        memcpy(digits, p, there);
        asf__put(o, digits, part);
        p += there;
        left -= part;
    }
    asf__pad(o, '0', left);
}

static __attribute__((noinline)) void put_field_parts(struct asf__output *o, const struct asf__spec *s,
                                                      const struct asf__field *f) {
    size_t body = f->prefix_length + f->zeros + f->length + f->zeros_after + f->suffix_length;
    size_t blanks = (size_t)s->width > body ? (size_t)s->width - body : 0;
    bool left = s->flags & FLAG_LEFT, zero = !left && s->flags & FLAG_ZERO;
    asf__pad(o, ' ', left || zero ? 0 : blanks);
    asf__put(o, f->prefix, f->prefix_length);
    if (ASF__PUTS_GROUPS)
        asf__pad(o, '0', zero ? blanks : 0);
    asf__pad(o, '0', f->zeros + (zero && !ASF__PUTS_GROUPS ? blanks : 0));
    if (ASF__PUTS_GROUPS && f->whole > 0) {
        put_groups(o, f);
    } else {
        asf__put(o, f->text, f->length);
        asf__pad(o, '0', f->zeros_after);
    }
    asf__put(o, f->suffix, f->suffix_length);
    asf__pad(o, ' ', left ? blanks : 0);
}

void asf__put_field(struct asf__output *o, const struct asf__spec *s, const struct asf__field *f) {
    size_t behind;
    char *p = asf__begin_field(o, s, f->prefix, f->prefix_length, f->zeros,
                               f->length + f->zeros_after + f->suffix_length, &behind);
    if (asf__unlikely(!p)) {
        put_field_parts(o, s, f);
        return;
    }
    asf__copy(p, f->text, f->length);
    p += f->length;
    if (f->zeros_after)
        memset(p, '0', f->zeros_after);
    for (size_t i = 0; i < f->suffix_length; i++)
        p[f->zeros_after + i] = f->suffix[i];
    asf__end_field(o, behind);
}

/* --- characters and strings ---------------------------------------------------------- */

static void put_text(struct asf__output *o, struct asf__spec *s, const char *text, size_t n) {
    size_t behind;
    s->flags &= ~(unsigned)FLAG_ZERO;
    char *p = asf__begin_field(o, s, "", 0, 0, n, &behind);
    if (asf__unlikely(!p)) {
        put_field_parts(o, s, &(struct asf__field){.text = text, .length = n});
        return;
    }
    asf__copy_text(p, text, n);
    asf__end_field(o, behind);
}

static void put_string(struct asf__output *o, struct asf__spec *s, const char *text) {
    if (!text) /* glibc puts no part of "(null)", which would mislead */
        text = ASF__CUTS_NULL || s->precision < 0 || s->precision >= 6 ? "(null)" : "";
    put_text(o, s, text, strnlen(text, s->precision >= 0 ? (size_t)s->precision : SIZE_MAX));
}

static void put_character(struct asf__output *o, struct asf__spec *s, char c) {
    put_text(o, s, &c, 1);
}

static void put_pointer(struct asf__output *o, struct asf__spec *s, const void *p) {
    if (p) {
        s->flags |= FLAG_ALTERNATE;
        asf__put_hexadecimal(o, s, (uintptr_t)p, asf__sign(s, false));
    } else {
        put_text(o, s, "(nil)", 5);
    }
}

/* A value of `error` in struct asf__output: errno was not read yet, since most formats do not need it. */
enum { NOT_LOOKED_AT = INT_MIN };

static __attribute__((noinline)) void put_error(struct asf__output *o, struct asf__spec *s) {
    char text[1000];
    put_string(o, s, strerror_r(o->error, text, sizeof text));
}

/* --- any conversion --------------------------------------------------------- */

static bool put_wide(struct asf__output *o, struct asf__spec *s, asf__arguments ap) {
    if (!ASF__PADS_WIDE && s->flags & FLAG_ZERO && s->width > 0)
        return false;
    if (s->conversion == 's' || s->conversion == 'S')
        return asf__put_wide_string(o, s, asf__next_of(ap, const wchar_t *));
    bool character = s->conversion == 'c' || s->conversion == 'C';
    return character && asf__put_wide_character(o, s, asf__next_of(ap, wint_t));
}

/* %n: stores the number of bytes so far.  If some bytes did not fit, leaves the conversion to libc. */
static bool put_count(struct asf__output *o, const struct asf__spec *s, asf__arguments ap) {
    size_t n = asf__made(o);
    if (!o->counts || o->before > 0 || n > INT_MAX)
        return false;
    void *to = asf__next_of(ap, void *);
    if (s->length == LENGTH_INT)
        *(int *)to = (int)n;
    else if (s->length == LENGTH_SHORT)
        *(short *)to = (short)n;
    else if (s->length == LENGTH_CHAR)
        *(signed char *)to = (signed char)n;
    else
        *(long *)to = (long)n;
    return true;
}

static bool put_other(struct asf__output *o, struct asf__spec *s, asf__arguments ap) {
    if (s->conversion == 'n')
        return put_count(o, s, ap);
    if (s->length != LENGTH_INT)
        return s->length == LENGTH_LONG && put_wide(o, s, ap);
    switch (s->conversion) {
    case 's':
        put_string(o, s, asf__next_of(ap, const char *));
        return true;
    case 'c':
        put_character(o, s, (char)asf__next_of(ap, int));
        return true;
    case 'p': {
        const void *p = asf__next_of(ap, const void *);
        if (!ASF__KNOWN_POINTERS && (!p || s->precision >= 0 || s->flags))
            return false;
        put_pointer(o, s, p);
        return true;
    }
    case '%':
        if (s->flags || s->width || s->precision >= 0)
            return false;
        asf__put(o, "%", 1);
        return true;
    case 'm':
        if (s->flags & FLAG_ALTERNATE || o->error == NOT_LOOKED_AT)
            return false;
        put_error(o, s);
        return true;
    case 'S':
    case 'C':
        return put_wide(o, s, ap);
    default:
        return false;
    }
}

static bool digits_are_grouped(void) {
    const char *grouping = nl_langinfo(GROUPING);
    return *grouping != '\0' && *grouping != CHAR_MAX && *nl_langinfo(THOUSEP) != '\0';
}

static bool put_conversion(struct asf__output *o, struct asf__spec *s, asf__arguments ap) {
    if (s->flags & FLAG_GROUP && digits_are_grouped())
        return false;
    switch (s->conversion) {
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return asf__put_float(o, s, ap);
    default:
        return asf__put_integer(o, s, ap) || put_other(o, s, ap);
    }
}

/* Makes a conversion with any flags, width, precision and length.  Returns the format after it; or NULL:
 * the conversion is left to libc, and `ap` is at its first argument again. */
static __attribute__((noinline)) const char *convert_any(struct asf__output *o, const char *f,
                                                         asf__arguments ap) {
    struct asf__spec s = {.precision = -1};
    struct asf__place before = asf__place_in(ap);
    f = asf__parse_spec(f, &s, ap);
    if (!f || !put_conversion(o, &s, ap)) {
        asf__go_to(ap, before);
        return NULL;
    }
    return f + 1;
}

/* --- brief specifications --------------------------------------------------------
 *
 *   Nearly all specifications: at most one flag, 0 or -, and small numbers.  They are parsed into
 *   registers, and short numbers are formatted in registers. */

enum { BRIEF_NUMBER = 99 };

struct brief {
    char flag; /* '0', '-' or none */
    bool negative;
    enum asf__length length;
    int width, precision;
};

static inline const char *brief_number(const char *f, int *n, asf__arguments ap) {
    if (*f == '*') {
        *n = asf__next_of(ap, int);
        return f + 1;
    }
    for (*n = 0; *f >= '0' && *f <= '9' && *n <= BRIEF_NUMBER; f++)
        *n = *n * 10 + (*f - '0');
    return f;
}

/* Returns the address of the conversion's letter, or of a character that ends the brief form. */
static inline const char *parse_brief(const char *f, struct brief *b, asf__arguments ap) {
    if (*f == '0' || *f == '-')
        b->flag = *f++;
    if (*f <= '9' && *f != '.') {
        f = brief_number(f, &b->width, ap);
        if (b->width < 0)
            return "";
    }
    if (*f == '.') {
        f = brief_number(f + 1, &b->precision, ap);
        if (b->precision < 0)
            b->precision = -1;
    }
    if (*f == 'l') {
        b->length = f[1] == 'l' ? LENGTH_LONG_LONG : LENGTH_LONG;
        f += f[1] == 'l' ? 2 : 1;
    } else if (*f == 'L' || *f == 'z') {
        b->length = *f++ == 'L' ? LENGTH_LONG_LONG : LENGTH_WORD;
    }
    return f;
}

static inline struct asf__spec whole_spec(struct brief b, char letter) {
    unsigned flags = b.flag == '0' ? FLAG_ZERO : b.flag == '-' ? FLAG_LEFT : 0;
    return (struct asf__spec){flags, b.width, b.precision, b.length, letter};
}

/* Returns the least number of digits, with leading zeros; put_short_number adds zeros beyond 8 digits. */
static inline unsigned least_digits(struct brief b) {
    int least = b.precision >= 0 ? b.precision : b.flag == '0' ? b.width - b.negative : 1;
    return least > 1 ? (unsigned)least : 1;
}

/* Puts a number of at most 8 digits.  Returns false if there is no room for the field. */
static inline __attribute__((always_inline)) bool put_short_number(struct asf__output *o, struct brief b,
                                                                   struct asf__short_text t) {
    unsigned zeros = b.precision > (int)t.length ? (unsigned)b.precision - t.length : 0;
    unsigned body = t.length + b.negative + zeros, width = (unsigned)b.width;
    unsigned blanks = width > body ? width - body : 0;
    char *p = o->p;
    if (asf__unlikely(asf__left(o) < body + blanks))
        return false;
    o->p += body + blanks;
    if (blanks) {
        if (b.flag == '-') {
            asf__repeat(p + body, ' ', blanks);
        } else if (b.flag == '0' && b.precision < 0) {
            zeros += blanks;
        } else {
            asf__repeat(p, ' ', blanks);
            p += blanks;
        }
    }
    if (b.negative)
        *p++ = '-';
    if (zeros)
        asf__repeat(p, '0', zeros);
    asf__store(p + zeros, t);
    return true;
}

static __attribute__((noinline)) void put_long_number(struct asf__output *o, struct brief b, uint64_t n,
                                                      char letter) {
    struct asf__spec s = whole_spec(b, letter);
    if (letter == 'd' || letter == 'u')
        asf__put_decimal(o, &s, n, b.negative ? "-" : "");
    else if (letter == 'o')
        asf__put_octal(o, &s, n);
    else
        asf__put_hexadecimal(o, &s, n, "");
}

static inline uint64_t brief_unsigned(struct brief b, asf__arguments ap) {
    return b.length == LENGTH_INT ? asf__next_of(ap, unsigned) : asf__next_of(ap, unsigned long);
}

static inline uint64_t brief_signed(struct brief *b, asf__arguments ap) {
    int64_t v = b->length == LENGTH_INT ? asf__next_of(ap, int) : asf__next_of(ap, long);
    b->negative = v < 0;
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

static inline void put_brief_decimal(struct asf__output *o, struct brief b, uint64_t n, char letter) {
    if (n > 99999999 || b.precision == 0 ||
        !put_short_number(o, b, asf__short_decimal((uint32_t)n, least_digits(b))))
        put_long_number(o, b, n, letter);
}

static inline void put_brief_hexadecimal(struct asf__output *o, struct brief b, uint64_t n, char letter) {
    if (n > UINT32_MAX || b.precision == 0 ||
        !put_short_number(o, b, asf__short_hexadecimal((uint32_t)n, letter == 'X', least_digits(b))))
        put_long_number(o, b, n, letter);
}

static __attribute__((noinline)) bool put_brief_string(struct asf__output *o, struct brief b,
                                                       asf__arguments ap) {
    struct asf__spec s = whole_spec(b, 's');
    if (b.length != LENGTH_INT)
        return put_other(o, &s, ap);
    put_string(o, &s, asf__next_of(ap, const char *));
    return true;
}

static inline bool put_brief(struct asf__output *o, struct brief b, char letter, asf__arguments ap) {
    uint64_t n;
    switch (letter) {
    case 'd':
        n = brief_signed(&b, ap);
        put_brief_decimal(o, b, n, letter);
        return true;
    case 'u':
        put_brief_decimal(o, b, brief_unsigned(b, ap), letter);
        return true;
    case 'x':
    case 'X':
        put_brief_hexadecimal(o, b, brief_unsigned(b, ap), letter);
        return true;
    case 'o':
        put_long_number(o, b, brief_unsigned(b, ap), letter);
        return true;
    case 's':
        return put_brief_string(o, b, ap);
    case 'f':
    case 'e':
    case 'g': {
        struct asf__spec s = whole_spec(b, letter);
        return asf__put_float(o, &s, ap);
    }
    default:
        return false;
    }
}

/* Whether libc knows the length modifier, whose last character is before the letter. */
static inline bool is_known_length(enum asf__length length, const char *letter) {
    if (ASF__TAKES_ALL_LENGTHS || length == LENGTH_INT)
        return true;
    return asf__knows_length(letter - 1 - (length == LENGTH_LONG_LONG && letter[-1] == 'l'), letter);
}

static inline __attribute__((always_inline)) const char *convert_usual(struct asf__output *o, const char *f,
                                                                       asf__arguments ap) {
    struct brief b = {.precision = -1};
    struct asf__place before = asf__place_in(ap);
    const char *letter = parse_brief(f, &b, ap);
    if (asf__likely(is_known_length(b.length, letter) && put_brief(o, b, *letter, ap)))
        return letter + 1;
    asf__go_to(ap, before);
    return *letter == '$' ? NULL : convert_any(o, f, ap); /* numbered: asf__format_numbered or libc */
}

__attribute__((noinline)) const char *asf__convert(struct asf__output *o, const char *f, asf__arguments ap) {
    return convert_usual(o, f, ap);
}

__attribute__((noinline)) struct asf__format_begun asf__convert_here(char *p, char *end, const char *f,
                                                                     asf__arguments ap) {
    if (f[0] != '\0' && f[1] == '$')
        return (struct asf__format_begun){NULL, f};
    struct asf__output o = {.p = p, .end = end, .begin = p, .error = NOT_LOOKED_AT};
    struct asf__place before = asf__place_in(ap);
    const char *behind = convert_usual(&o, f, ap);
    if (asf__likely(behind && o.before == 0))
        return (struct asf__format_begun){o.p, behind};
    asf__go_to(ap, before);
    return (struct asf__format_begun){NULL, f};
}

/* --- the format ------------------------------------------------------------------- */

/* Puts the text up to the next conversion; returns the format after it. */
static const char *put_literal(struct asf__output *o, const char *f) {
    const char *end = strchrnul(f, '%'), *behind = end;
    for (; ASF__PUTS_GROUPS && behind[0] == '%' && behind[1] == '%'; behind += 2)
        end++; /* of n times "%%", the first n percent signs are put with the text */
    asf__put(o, f, (size_t)(end - f));
    return behind;
}

static inline bool is_literal(const char *f) {
    return *f != '%' || (ASF__PUTS_GROUPS && f[1] == '%');
}

/* Whether c may be between a percent sign and the letter of the conversion. */
static inline bool is_modifier(char c) {
    switch (c) {
    case '-':
    case '+':
    case ' ':
    case '#':
    case '\'':
    case '*':
    case '.':
    case '0' ... '9':
    case 'I':
    case 'h':
    case 'l':
    case 'L':
    case 'q':
    case 'j':
    case 'z':
    case 't':
    case 'Z':
        return true;
    default:
        return false;
    }
}

/* Whether the format may have %n, which counts all bytes, or numbered arguments, which start from the
 * first: in the middle of these formats libc cannot continue. */
bool asf__may_count(const char *f) {
    while (f && (f = strchr(f, '%')) != NULL) {
        for (f++; is_modifier(*f); f++)
            continue;
        if (*f == 'n' || *f == '$')
            return true;
        if (*f != '\0')
            f++;
    }
    return false;
}

/* Whether `f` begins with a numbered specification such as %1$d. */
static inline bool is_numbered(const char *f) {
    return f[0] == '%' && f[1] >= '1' && f[1] <= '9' && f[2] == '$';
}

/* Formats from f, where a conversion is not plain.  Returns the end of the format, or the address where
 * libc must continue. */
static inline const char *format_all(struct asf__output *o, const char *f, asf__arguments ap) {
    while (*f != '\0' && !o->failed) {
        const char *behind = is_literal(f) ? put_literal(o, f) : asf__convert(o, f + 1, ap);
        if (!behind)
            return f;
        struct asf__format_begun begun = asf__format_plain(o->p, o->end, behind, ap);
        o->p = begun.p;
        f = begun.f;
    }
    return f;
}

/* Discards the output, and makes the first argument the next one. */
static void begin_anew(struct asf__output *o, asf__arguments ap, struct asf__place first) {
    o->p = o->begin;
    o->before = 0;
    asf__go_to(ap, first);
}

/* Formats the rest.  Returns NULL, or the format with which libc must continue: the whole format if the
 * rest counts bytes or has numbered arguments. */
static const char *format_rest(struct asf__output *o, const char *f, const char *format, asf__arguments ap,
                               struct asf__place first) {
    if (!is_numbered(f))
        f = format_all(o, f, ap);
    if (asf__likely(*f == '\0' || o->failed))
        return NULL;
    if (!asf__may_count(f))
        return f;
    begin_anew(o, ap, first);
    if (is_numbered(f) && asf__format_numbered(o, format, ap)) {
        asf__go_to(ap, first);
        return NULL;
    }
    begin_anew(o, ap, first);
    return format;
}

/* Formats a format with %n or numbered arguments.  It calls no `full`, so that libc can make the whole
 * call if some text does not fit. */
static const char *format_in_room(struct asf__output *o, const char *f, const char *format, asf__arguments ap,
                                  struct asf__place first) {
    bool (*full)(struct asf__output *, const char *, size_t) = o->full;
    o->full = NULL;
    const char *left = format_rest(o, f, format, ap, first);
    o->full = full;
    if (!left && o->before == 0)
        return NULL;
    begin_anew(o, ap, first);
    return format;
}

const char *asf__format_on(struct asf__output *o, const char *f, const char *format, asf__arguments ap,
                           struct asf__place first) {
    if (asf__unlikely(asf__format_custom || !format))
        return format ? format : "%"; /* libc fails for "%", as it does for NULL */
    o->error = errno;
    if (o->full && asf__may_count(format))
        return format_in_room(o, f, format, ap, first);
    return format_rest(o, f, format, ap, first);
}

const char *asf__format(struct asf__output *o, const char *format, asf__arguments ap) {
    struct asf__place first = asf__place_in(ap);
    struct asf__format_begun begun = {o->p, format};
    if (asf__format_begins(format))
        begun = asf__format_plain(o->p, o->end, format, ap);
    o->p = begun.p;
    return format && *begun.f == '\0' ? NULL : asf__format_on(o, begun.f, format, ap, first);
}

int asf__format_text(char *to, size_t size, const char *format, ...) {
    struct asf__output o = {.p = to, .end = to + size - 1, .begin = to};
    va_list list;
    va_start(list, format);
    format_rest(&o, format, format, ASF_ARGUMENTS(list), asf__place_in(ASF_ARGUMENTS(list)));
    va_end(list);
    size_t n = asf__made(&o);
    to[n < size ? n : size - 1] = '\0';
    return (int)n;
}
