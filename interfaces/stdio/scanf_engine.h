/* SPDX-License-Identifier: MIT
 *
 * scanf_engine.h - what the files of the scanf engine share: a format taken
 * apart, and the input it is run on, a stream's window or a string.
 *
 * What is consumed, stored and left in errno is what glibc 2.36 does, its
 * oddities included.  A format or locale that asks for more than is done here
 * is refused before anything is read; libc then has the whole call.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#ifndef ASF_INTERFACES_SCANF_ENGINE_H
#define ASF_INTERFACES_SCANF_ENGINE_H

#include <ctype.h>
#include <stdarg.h>

#include "interfaces/stdio/stdio_cios.h"

#pragma GCC visibility push(hidden)

/* --- the format ------------------------------------------------------------- */

/* Which of the three families was called: in the oldest "%as" allocates; the
 * newest knows binary numbers. */
enum asf_dialect { ASF_SCAN_GNU, ASF_SCAN_C99, ASF_SCAN_C23 };

enum asf_directive_kind {
    ASF_SCAN_UNKNOWN, /* a letter that converts nothing: a mismatch */
    ASF_SCAN_TEXT,    /* to be matched; its white space stands for any */
    ASF_SCAN_INTEGER, /* %d %i %u %o %x %p %b */
    ASF_SCAN_FLOAT,
    ASF_SCAN_CHARS,
    ASF_SCAN_STRING,
    ASF_SCAN_SET,
    ASF_SCAN_COUNT,
    ASF_SCAN_PERCENT,
    ASF_SCAN_STOP, /* the format ends within a conversion: a mismatch, too */
};

/* Flags of a directive. */
enum {
    ASF_SCAN_SUPPRESS = 1,
    ASF_SCAN_LONG = 2,
    ASF_SCAN_LONGER = 4,
    ASF_SCAN_SHORT = 8,
    ASF_SCAN_CHAR = 16,
    ASF_SCAN_MALLOC = 32,     /* 'm' */
    ASF_SCAN_MALLOC_GNU = 64, /* 'a' */
    ASF_SCAN_SIGNED = 128,
    ASF_SCAN_POINTER = 256,
    ASF_SCAN_SKIPS = 512, /* white space before it goes */
    ASF_SCAN_BINARY = 1024,
};

struct asf_directive {
    const unsigned char *text, *text_end; /* of TEXT; of SET what stands in the brackets */
    int width;                            /* -1: none */
    int position;                         /* of its argument, from 1; 0: the next one */
    unsigned short flags;
    unsigned char kind;
    unsigned char base; /* of INTEGER; 0: as the digits say */
};

enum { ASF_DIRECTIVES = 64 };

/* asf__parse_scan: take a format apart; returns the number of directives, or
 * -1 when libc must do it. */
int asf__parse_scan(const char *format, enum asf_dialect dialect, struct asf_directive *list);

/* --- the input -------------------------------------------------------------- */

struct asf_scan {
    const unsigned char *at;      /* the next byte */
    char *const *end;             /* the window's end, which a truncated map draws in */
    const unsigned char *counted; /* `consumed` is up to here */
    size_t consumed;
    int last;      /* the byte read last; EOF, once it was met, stays */
    int end_errno; /* errno as it was then */
    int done;      /* assignments */
    bool skip;     /* white space in the format waits to be matched */
    const unsigned short *classes;
    struct asf_cios *stream; /* NULL: a string */
    char *string_end;
    va_list arguments, all;
    char **open; /* allocated by the directive that is running */
    int allocated;
    char **allocations[ASF_DIRECTIVES];
};

/* How a directive ended. */
enum asf_scan_result { ASF_SCANNED, ASF_MISMATCH, ASF_INPUT_END, ASF_NO_MEMORY };

/* asf__scan_more: asf__scan_next where the window is empty. */
int asf__scan_more(struct asf_scan *s);

static inline const unsigned char *asf__scan_end(const struct asf_scan *s) {
    return (const unsigned char *)__atomic_load_n(s->end, __ATOMIC_RELAXED);
}

static inline int asf__scan_next(struct asf_scan *s) {
    if (asf__likely(s->at < asf__scan_end(s)))
        return s->last = *s->at++;
    return asf__scan_more(s);
}

/* The byte read last stands before `at` in the same window. */
static inline void asf__scan_unget(struct asf_scan *s) {
    if (s->last != EOF)
        s->at--;
}

/* Have at least one byte in the window, or EOF. */
static inline bool asf__scan_ready(struct asf_scan *s) {
    if (asf__scan_next(s) == EOF)
        return false;
    s->at--;
    return true;
}

static inline bool asf__scan_is_space(const struct asf_scan *s, int ch) {
    return (s->classes[ch] & (unsigned short)_ISspace) != 0;
}

void *asf__scan_argument_at(struct asf_scan *s, int position);

static inline __attribute__((always_inline)) void *asf__scan_argument(struct asf_scan *s,
                                                                      const struct asf_directive *d) {
    if (asf__likely(d->position == 0))
        return va_arg(s->arguments, void *);
    return asf__scan_argument_at(s, d->position);
}

/* asf__scan_store: `value` as the directive's length modifier says. */
static inline void asf__scan_store(struct asf_scan *s, const struct asf_directive *d, uint64_t value) {
    void *to = asf__scan_argument(s, d);
    if (d->flags & ASF_SCAN_LONG)
        *(uint64_t *)to = value;
    else if (d->flags & ASF_SCAN_SHORT)
        *(uint16_t *)to = (uint16_t)value;
    else if (d->flags & ASF_SCAN_CHAR)
        *(uint8_t *)to = (uint8_t)value;
    else
        *(uint32_t *)to = (uint32_t)value;
}

static inline void asf__scan_assign(struct asf_scan *s, const struct asf_directive *d, uint64_t value) {
    if (d->flags & ASF_SCAN_SUPPRESS)
        return;
    asf__scan_store(s, d, value);
    s->done++;
}

enum asf_scan_result asf__scan_integer(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_float(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_chars(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_string(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_set(struct asf_scan *s, const struct asf_directive *d);

/* asf__scan_stream, asf__scan_text: the scanf call on a stream of ours, whose
 * lock is held, or on a string; -2 when libc must do it. */
enum { ASF_SCAN_REFUSED = -2 };
int asf__scan_stream(struct asf_cios *c, enum asf_dialect dialect, const char *format, va_list ap);
int asf__scan_text(const char *text, enum asf_dialect dialect, const char *format, va_list ap);

#pragma GCC visibility pop

#endif
