/* SPDX-License-Identifier: MIT
 *
 * format_wide.c - wprintf's conversions.  printf's conversions format the numbers, and this file widens
 * their text; it handles characters and strings of either kind itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <string.h>

#include "lib/text/format.h"
#include "lib/text/format_spec.h"
#include "lib/text/of_libc.h"
#include "lib/text/utf8.h"

/* Longer specifications and numbers are left to libc. */
enum { SPEC_ROOM = 40, NUMBER_ROOM = 512 };

static inline size_t room_left(const struct asf__wide_output *o) {
    return (size_t)(o->end - o->p);
}

/* Whether libc cannot continue in the middle of a format; see asf__may_count. */
static bool needs_all(const wchar_t *f);

/* --- fields -------------------------------------------------------------------- */

static inline void put_blanks(struct asf__wide_output *o, size_t n) {
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

/* Puts a chunk that does not fit.  Returns false on an error; or if the chunk is left to libc: there is
 * no `full`, or libc needs the whole format and no text was passed to `full` yet. */
static bool put_beyond(struct asf__wide_output *o, const wchar_t *text, size_t n) {
    if (!o->full || o->failed || (o->before == 0 && needs_all(o->format)))
        return false;
    size_t made = asf__wide_made(o) + n;
    bool taken = o->full(o, text, n);
    o->begin = o->p;
    if (taken)
        o->before = made;
    o->failed = !taken || made > INT_MAX;
    return !o->failed;
}

static bool put_chunk(struct asf__wide_output *o, const wchar_t *text, size_t n) {
    if (asf__unlikely(room_left(o) < n))
        return put_beyond(o, text, n);
    copy_text(o->p, text, n);
    o->p += n;
    return true;
}

/* Pads 16 characters at a time, as libc does. */
static bool pad(struct asf__wide_output *o, size_t n) {
    static const wchar_t blanks[] = L"                ";
    for (; n > 16; n -= 16)
        if (!put_chunk(o, blanks, 16))
            return false;
    return put_chunk(o, blanks, n);
}

static __attribute__((noinline)) bool put_parts(struct asf__wide_output *o, const struct asf__spec *s,
                                                const wchar_t *text, size_t n, size_t blanks) {
    bool behind = s->flags & FLAG_LEFT;
    return o->full && pad(o, behind ? 0 : blanks) && put_chunk(o, text, n) && pad(o, behind ? blanks : 0);
}

static bool put_text(struct asf__wide_output *o, const struct asf__spec *s, const wchar_t *text, size_t n) {
    size_t width = (size_t)s->width, blanks = width > n ? width - n : 0;
    if (asf__unlikely(room_left(o) < n + blanks))
        return put_parts(o, s, text, n, blanks);
    if (!(s->flags & FLAG_LEFT))
        put_blanks(o, blanks);
    copy_text(o->p, text, n);
    o->p += n;
    if (s->flags & FLAG_LEFT)
        put_blanks(o, blanks);
    return true;
}

/* Ends a field whose text was written at o->p, without blanks: moves it for blanks on its left. */
static void end_text(struct asf__wide_output *o, const struct asf__spec *s, size_t n) {
    size_t width = (size_t)s->width, blanks = width > n ? width - n : 0;
    if (blanks > 0 && !(s->flags & FLAG_LEFT)) {
        wmemmove(o->p + blanks, o->p, n);
        put_blanks(o, blanks);
        blanks = 0;
    }
    o->p += n;
    put_blanks(o, blanks);
}

/* --- strings of bytes ------------------------------------------------------------ */

/* Returns the number of bytes of at most n characters; reads no byte after a null or after an invalid
 * one. */
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

/* Decodes text and advances the pointers; does nothing for character sets other than UTF-8 and ASCII. */
static inline void decode_bytes(enum asf__charset set, const char **text, const char *end, wchar_t **to,
                                wchar_t *to_end) {
    if (set == ASF__UTF8)
        asf__utf8_decode(text, end, to, to_end);
    else if (set == ASF__ASCII)
        asf__ascii_decode(text, end, to, to_end);
}

/* Puts text in chunks of 64 characters, as libc does; with `look`, only checks it.  Returns false also if
 * some bytes are not a character. */
static bool put_chunks(struct asf__wide_output *o, enum asf__charset set, const char *text, const char *end,
                       bool look) {
    for (const char *from = text; from < end; from = text) {
        wchar_t piece[64], *to = piece;
        decode_bytes(set, &text, end, &to, piece + 64);
        if (text == from || (!look && !put_chunk(o, piece, (size_t)(to - piece))))
            return false;
    }
    return true;
}

static __attribute__((noinline)) bool put_apart(struct asf__wide_output *o, const struct asf__spec *s,
                                                enum asf__charset set, const char *text, const char *end,
                                                size_t count) {
    size_t blanks = (size_t)s->width > count ? (size_t)s->width - count : 0;
    bool behind = s->flags & FLAG_LEFT;
    return o->full && put_chunks(o, set, text, end, true) && pad(o, behind ? 0 : blanks) &&
           put_chunks(o, set, text, end, false) && pad(o, behind ? blanks : 0);
}

/* Puts bytes as characters.  Counts the characters first, so that nothing after them is overwritten. */
static bool put_bytes(struct asf__wide_output *o, const struct asf__spec *s, const char *text) {
    enum asf__charset set = asf__charset_of_locale();
    size_t n = s->precision < 0 ? strlen(text) : length_of(text, (size_t)s->precision);
    const char *end = text + n;
    size_t count = set == ASF__UTF8 ? count_characters(text, end) : n;
    if (asf__unlikely(room_left(o) < count || room_left(o) < (size_t)s->width))
        return put_apart(o, s, set, text, end, count);
    wchar_t *to = o->p;
    decode_bytes(set, &text, end, &to, to + count);
    if (text < end)
        return false;
    end_text(o, s, count);
    return true;
}

static __attribute__((noinline)) bool put_error(struct asf__wide_output *o, const struct asf__spec *s) {
    char text[1000];
    return put_bytes(o, s, strerror_r(errno, text, sizeof text));
}

/* --- the other conversions ----------------------------------------------------- */

static bool put_wide_string(struct asf__wide_output *o, const struct asf__spec *s, const wchar_t *text) {
    if (!text)
        text = ASF__CUTS_NULL || s->precision < 0 || s->precision >= 6 ? L"(null)" : L"";
    return put_text(o, s, text, s->precision < 0 ? wcslen(text) : wcsnlen(text, (size_t)s->precision));
}

static bool put_string(struct asf__wide_output *o, const struct asf__spec *s, const char *text) {
    return text ? put_bytes(o, s, text) : put_wide_string(o, s, NULL);
}

/* Puts a character.  Leaves WEOF to libc, which treats it as a failed write. */
static bool put_character(struct asf__wide_output *o, const struct asf__spec *s, wchar_t ch) {
    return (wint_t)ch != WEOF && put_text(o, s, &ch, 1);
}

static bool put_number(struct asf__wide_output *o, const char *spec, asf__arguments ap) {
    char text[NUMBER_ROOM];
    struct asf__output number = {.p = text, .end = text + sizeof text, .begin = text};
    const char *from = text;
    wchar_t *to = o->p, *to_end = o->end, apart[NUMBER_ROOM];
    if (!asf__convert(&number, spec, ap) || number.before > 0)
        return false;
    size_t n = asf__made(&number);
    if (asf__unlikely(room_left(o) < n)) {
        to = apart;
        to_end = apart + n;
    }
    asf__ascii_decode(&from, number.p, &to, to_end);
    if (from < number.p) /* a decimal point that is not ASCII */
        return false;
    if (asf__unlikely(to_end != o->end))
        return put_beyond(o, apart, n);
    o->p = to;
    return true;
}

/* Whether the digits are grouped, which is left to libc: the separator differs for wide characters. */
static bool is_grouped(const char *spec) {
    return strchr(spec, '\'') && *nl_langinfo(GROUPING) != '\0';
}

static bool put_parsed(struct asf__wide_output *o, const struct asf__spec *s, asf__arguments ap) {
    bool wide = s->length == LENGTH_LONG || s->conversion == 'S' || s->conversion == 'C';
    if (s->length != LENGTH_INT && s->length != LENGTH_LONG)
        return false;
    switch (s->conversion) {
    case 's':
    case 'S':
        return wide ? put_wide_string(o, s, asf__next_of(ap, const wchar_t *))
                    : put_string(o, s, asf__next_of(ap, const char *));
    case 'c':
    case 'C': {
        wint_t ch = asf__next_of(ap, wint_t);
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

/* Whether the character is a flag, a digit or part of a length modifier. */
static inline bool stands_before_the_letter(wchar_t ch) {
    static const bool table[] = {
        ['-'] = true, ['+'] = true, [' '] = true, ['#'] = true, ['\''] = true, ['I'] = true, ['*'] = true,
        ['.'] = true, ['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true,  ['4'] = true, ['5'] = true,
        ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true, ['h'] = true,  ['l'] = true, ['L'] = true,
        ['q'] = true, ['j'] = true, ['z'] = true, ['t'] = true, ['Z'] = true,
    };
    return (size_t)ch < sizeof table && table[(size_t)ch];
}

/* Narrows the specification to bytes, including its letter.  Returns the format after it; NULL: it is too
 * long or has no letter. */
static inline const wchar_t *narrow_specification(char spec[SPEC_ROOM], char *letter, const wchar_t *f) {
    int n = 0;
    while (stands_before_the_letter(*f) && n < SPEC_ROOM - 2)
        spec[n++] = (char)*f++;
    if (*f <= L' ' || *f > L'z' || n == SPEC_ROOM - 2)
        return NULL;
    *letter = spec[n] = (char)*f;
    spec[n + 1] = '\0';
    return f + 1;
}

static bool put_conversion(struct asf__wide_output *o, const char *spec, char letter, asf__arguments ap) {
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

/* Returns the format after the conversion; NULL: the conversion is left to libc, and `ap` is unchanged. */
static const wchar_t *convert_specification(struct asf__wide_output *o, const wchar_t *f, asf__arguments ap) {
    char spec[SPEC_ROOM], letter;
    struct asf__place before = asf__place_in(ap);
    const wchar_t *behind = narrow_specification(spec, &letter, f);
    if (asf__likely(behind && put_conversion(o, spec, letter, ap)))
        return behind;
    asf__go_to(ap, before);
    return NULL;
}

/* --- the format ------------------------------------------------------------------- */

/* Puts the text up to the next percent sign and returns its end; NULL: left to libc. */
static const wchar_t *put_literal(struct asf__wide_output *o, const wchar_t *f) {
    const wchar_t *end = f;
    wchar_t *p = o->p;
    while (*end != L'%' && *end != L'\0' && p < o->end)
        *p++ = *end++;
    if (asf__likely(*end == L'%' || *end == L'\0')) {
        o->p = p;
        return end;
    }
    while (*end != L'%' && *end != L'\0')
        end++;
    return put_beyond(o, f, (size_t)(end - f)) ? end : NULL;
}

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

/* Returns the format with which libc must continue: f; or the whole format, if libc needs it and no text
 * was passed to `full`. */
static __attribute__((noinline)) const wchar_t *left_to_libc(struct asf__wide_output *o, const wchar_t *f,
                                                             asf__arguments ap, struct asf__place first) {
    if (o->failed)
        return NULL;
    if (o->before > 0 || !needs_all(f))
        return f;
    o->p = o->begin;
    asf__go_to(ap, first);
    return o->format;
}

const wchar_t *asf__format_wide(struct asf__wide_output *o, const wchar_t *format, asf__arguments ap) {
    struct asf__place first = asf__place_in(ap);
    const wchar_t *f = format;
    o->format = format;
    while (*f != L'\0') {
        const wchar_t *next = *f != L'%'           ? put_literal(o, f)
                              : asf__format_custom ? NULL
                                                   : convert_specification(o, f + 1, ap);
        if (asf__unlikely(!next))
            return left_to_libc(o, f, ap, first);
        f = next;
    }
    return NULL;
}
