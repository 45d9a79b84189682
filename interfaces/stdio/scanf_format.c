/* SPDX-License-Identifier: MIT
 *
 * scanf_format.c - a scanf format taken apart into directives.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/scanf_engine.h"

#include <langinfo.h>
#include <limits.h>

typedef const unsigned char *text;

static inline bool is_digit(unsigned char c) {
    return (unsigned)(c - '0') < 10;
}

/* A number of the format; -1 when it is beyond an int, as glibc reads it. */
static text read_int(text p, int *n) {
    long value = 0;
    for (; is_digit(*p); p++)
        value = value < 0 || value * 10 + (*p - '0') > INT_MAX ? -1 : value * 10 + (*p - '0');
    *n = (int)value;
    return p;
}

/* A multibyte character is matched by the locale's encoding: libc does it. */
static text parse_text(text p, struct asf_directive *d) {
    d->kind = ASF_SCAN_TEXT;
    d->text = p;
    for (; *p && *p != '%'; p++)
        if (*p >= 0x80)
            return NULL;
    d->text_end = p;
    return p;
}

/* The flags; NULL for those that ask for the locale's digits or grouping. */
static text parse_flags(text p, struct asf_directive *d) {
    for (;; p++) {
        if (*p == '*')
            d->flags |= ASF_SCAN_SUPPRESS;
        else if (*p == 'I' || (*p == '\'' && *nl_langinfo(THOUSEP)))
            return NULL;
        else if (*p != '\'')
            return p;
    }
}

/* "12$" and "12": an argument's position, the flags, the width. */
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
        d->flags |= p[1] == 'h' ? ASF_SCAN_CHAR : ASF_SCAN_SHORT;
        return p + (p[1] == 'h' ? 2 : 1);
    case 'l':
        d->flags |= p[1] == 'l' ? ASF_SCAN_LONG | ASF_SCAN_LONGER : ASF_SCAN_LONG;
        return p + (p[1] == 'l' ? 2 : 1);
    case 'q':
    case 'L':
        d->flags |= ASF_SCAN_LONG | ASF_SCAN_LONGER;
        return p + 1;
    case 'j':
    case 'z':
    case 't':
        d->flags |= ASF_SCAN_LONG;
        return p + 1;
    case 'm':
        d->flags |= p[1] == 'l' ? ASF_SCAN_MALLOC | ASF_SCAN_LONG : ASF_SCAN_MALLOC;
        return p + (p[1] == 'l' ? 2 : 1);
    case 'a':
        if (dialect != ASF_SCAN_GNU || (p[1] != 's' && p[1] != 'S' && p[1] != '['))
            return p;
        d->flags |= ASF_SCAN_MALLOC_GNU;
        return p + 1;
    case 'w': /* C23's; what it means is for a libc that knows it */
        return dialect == ASF_SCAN_C23 ? NULL : p;
    default:
        return p;
    }
}

/* What each letter converts; the others are UNKNOWN. */
static const struct letter {
    unsigned char kind, base;
    unsigned short flags;
} letters[0x80] = {
    ['d'] = {ASF_SCAN_INTEGER, 10, ASF_SCAN_SKIPS | ASF_SCAN_SIGNED},
    ['i'] = {ASF_SCAN_INTEGER, 0, ASF_SCAN_SKIPS | ASF_SCAN_SIGNED},
    ['u'] = {ASF_SCAN_INTEGER, 10, ASF_SCAN_SKIPS},
    ['o'] = {ASF_SCAN_INTEGER, 8, ASF_SCAN_SKIPS},
    ['x'] = {ASF_SCAN_INTEGER, 16, ASF_SCAN_SKIPS},
    ['X'] = {ASF_SCAN_INTEGER, 16, ASF_SCAN_SKIPS},
    ['p'] = {ASF_SCAN_INTEGER, 16, ASF_SCAN_SKIPS | ASF_SCAN_LONG | ASF_SCAN_POINTER},
    ['e'] = {ASF_SCAN_FLOAT, 0, ASF_SCAN_SKIPS},
    ['E'] = {ASF_SCAN_FLOAT, 0, ASF_SCAN_SKIPS},
    ['f'] = {ASF_SCAN_FLOAT, 0, ASF_SCAN_SKIPS},
    ['F'] = {ASF_SCAN_FLOAT, 0, ASF_SCAN_SKIPS},
    ['g'] = {ASF_SCAN_FLOAT, 0, ASF_SCAN_SKIPS},
    ['G'] = {ASF_SCAN_FLOAT, 0, ASF_SCAN_SKIPS},
    ['a'] = {ASF_SCAN_FLOAT, 0, ASF_SCAN_SKIPS},
    ['A'] = {ASF_SCAN_FLOAT, 0, ASF_SCAN_SKIPS},
    ['s'] = {ASF_SCAN_STRING, 0, ASF_SCAN_SKIPS},
    ['S'] = {ASF_SCAN_STRING, 0, ASF_SCAN_SKIPS | ASF_SCAN_LONG},
    ['c'] = {ASF_SCAN_CHARS, 0, 0},
    ['C'] = {ASF_SCAN_CHARS, 0, ASF_SCAN_LONG},
    ['['] = {ASF_SCAN_SET, 0, 0},
    ['n'] = {ASF_SCAN_COUNT, 0, 0},
    ['%'] = {ASF_SCAN_PERCENT, 0, ASF_SCAN_SKIPS},
};

