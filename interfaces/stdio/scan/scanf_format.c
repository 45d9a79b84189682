/* SPDX-License-Identifier: MIT
 *
 * scanf_format.c - parses a scanf format into directives.
 */
#include "interfaces/stdio/scan/scanf_engine.h"

#ifndef ASF_TEXT_BY_LIBC
#include <langinfo.h>
#include <wctype.h>

#include "lib/text/of_libc.h"

typedef const unsigned char *text;

static inline bool is_digit(unsigned char c) {
    return (unsigned)(c - '0') < 10;
}

/* Reads a number of the format.  As in glibc, it is -1 when it is beyond an int. */
static text read_int(text p, int *n) {
    long value = 0;
    for (; is_digit(*p); p++)
        value = value < 0 || value * 10 + (*p - '0') > INT_MAX ? -1 : value * 10 + (*p - '0');
    *n = (int)value;
    return p;
}

/* As in glibc, a multibyte character is matched byte by byte, and white space before it is not skipped.
 * Returns NULL if the bytes are no character: libc then makes the call. */
text asf__parse_text(text p, mbstate_t *state, struct asf_directive *d) {
    d->item.kind = ASF_SCAN_TEXT;
    d->text = p;
    if (*p >= 0x80) {
        int saved = errno, n = (int)mbrlen((const char *)p, strlen((const char *)p), state);
        errno = saved;
        d->item.kind = ASF_SCAN_BYTES;
        return d->text_end = n > 0 ? p + n : NULL;
    }
    while (*p && *p != '%' && *p < 0x80)
        p++;
    return d->text_end = p;
}

/* Parses the flags.  Returns NULL if they ask for the locale's digits or grouping. */
static text parse_flags(text p, struct asf_directive *d) {
    for (;; p++) {
        if (*p == '*')
            d->item.flags |= ASF_SCAN_SUPPRESS;
        else if (*p != '\'' && *p != 'I')
            return p;
        else if (!asf__scan_flag(*p))
            return NULL;
    }
}

/* Parses an argument's position ("12$"), the flags, and the width ("12"). */
static text parse_width(text p, struct asf_directive *d) {
    int n = 0;
    if (is_digit(*p)) {
        p = read_int(p, &n);
        if (*p != '$') {
            d->width = n ? n : -1;
            return p;
        }
        d->position = n;
        p++;
    }
    if (n < 0 || !(p = parse_flags(p, d)))
        return NULL;
    if (is_digit(*p)) {
        p = read_int(p, &n);
        d->width = n ? n : -1;
    }
    return p;
}

static text parse_length(text p, enum asf_dialect dialect, struct asf_directive *d) {
    switch (*p) {
    case 'h':
        d->item.flags |= p[1] == 'h' ? ASF_SCAN_CHAR : ASF_SCAN_SHORT;
        return p + (p[1] == 'h' ? 2 : 1);
    case 'l':
        d->item.flags |= p[1] == 'l' ? ASF_SCAN_LONG | ASF_SCAN_LONGER : ASF_SCAN_LONG;
        return p + (p[1] == 'l' ? 2 : 1);
    case 'q':
    case 'L':
        d->item.flags |= ASF_SCAN_LONG | ASF_SCAN_LONGER;
        return p + 1;
    case 'j':
    case 'z':
    case 't':
        d->item.flags |= ASF_SCAN_LONG;
        return p + 1;
    case 'm':
        d->item.flags |= p[1] == 'l' ? ASF_SCAN_MALLOC | ASF_SCAN_LONG : ASF_SCAN_MALLOC;
        return p + (p[1] == 'l' ? 2 : 1);
    case 'a':
        if (dialect != ASF_SCAN_GNU || !ASF_LIBC(scan_allocates_by_a) ||
            (p[1] != 's' && p[1] != 'S' && p[1] != '['))
            return p;
        d->item.flags |= ASF_SCAN_MALLOC_GNU;
        return p + 1;
    case 'w': /* C23's: left to libc, whose version may know it */
        return NULL;
    default:
        return p;
    }
}

