/* SPDX-License-Identifier: MIT
 *
 * format_wide.c - wprintf's conversions: numbers by those of printf, whose text
 * is made wide; characters and strings of either kind.
 * Layer: lib.  May include: lib.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <langinfo.h>
#include <string.h>

#include "lib/text/format.h"
#include "lib/text/format_spec.h"
#include "lib/text/utf8.h"

/* A specification longer than this, and a number, is left to libc. */
enum { SPEC_ROOM = 40, NUMBER_ROOM = 512 };

struct wide_output {
    wchar_t *p, *end;
};

static inline size_t left(const struct wide_output *o) {
    return (size_t)(o->end - o->p);
}

/* --- fields -------------------------------------------------------------------- */

static inline void put_blanks(struct wide_output *o, size_t n) {
    while (n-- > 0)
        *o->p++ = L' ';
}

static inline void copy_text(wchar_t *to, const wchar_t *from, size_t n) {
    if (n > ASF__ONE_BY_ONE)
        wmemcpy(to, from, n);
    else
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
}

static bool put_text(struct wide_output *o, const struct asf__spec *s, const wchar_t *text, size_t n) {
    size_t width = (size_t)s->width, blanks = width > n ? width - n : 0;
    if (asf__unlikely(left(o) < n + blanks))
        return false;
    if (!(s->flags & FLAG_LEFT))
        put_blanks(o, blanks);
    copy_text(o->p, text, n);
    o->p += n;
    if (s->flags & FLAG_LEFT)
        put_blanks(o, blanks);
    return true;
}

/* The text already stands at the place where it would be without blanks. */
static bool end_text(struct wide_output *o, const struct asf__spec *s, size_t n) {
    size_t width = (size_t)s->width, blanks = width > n ? width - n : 0;
    if (asf__unlikely(left(o) < n + blanks))
        return false;
    if (blanks > 0 && !(s->flags & FLAG_LEFT)) {
        wmemmove(o->p + blanks, o->p, n);
        put_blanks(o, blanks);
        blanks = 0;
    }
    o->p += n;
    put_blanks(o, blanks);
    return true;
}

/* --- strings of bytes ------------------------------------------------------------ */

/* The bytes of at most n characters; none is looked at behind a null, or behind
 * what is no character. */
static size_t length_of(const char *text, size_t n) {
    const unsigned char *p = (const unsigned char *)text;
    for (; n > 0 && *p != '\0'; n--) {
        int more = *p < 0xc0 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
        for (p++; more > 0 && (*p & 0xc0) == 0x80; more--)
            p++;
    }
    return (size_t)(p - (const unsigned char *)text);
}

static size_t count_characters(const char *p, const char *end) {
    size_t n = 0;
    for (; p < end; p++)
        n += ((unsigned char)*p & 0xc0) != 0x80;
    return n;
}

/* Their number is known before, so that nothing behind them is written over. */
static bool put_bytes(struct wide_output *o, const struct asf__spec *s, const char *text) {
    enum asf__charset set = asf__charset_of_locale();
    size_t n = s->precision < 0 ? strlen(text) : length_of(text, (size_t)s->precision);
    const char *end = text + n;
    size_t count = set == ASF__UTF8 ? count_characters(text, end) : n;
    wchar_t *to = o->p, *to_end = count < left(o) ? to + count : o->end;
    if (set == ASF__UTF8)
        asf__utf8_decode(&text, end, &to, to_end);
    else if (set == ASF__ASCII)
        asf__ascii_decode(&text, end, &to, to_end);
    return text == end && (set != ASF__OTHER_CHARSET || n == 0) && end_text(o, s, (size_t)(to - o->p));
}

static __attribute__((noinline)) bool put_error(struct wide_output *o, const struct asf__spec *s) {
    char text[1000];
    return put_bytes(o, s, strerror_r(errno, text, sizeof text));
}

/* --- the other conversions ----------------------------------------------------- */

static bool put_wide_string(struct wide_output *o, const struct asf__spec *s, const wchar_t *text) {
    if (!text)
        text = s->precision < 0 || s->precision >= 6 ? L"(null)" : L"";
    return put_text(o, s, text, s->precision < 0 ? wcslen(text) : wcsnlen(text, (size_t)s->precision));
}

static bool put_string(struct wide_output *o, const struct asf__spec *s, const char *text) {
    return text ? put_bytes(o, s, text) : put_wide_string(o, s, NULL);
}

/* libc takes one character, WEOF, for a failure to write it. */
static bool put_character(struct wide_output *o, const struct asf__spec *s, wchar_t ch) {
    return (wint_t)ch != WEOF && put_text(o, s, &ch, 1);
}

static bool put_number(struct wide_output *o, const char *spec, va_list ap) {
    char text[NUMBER_ROOM];
    struct asf__output number = {.p = text, .end = text + sizeof text, .begin = text};
    const char *from = text;
    wchar_t *to = o->p;
    if (!asf__convert(&number, spec, ap) || number.before > 0)
        return false;
    asf__ascii_decode(&from, number.p, &to, o->end);
    if (from < number.p) /* no room; or a decimal point that is not ASCII */
        return false;
    o->p = to;
    return true;
}

