/* SPDX-License-Identifier: MIT
 *
 * format_spec.h - what the files of printf's formatter share: a conversion
 * specification, the output, and the shape that every conversion has there.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_FORMAT_SPEC_H
#define ASF_LIB_FORMAT_SPEC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/copy.h"
#include "lib/lock.h"

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

/* Memory up to `end`, and how much more there would have been. */
struct asf__output {
    char *p, *end;
    size_t lost;
};

/* Blanks, prefix, zeros, text, more zeros, suffix, blanks. */
struct asf__field {
    const char *prefix, *text, *suffix;
    size_t prefix_length, length, suffix_length, zeros, zeros_after;
};

static inline size_t asf__left(const struct asf__output *o) {
    return (size_t)o->end - (size_t)o->p;
}

/* asf__put_part, asf__pad_part: as much as there is room for; for when it
 * does not all fit. */
void asf__put_part(struct asf__output *o, const char *text, size_t n);
void asf__pad_part(struct asf__output *o, char c, size_t n);

static inline void asf__put(struct asf__output *o, const char *text, size_t n) {
    if (asf__unlikely(asf__left(o) < n)) {
        asf__put_part(o, text, n);
        return;
    }
    if (n > 0)
        asf__copy(o->p, text, n);
    o->p += n;
}

static inline void asf__pad(struct asf__output *o, char c, size_t n) {
    if (asf__unlikely(asf__left(o) < n)) {
        asf__pad_part(o, c, n);
        return;
    }
    asf__repeat(o->p, c, n);
    o->p += n;
}

/* asf__blanks: what is missing of the width; with the flag 0 it is zeros. */
static inline size_t asf__blanks(const struct asf__spec *s, size_t length, size_t *zeros) {
    size_t blanks = (size_t)s->width > length ? (size_t)s->width - length : 0;
    if ((s->flags & (FLAG_ZERO | FLAG_LEFT)) == FLAG_ZERO) {
        *zeros += blanks;
        blanks = 0;
    }
    return blanks;
}

static inline const char *asf__sign(const struct asf__spec *s, bool negative) {
    return negative ? "-" : s->flags & FLAG_PLUS ? "+" : s->flags & FLAG_SPACE ? " " : "";
}

void asf__put_field(struct asf__output *o, const struct asf__spec *s, const struct asf__field *f);

/* asf__put_float: %f %e %g and their capitals; false when the value or the
 * environment is left to libc. */
bool asf__put_float(struct asf__output *o, const struct asf__spec *s, va_list *ap);

#pragma GCC visibility pop

#endif
