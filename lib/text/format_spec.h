/* SPDX-License-Identifier: MIT
 *
 * format_spec.h - shared by the files of printf's formatter: a conversion specification, the output,
 * and the fields that conversions put there.
 */
#ifndef ASF_LIB_FORMAT_SPEC_H
#define ASF_LIB_FORMAT_SPEC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "lib/sys/copy.h"
#include "lib/sys/lock.h"
#include "lib/text/format.h"

#pragma GCC visibility push(hidden)

enum asf__flag {
    FLAG_LEFT = 1,
    FLAG_ZERO = 2,
    FLAG_PLUS = 4,
    FLAG_SPACE = 8,
    FLAG_ALTERNATE = 16,
    FLAG_GROUP = 32
};

enum asf__length { LENGTH_INT, LENGTH_CHAR, LENGTH_SHORT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_WORD };

struct asf__spec {
    unsigned flags;
    int width;
    int precision; /* -1: none */
    enum asf__length length;
    char conversion;
};

/* libc copies up to 20 characters one by one.  So sprintf(s, "x%s", s), which overwrites its own
 * argument, has a special result, which is the same here. */
enum { ASF__ONE_BY_ONE = 20 };

static inline void asf__copy_text(char *to, const char *from, size_t n) {
    if (asf__unlikely((size_t)to - (size_t)from - 1 < n && n <= ASF__ONE_BY_ONE)) {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    } else if (n > 0) {
        asf__copy(to, from, n);
    }
}

/* The parts of a converted argument, which are put as blanks, prefix, zeros, text, zeros_after, suffix,
 * blanks.  For ASF__PUTS_GROUPS: `whole`: how many digits of a decimal number's text are before the
 * point; 0: the text is not such a number; `not_zero`: the number is not 0, although all its digits may
 * be; `group`: the size of the first group of digits after the point; less than 9: there is such a group
 * even if its digits are all zeros. */
struct asf__field {
    const char *prefix, *text, *suffix;
    size_t prefix_length, length, suffix_length, zeros, zeros_after;
    size_t whole, group;
    bool not_zero;
};

static inline size_t asf__left(const struct asf__output *o) {
    return (size_t)o->end - (size_t)o->p;
}

/* asf__put_beyond: put a chunk for which the output has no room.
 * asf__pad: put the character c n times; without room, in the same chunks as libc. */
void asf__put_beyond(struct asf__output *o, const char *text, size_t n);
void asf__pad(struct asf__output *o, char c, size_t n);

static inline void asf__put(struct asf__output *o, const char *text, size_t n) {
    if (asf__unlikely(asf__left(o) < n)) {
        asf__put_beyond(o, text, n);
        return;
    }
    if (n > 0)
        asf__copy(o->p, text, n);
    o->p += n;
}

/* asf__begin_field: put blanks, prefix and zeros before a text of `length` bytes, and return the address
 * where the caller writes that text.  NULL: the field does not fit, and nothing was put.
 * asf__end_field: put the blanks after the text. */
static inline char *asf__begin_field(struct asf__output *o, const struct asf__spec *s, const char *prefix,
                                     size_t prefix_length, size_t zeros, size_t length, size_t *behind) {
    size_t body = prefix_length + zeros + length, width = (size_t)s->width;
    size_t blanks = width > body ? width - body : 0;
    char *p = o->p;
    *behind = 0;
    if (asf__unlikely(asf__left(o) < body + blanks))
        return NULL;
    o->p += body + blanks;
    if (blanks) {
        if (s->flags & FLAG_LEFT) {
            *behind = blanks;
        } else if (s->flags & FLAG_ZERO) {
            zeros += blanks;
        } else {
            asf__repeat(p, ' ', blanks);
            p += blanks;
        }
    }
    while (prefix_length-- > 0)
        *p++ = *prefix++;
    if (zeros)
        asf__repeat(p, '0', zeros);
    return p + zeros;
}

static inline void asf__end_field(struct asf__output *o, size_t behind) {
    if (behind)
        asf__repeat(o->p - behind, ' ', behind);
}

static inline const char *asf__sign(const struct asf__spec *s, bool negative) {
    return negative ? "-" : s->flags & FLAG_PLUS ? "+" : s->flags & FLAG_SPACE ? " " : "";
}

/* asf__put_field: put a whole field; without room, in the same chunks as libc. */
void asf__put_field(struct asf__output *o, const struct asf__spec *s, const struct asf__field *f);

/* asf__parse_spec: parse the specification after a percent sign.  Returns the address of its letter,
 * which is also stored in `conversion`; NULL: left to libc. */
const char *asf__parse_spec(const char *f, struct asf__spec *s, asf__arguments ap);
/* asf__put_integer: make any integer conversion.  returns  false: another conversion, and nothing was
 * done.  The next three functions put a given value, the first two with `sign` ("" for none) before it. */
bool asf__put_integer(struct asf__output *o, struct asf__spec *s, asf__arguments ap);
void asf__put_decimal(struct asf__output *o, struct asf__spec *s, uint64_t value, const char *sign);
void asf__put_hexadecimal(struct asf__output *o, struct asf__spec *s, uint64_t value, const char *sign);
void asf__put_octal(struct asf__output *o, struct asf__spec *s, uint64_t value);
/* asf__convert: make one conversion; f is after its percent sign.  Returns the format after it; NULL: the
 * conversion is left to libc, and `ap` is unchanged. */
const char *asf__convert(struct asf__output *o, const char *f, asf__arguments ap);

/* asf__format_numbered: make a whole format with numbered arguments (%1$d).  Returns false if it is left
 * to libc; `ap` is then undefined. */
bool asf__format_numbered(struct asf__output *o, const char *format, asf__arguments ap);

/* asf__put_wide_string: make %ls; asf__put_wide_character: make %lc.  Return false: left to libc, since
 * the text has an uncommon character, or is long, or its character set is neither UTF-8 nor ASCII. */
bool asf__put_wide_string(struct asf__output *o, struct asf__spec *s, const wchar_t *text);
bool asf__put_wide_character(struct asf__output *o, struct asf__spec *s, wint_t ch);

/* asf__put_float: make %f %e %g %a and their capitals.  Returns false if the value or the environment is
 * left to libc. */
bool asf__put_float(struct asf__output *o, struct asf__spec *s, asf__arguments ap);
/* asf__put_real: make %e %f or %g (or a capital) of a double in the C locale, rounded to nearest. */
void asf__put_real(struct asf__output *o, char conversion, int precision, double value);

#pragma GCC visibility pop

#endif
