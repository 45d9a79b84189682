/* SPDX-License-Identifier: MIT
 *
 * format_plain.h - format the plain beginning of a format: text, conversions with only l, ll or z between
 * the percent sign and the letter, and conversions like %02x.  Inline, so that formatting into a window
 * costs no call.
 */
#ifndef ASF_LIB_FORMAT_PLAIN_H
#define ASF_LIB_FORMAT_PLAIN_H

#include "lib/text/format.h"
#include "lib/text/format_digits.h"
#include "lib/text/format_spec.h"
#include "lib/text/of_libc.h"

#pragma GCC visibility push(hidden)

/* ASF__INTEGER_ROOM: the length of the longest long, -9223372036854775808.  ASF__ROOM_BEHIND: the room
 * needed after text, so that a "%%" after it also fits, if both are one chunk. */
enum { ASF__INTEGER_ROOM = 20, ASF__ROOM_BEHIND = ASF__PUTS_GROUPS ? ASF__INTEGER_ROOM : 0 };

/* asf__plain_large: write a number of any size (format_integer.c). */
char *asf__plain_large(char *p, uint64_t n);

static inline __attribute__((always_inline)) char *asf__plain_unsigned(char *p, uint64_t n) {
    if (n >= 100)
        return asf__plain_large(p, n);
    if (n >= 10)
        asf__write_pair(p, (unsigned)n);
    else
        *p = (char)('0' + n);
    return p + 1 + (n >= 10);
}

static inline char *asf__plain_signed(char *p, int64_t v) {
    *p = '-';
    return asf__plain_unsigned(p + (v < 0), v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static inline char *asf__plain_hexadecimal(char *p, uint32_t n, unsigned least) {
    struct asf__short_text t = asf__short_hexadecimal(n, false, least);
    asf__store(p, t);
    return p + t.length;
}

static inline char *asf__plain_long_hexadecimal(char *p, uint64_t n) {
    uint32_t high = (uint32_t)(n >> 32);
    if (high)
        p = asf__plain_hexadecimal(p, high, 1);
    return asf__plain_hexadecimal(p, (uint32_t)n, high ? 8 : 1);
}

static inline char *asf__plain_pointer(char *p, const void *value) {
    if (asf__unlikely(!value)) {
        enum { LENGTH = ASF__KNOWN_POINTERS ? 5 : 1 };
        memcpy(p, ASF__KNOWN_POINTERS ? "(nil)" : "0", LENGTH);
        return p + LENGTH;
    }
    memcpy(p, "0x", 2);
    return asf__plain_long_hexadecimal(p + 2, (uintptr_t)value);
}

/* Puts a string that fits.  Returns NULL if it does not fit or is NULL; the argument is then not taken. */
static inline char *asf__plain_string(char *p, const char *end, asf__arguments ap) {
    const __auto_type general = asf__general(ap);
    const char *text = asf__next_of(ap, const char *);
    size_t left = (size_t)(end - p), n = text ? strnlen(text, left) : left;
    if (asf__unlikely(n == left)) {
        asf__untake(ap, general);
        return NULL;
    }
    asf__copy_text(p, text, n);
    return p + n;
}

/* The state after the part of a format that is plain and for which there was room. */
struct asf__format_begun {
    char *p;       /* the end of the text made; NULL: none, and no argument was taken */
    const char *f; /* the rest of the format */
};

/* asf__convert_here: make one conversion; f is after its percent sign.  There must be room for all its
 * text. */
struct asf__format_begun asf__convert_here(char *p, char *end, const char *f, asf__arguments ap);

/* Makes a conversion of the length l, ll or z; f is at the l or z. */
static inline struct asf__format_begun asf__plain_long(char *p, char *end, const char *f, asf__arguments ap) {
    const char *letter = f + 1 + (f[0] == 'l' && f[1] == 'l');
    switch (*letter) {
    case 'd':
        return (struct asf__format_begun){asf__plain_signed(p, asf__next_of(ap, long)), letter + 1};
    case 'u':
        return (struct asf__format_begun){asf__plain_unsigned(p, asf__next_of(ap, unsigned long)),
                                          letter + 1};
    case 'x':
        return (struct asf__format_begun){asf__plain_long_hexadecimal(p, asf__next_of(ap, unsigned long)),
                                          letter + 1};
    default:
        return asf__convert_here(p, end, f, ap);
    }
}

/* Makes one conversion; f is after its percent sign. */
static inline __attribute__((always_inline)) struct asf__format_begun
asf__plain_conversion(char *p, char *end, const char *f, asf__arguments ap) {
    switch (*f) {
    case 'd':
    case 'i':
        p = asf__plain_signed(p, asf__next_of(ap, int));
        break;
    case 'u':
        p = asf__plain_unsigned(p, asf__next_of(ap, unsigned));
        break;
    case 'x':
        p = asf__plain_hexadecimal(p, asf__next_of(ap, unsigned), 1);
        break;
    case '0':
        if (f[1] < '1' || f[1] > '8' || f[2] != 'x')
            return asf__convert_here(p, end, f, ap);
        p = asf__plain_hexadecimal(p, asf__next_of(ap, unsigned), (unsigned)(f[1] - '0'));
        f += 2;
        break;
    case 'l':
    case 'z':
        return asf__plain_long(p, end, f, ap);
    case 's':
        p = asf__plain_string(p, end, ap);
        break;
    case 'c':
        *p++ = (char)asf__next_of(ap, int);
        break;
    case 'p':
        p = asf__plain_pointer(p, asf__next_of(ap, void *));
        break;
    case '%':
        *p++ = '%';
        break;
    default:
        return asf__convert_here(p, end, f, ap);
    }
    return (struct asf__format_begun){p, f + 1};
}

/* Returns the end of literal text.  The text is usually short, so a loop precedes the call. */
static inline const char *asf__literal_end(const char *f) {
    const char *end = f + 1;
    while (*end != '%' && *end != '\0')
        if (++end - f == 5)
            return strchrnul(end, '%');
    return end;
}

static inline __attribute__((always_inline)) struct asf__format_begun
asf__format_plain(char *p, char *end, const char *f, asf__arguments ap) {
    while (*f != '\0' && asf__likely(end - p >= ASF__INTEGER_ROOM)) {
        if (*f == '%') {
            struct asf__format_begun next = asf__plain_conversion(p, end, f + 1, ap);
            if (asf__unlikely(!next.p))
                break;
            p = next.p;
            f = next.f;
        } else if (f[1] == '%' || f[1] == '\0') {
            *p++ = *f++;
        } else {
            const char *behind = asf__literal_end(f);
            if (asf__unlikely(end - p < behind - f + ASF__ROOM_BEHIND))
                break;
            asf__copy(p, f, (size_t)(behind - f));
            p += behind - f;
            f = behind;
        }
    }
    return (struct asf__format_begun){p, f};
}

/* asf__format_on: continue asf__format at f, where asf__format_plain stopped.
 *   first   the position of the first argument */
const char *asf__format_on(struct asf__output *o, const char *f, const char *format, asf__arguments ap,
                           struct asf__place first);

/* asf__format_begins: whether asf__format_plain may be called. */
static inline bool asf__format_begins(const char *format) {
    return asf__likely(format && !asf__format_custom);
}

#pragma GCC visibility pop

#endif