const struct asf_item asf__scan_letters[UCHAR_MAX + 1] = {
    ['d'] = {ASF_SCAN_SKIPS | ASF_SCAN_SIGNED | ASF_SCAN_PLAIN, ASF_SCAN_INTEGER, 10},
    ['i'] = {ASF_SCAN_SKIPS | ASF_SCAN_SIGNED, ASF_SCAN_INTEGER, 0},
    ['u'] = {ASF_SCAN_SKIPS | ASF_SCAN_PLAIN, ASF_SCAN_INTEGER, 10},
    ['o'] = {ASF_SCAN_SKIPS | ASF_SCAN_PLAIN, ASF_SCAN_INTEGER, 8},
    ['x'] = {ASF_SCAN_SKIPS | ASF_SCAN_PLAIN, ASF_SCAN_INTEGER, 16},
    ['X'] = {ASF_SCAN_SKIPS | ASF_SCAN_PLAIN, ASF_SCAN_INTEGER, 16},
    ['p'] = {ASF_SCAN_SKIPS | ASF_SCAN_LONG | ASF_SCAN_POINTER | ASF_SCAN_PLAIN, ASF_SCAN_INTEGER, 16},
    ['e'] = {ASF_SCAN_SKIPS, ASF_SCAN_FLOAT, 0},
    ['E'] = {ASF_SCAN_SKIPS, ASF_SCAN_FLOAT, 0},
    ['f'] = {ASF_SCAN_SKIPS, ASF_SCAN_FLOAT, 0},
    ['F'] = {ASF_SCAN_SKIPS, ASF_SCAN_FLOAT, 0},
    ['g'] = {ASF_SCAN_SKIPS, ASF_SCAN_FLOAT, 0},
    ['G'] = {ASF_SCAN_SKIPS, ASF_SCAN_FLOAT, 0},
    ['a'] = {ASF_SCAN_SKIPS, ASF_SCAN_FLOAT, 0},
    ['A'] = {ASF_SCAN_SKIPS, ASF_SCAN_FLOAT, 0},
    ['s'] = {ASF_SCAN_SKIPS | ASF_SCAN_PLAIN, ASF_SCAN_STRING, 0},
    ['S'] = {ASF_SCAN_SKIPS | ASF_SCAN_LONG, ASF_SCAN_STRING, 0},
    ['c'] = {ASF_SCAN_PLAIN, ASF_SCAN_CHARS, 0},
    ['C'] = {ASF_SCAN_LONG, ASF_SCAN_CHARS, 0},
    ['['] = {0, ASF_SCAN_SET, 0},
    ['n'] = {ASF_SCAN_PLAIN, ASF_SCAN_COUNT, 0},
    ['%'] = {ASF_SCAN_SKIPS | ASF_SCAN_PLAIN, ASF_SCAN_PERCENT, 0},
};

/* Returns false if the decimal point has more than one byte: libc then makes the call. */
static bool set_decimal_point(struct asf_directive *d) {
    const char *point = nl_langinfo(RADIXCHAR);
    d->item.base = (unsigned char)*point;
    return point[0] != '\0' && point[1] == '\0';
}

/* Allows C23's %b, and 0b for %i. */
static void allow_binary(struct asf_directive *d, unsigned char letter, enum asf_dialect dialect) {
    if (dialect != ASF_SCAN_C23 && (letter == 'i' || !ASF_LIBC(scan_binary)))
        return;
    d->item.flags |= ASF_SCAN_BINARY;
    if (letter == 'b') {
        d->item.kind = ASF_SCAN_INTEGER;
        d->item.base = 2;
    }
}

/* Takes a conversion letter.  Returns false when libc must do the whole scanf call. */
static inline bool parse_letter(struct asf_directive *d, unsigned char letter, enum asf_dialect dialect) {
    struct asf_item l = asf__scan_letters[letter];
    d->item.kind = l.kind;
    d->item.base = l.base;
    d->item.flags |= l.flags | (l.kind == ASF_SCAN_UNKNOWN ? ASF_SCAN_SKIPS : 0);
    if (letter == 'b' || letter == 'i')
        allow_binary(d, letter, dialect);
    if (l.kind == ASF_SCAN_FLOAT)
        return set_decimal_point(d);
    bool of_text = l.kind == ASF_SCAN_CHARS || l.kind == ASF_SCAN_STRING || l.kind == ASF_SCAN_SET;
    if (of_text && d->item.flags & ASF_SCAN_LONG)
        d->item.kind = (unsigned char)(l.kind + ASF_SCAN_WIDE_CHARS - ASF_SCAN_CHARS);
    return true;
}

/* Finds the end of a set.  A ']' or '-' at its beginning belongs to it.  Returns NULL if it has no end:
 * libc then makes the call. */
static text parse_set(text p, struct asf_directive *d) {
    d->text = p;
    p += *p == '^';
    p += *p == ']' || *p == '-';
    while (*p && *p != ']')
        p++;
    d->text_end = p;
    return *p ? p + 1 : NULL;
}

/* Whether the set has a range that ends before it begins. */
static bool has_reversed_range(text p) {
    p += *p == '^';
    for (p++; *p && *p != ']'; p++)
        if (*p == '-' && p[1] != ']' && p[-1] > p[1])
            return true;
    return false;
}

/* Whether glibc and musl read the conversion [begin, p) differently: its width is 0, it is a %% with a width
 * or a flag, or its set is odd. */
static bool differs_in_musl(text begin, text p) {
    if (p[-1] == '%')
        return begin != p - 1;
    begin += *begin == '*';
    if (p[-1] == 'c')
        return begin != p - 1;
    if ((p[-1] == 's' && p[-2] == 'l') || p[-1] == 'S' || p[-1] == 'C')
        return true;
    return *begin == '0' || (p[-1] == '[' && has_reversed_range(p));
}

text asf__parse_conversion(text p, enum asf_dialect dialect, struct asf_directive *d) {
    text begin = p;
    d->item.flags = 0;
    p = parse_width(p, d);
    text length = p;
    if (p)
        p = parse_length(p, dialect, d);
    if (!p || !asf__knows_length((const char *)length, (const char *)p) ||
        (d->position && !ASF_LIBC(scan_odd_formats)))
        return NULL;
    if (*p == '\0') {
        d->item.kind = ASF_SCAN_STOP;
        return p;
    }
    unsigned char letter = *p++;
    if (!parse_letter(d, letter, dialect) || (!ASF_LIBC(scan_odd_formats) && differs_in_musl(begin, p)))
        return NULL;
    return letter == '[' ? parse_set(p, d) : p;
}
#endif
