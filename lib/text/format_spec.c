/* SPDX-License-Identifier: MIT
 *
 * format_spec.c - parse a conversion specification.
 */
#define _GNU_SOURCE
#include "lib/text/format_spec.h"

#include <limits.h>

#include "lib/text/of_libc.h"

static inline const char *parse_flags(const char *f, struct asf__spec *s) {
    static const unsigned char flags[] = {[' ' - ' '] = FLAG_SPACE,  ['#' - ' '] = FLAG_ALTERNATE,
                                          ['\'' - ' '] = FLAG_GROUP, ['+' - ' '] = FLAG_PLUS,
                                          ['-' - ' '] = FLAG_LEFT,   ['0' - ' '] = FLAG_ZERO};
    for (;; f++) {
        unsigned i = (unsigned)(*f - ' ');
        if (i >= sizeof flags || flags[i] == 0)
            return f;
        s->flags |= flags[i];
    }
}

/* Parses a number or an asterisk.  Returns NULL if the number is too large, or numbered as in %1$*2$d. */
static inline const char *parse_number(const char *f, int *n, asf__arguments ap) {
    if (*f == '*') {
        *n = asf__next_of(ap, int);
        return *n == INT_MIN || (f[1] >= '0' && f[1] <= '9') ? NULL : f + 1;
    }
    for (*n = 0; *f >= '0' && *f <= '9'; f++) {
        if (*n > (INT_MAX - (*f - '0')) / 10)
            return NULL;
        *n = *n * 10 + (*f - '0');
    }
    return f;
}

static inline const char *parse_length(const char *f, struct asf__spec *s) {
    switch (*f) {
    case 'h':
        s->length = f[1] == 'h' ? LENGTH_CHAR : LENGTH_SHORT;
        return f[1] == 'h' ? f + 2 : f + 1;
    case 'l':
        s->length = f[1] == 'l' ? LENGTH_LONG_LONG : LENGTH_LONG;
        return f[1] == 'l' ? f + 2 : f + 1;
    case 'L':
    case 'q':
        s->length = LENGTH_LONG_LONG;
        return f + 1;
    case 'z':
    case 'Z':
    case 'j':
    case 't':
        s->length = LENGTH_WORD;
        return f + 1;
    default:
        return f;
    }
}

const char *asf__parse_spec(const char *f, struct asf__spec *s, asf__arguments ap) {
    f = parse_flags(f, s);
    if ((*f >= '1' && *f <= '9') || *f == '*') {
        f = parse_number(f, &s->width, ap);
        if (!f)
            return NULL;
        if (s->width < 0) {
            s->flags |= FLAG_LEFT;
            s->width = -s->width;
        }
    }
    if (*f == '.') {
        f = parse_number(f + 1, &s->precision, ap);
        if (!f)
            return NULL;
        if (s->precision < 0)
            s->precision = -1;
    }
    const char *length = f;
    f = parse_length(f, s);
    s->conversion = *f;
    return asf__knows_length(length, f) ? f : NULL;
}