static __attribute__((noinline)) bool decimal_point_is_usual(void) {
    const char *point = nl_langinfo(RADIXCHAR);
    return point[0] == '.' && point[1] == '\0';
}

/* What C23 adds: %b, and 0b for %i. */
static __attribute__((noinline)) void allow_binary(struct asf_directive *d, unsigned char letter) {
    if (letter == 'b') {
        d->kind = ASF_SCAN_INTEGER;
        d->base = 2;
    }
    if (letter == 'b' || letter == 'i')
        d->flags |= ASF_SCAN_BINARY;
}

/* False when libc must do it: wide characters, an unusual decimal point. */
static inline bool take_letter(struct asf_directive *d, unsigned char letter, enum asf_dialect dialect) {
    struct letter l = letter < 0x80 ? letters[letter] : letters[0];
    d->kind = l.kind;
    d->base = l.base;
    d->flags |= l.flags | (l.kind == ASF_SCAN_UNKNOWN ? ASF_SCAN_SKIPS : 0);
    if (dialect == ASF_SCAN_C23)
        allow_binary(d, letter);
    if (l.kind == ASF_SCAN_FLOAT)
        return decimal_point_is_usual();
    return !(d->flags & ASF_SCAN_LONG) || l.kind == ASF_SCAN_INTEGER || l.kind == ASF_SCAN_COUNT ||
           l.kind == ASF_SCAN_PERCENT || l.kind == ASF_SCAN_UNKNOWN;
}

/* The end of a set, which a ']' or '-' in front belongs to; NULL when it has
 * none, which is libc's to punish. */
static __attribute__((noinline)) text parse_set(text p, struct asf_directive *d) {
    d->text = p;
    p += *p == '^';
    p += *p == ']' || *p == '-';
    while (*p && *p != ']')
        p++;
    d->text_end = p;
    return *p ? p + 1 : NULL;
}

/* Position, flags, width and length. */
static __attribute__((noinline)) text parse_modifiers(text p, enum asf_dialect dialect,
                                                      struct asf_directive *d) {
    p = parse_width(p, d);
    return p ? parse_length(p, dialect, d) : NULL;
}

/* Between the '%' and the letter there may be nothing. */
static inline bool is_plain(unsigned char c, enum asf_dialect dialect) {
    return c < 0x80 && letters[c].kind != ASF_SCAN_UNKNOWN && (c != 'a' || dialect != ASF_SCAN_GNU);
}

static inline text parse_conversion(text p, enum asf_dialect dialect, struct asf_directive *d) {
    if (!is_plain(*p, dialect) && !(p = parse_modifiers(p, dialect, d)))
        return NULL;
    if (*p == '\0') {
        d->kind = ASF_SCAN_STOP;
        return p;
    }
    unsigned char letter = *p++;
    if (!take_letter(d, letter, dialect))
        return NULL;
    return letter == '[' ? parse_set(p, d) : p;
}

int asf__parse_scan(const char *format, enum asf_dialect dialect, struct asf_directive *list) {
    text p = (text)format;
    struct asf_directive *d = list;
    for (; *p; d++) {
        if (d == list + ASF_DIRECTIVES)
            return -1;
        d->width = -1;
        d->position = 0;
        d->flags = 0;
        p = *p == '%' ? parse_conversion(p + 1, dialect, d) : parse_text(p, d);
        if (!p)
            return -1;
        if (d->kind == ASF_SCAN_UNKNOWN)
            return (int)(d - list) + 1;
    }
    return (int)(d - list);
}