/* The separator of thousands is another one for wide characters. */
static bool is_grouped(const char *spec) {
    return strchr(spec, '\'') && *nl_langinfo(GROUPING) != '\0';
}

static bool put_parsed(struct wide_output *o, const struct asf__spec *s, va_list ap) {
    bool wide = s->length == LENGTH_LONG || s->conversion == 'S' || s->conversion == 'C';
    if (s->length != LENGTH_INT && s->length != LENGTH_LONG)
        return false;
    switch (s->conversion) {
    case 's':
    case 'S':
        return wide ? put_wide_string(o, s, va_arg(ap, const wchar_t *))
                    : put_string(o, s, va_arg(ap, const char *));
    case 'c':
    case 'C': {
        wint_t ch = va_arg(ap, wint_t);
        return (wide || (unsigned char)ch < 0x80) &&
               put_character(o, s, wide ? (wchar_t)ch : (unsigned char)ch);
    }
    case 'm':
        return !wide && !(s->flags & FLAG_ALTERNATE) && put_error(o, s);
    default:
        return false;
    }
}

/* --- the conversion specification -------------------------------------------------- */

/* Flags, digits and lengths. */
static inline bool stands_before_the_letter(wchar_t ch) {
    static const bool table[] = {
        ['-'] = true, ['+'] = true, [' '] = true, ['#'] = true, ['\''] = true, ['I'] = true, ['*'] = true,
        ['.'] = true, ['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true,  ['4'] = true, ['5'] = true,
        ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true, ['h'] = true,  ['l'] = true, ['L'] = true,
        ['q'] = true, ['j'] = true, ['z'] = true, ['t'] = true, ['Z'] = true,
    };
    return (size_t)ch < sizeof table && table[(size_t)ch];
}

/* The specification in bytes, with the letter; returns what follows it, or NULL
 * when it is too long or ends in no letter. */
static inline const wchar_t *narrow(char spec[SPEC_ROOM], char *letter, const wchar_t *f) {
    int n = 0;
    while (stands_before_the_letter(*f) && n < SPEC_ROOM - 2)
        spec[n++] = (char)*f++;
    if (*f <= L' ' || *f > L'z' || n == SPEC_ROOM - 2)
        return NULL;
    *letter = spec[n] = (char)*f;
    spec[n + 1] = '\0';
    return f + 1;
}

static bool put_conversion(struct wide_output *o, const char *spec, char letter, va_list ap) {
    struct asf__spec s = {.precision = -1};
    switch (letter) {
    case 's':
    case 'S':
    case 'c':
    case 'C':
    case 'm':
        return asf__parse_spec(spec, &s, ap) && put_parsed(o, &s, ap);
    default:
        return !is_grouped(spec) && put_number(o, spec, ap);
    }
}

/* Returns what follows, or NULL, and `ap` as it was, when it is left to libc. */
static const wchar_t *convert(struct wide_output *o, const wchar_t *f, va_list ap) {
    char spec[SPEC_ROOM], letter;
    struct asf__place before = asf__place_in(ap);
    const wchar_t *behind = narrow(spec, &letter, f);
    if (asf__likely(behind && put_conversion(o, spec, letter, ap)))
        return behind;
    asf__go_to(ap, before);
    return NULL;
}

/* --- the format ------------------------------------------------------------------- */

/* Text up to the next percent sign, as far as there is room. */
static const wchar_t *put_literal(struct wide_output *o, const wchar_t *f) {
    wchar_t *p = o->p;
    while (*f != L'%' && *f != L'\0' && p < o->end)
        *p++ = *f++;
    o->p = p;
    return f;
}

/* What libc cannot go on with from the middle; as for printf. */
static bool needs_all(const wchar_t *f) {
    while ((f = wcschr(f, L'%')) != NULL) {
        for (f++; stands_before_the_letter(*f);)
            f++;
        if (*f == L'n' || *f == L'$')
            return true;
        if (*f != L'\0')
            f++;
    }
    return false;
}

static __attribute__((noinline)) void leave_rest(struct asf__wide_format_rest *rest, const wchar_t *f,
                                                 const wchar_t *format, va_list ap, struct asf__place first) {
    rest->all = needs_all(f);
    rest->format = rest->all ? format : f;
    if (rest->all)
        asf__go_to(ap, first);
    va_copy(rest->ap, ap);
}

size_t asf__format_wide(wchar_t *p, size_t room, const wchar_t *format, va_list ap,
                        struct asf__wide_format_rest *rest) {
    size_t most = ~(size_t)p / sizeof *p; /* to the end of the address space */
    struct wide_output o = {p, p + (room < most ? room : most)};
    struct asf__place first = asf__place_in(ap);
    const wchar_t *f = format, *next;
    while (*f != L'\0' && (*f != L'%' || !asf__format_custom)) {
        next = *f == L'%' ? convert(&o, f + 1, ap) : put_literal(&o, f);
        if (!next || next == f)
            break;
        f = next;
    }
    rest->format = NULL;
    if (asf__unlikely(*f != L'\0')) {
        leave_rest(rest, f, format, ap, first);
        asf__go_to(ap, first);
    }
    return rest->format == format ? 0 : (size_t)(o.p - p);
}
