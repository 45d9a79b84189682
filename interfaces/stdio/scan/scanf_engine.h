/* SPDX-License-Identifier: MIT
 *
 * scanf_engine.h - shared by the files of the scanf engine: a parsed format, and the input, which is a
 * stream's window or a string.
 *
 * A call consumes the same bytes, stores the same values and sets the same errno as glibc's, oddities
 * included.  Where versions of glibc differ, it follows the installed one.  A format or locale that the
 * engine does not support is refused before anything is read; libc then makes the whole call.
 */
#ifndef ASF_INTERFACES_SCANF_ENGINE_H
#define ASF_INTERFACES_SCANF_ENGINE_H

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <wchar.h>

#include "backplane/backplane.h"
#include "interfaces/stdio/stdio_cios.h"

#pragma GCC visibility push(hidden)

/* --- the format ------------------------------------------------------------- */

/* The three families of scanf's names.  In the first "%as" allocates memory; the last reads binary numbers.
 */
enum asf_dialect { ASF_SCAN_GNU, ASF_SCAN_C99, ASF_SCAN_C23 };

enum asf_directive_kind {
    ASF_SCAN_UNKNOWN, /* a letter that converts nothing; treated as a mismatch */
    ASF_SCAN_TEXT,    /* text to match; white space in it matches any white space */
    ASF_SCAN_BYTES,   /* bytes to match exactly */
    ASF_SCAN_INTEGER, /* %d %i %u %o %x %p %b */
    ASF_SCAN_FLOAT,
    ASF_SCAN_CHARS,
    ASF_SCAN_STRING,
    ASF_SCAN_SET,
    ASF_SCAN_WIDE_CHARS, /* the wide kinds, in the order of the three above */
    ASF_SCAN_WIDE_STRING,
    ASF_SCAN_WIDE_SET,
    ASF_SCAN_COUNT,
    ASF_SCAN_PERCENT,
    ASF_SCAN_STOP, /* the format ends within a conversion; treated as a mismatch */
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
    ASF_SCAN_SKIPS = 512, /* white space before it is skipped */
    ASF_SCAN_BINARY = 1024,
    ASF_SCAN_PLAIN = 2048, /* directly after the '%' the letter needs no further parsing */
};

struct asf_item {
    unsigned short flags;
    unsigned char kind;
    unsigned char base; /* an integer's base; 0: its prefix decides. For a float: the decimal point */
};

struct asf_directive {
    const unsigned char *text, *text_end; /* the text to match; for a set: the text in the brackets */
    int width;                            /* -1: none */
    int position;                         /* its argument's number, from 1; 0: the next argument */
    struct asf_item item;
};

enum { ASF_DIRECTIVES = 64 };

/* The conversion of each letter; letters without one are UNKNOWN. */
extern const struct asf_item asf__scan_letters[UCHAR_MAX + 1];

/* Each parses a directive of the format at p, a conversion from after its '%', and returns where the next
 * directive begins; NULL: libc must make the call.  The caller sets the directive's width to -1 and its
 * position to 0. */
const unsigned char *asf__parse_text(const unsigned char *p, mbstate_t *state, struct asf_directive *d);
const unsigned char *asf__parse_conversion(const unsigned char *p, enum asf_dialect dialect,
                                           struct asf_directive *d);

/* --- the input -------------------------------------------------------------- */

struct asf_scan {
    const unsigned char *at; /* the next byte */
    char *const *end;        /* the window's end, which moves back when a mapped file is truncated */
    struct asf_cios *stream; /* NULL: a string */
    char *limit;             /* for a bulk stream: where libc's block, and so the window, ends */
    bool single_threaded;    /* the process has one thread, so the call takes no lock */
    bool part;               /* the string may continue after string_end */
    char *string_end;
    const unsigned char *counted; /* `progress.consumed` counts the bytes before it */
    struct {
        size_t consumed;
        char **open;   /* memory that the present directive has allocated */
        int last;      /* the byte read last; once it is EOF, it stays EOF */
        int end_errno; /* errno at the first EOF */
        int done;      /* assignments */
        int allocated;
        bool skip; /* white space in the format waits to be matched */
    } progress;
    va_list *arguments; /* directives with a position do not advance it */
    char **allocations[ASF_DIRECTIVES];
};

/* How a directive ended. */
enum asf_scan_result { ASF_SCANNED, ASF_MISMATCH, ASF_INPUT_END, ASF_NO_MEMORY };

/* Whether the text of asf__scan_part was too short. */
static inline bool asf__scan_is_truncated(const struct asf_scan *s) {
    return s->progress.last == EOF && s->part;
}

/* asf__scan_unless_truncated: r, or ASF_INPUT_END if the text was too short: the directive then stores
 * nothing. */
static inline enum asf_scan_result asf__scan_unless_truncated(const struct asf_scan *s,
                                                              enum asf_scan_result r) {
    return r == ASF_SCANNED && asf__scan_is_truncated(s) ? ASF_INPUT_END : r;
}

/* asf__scan_refill: asf__scan_next with an empty window. */
int asf__scan_refill(struct asf_scan *s);

static inline const unsigned char *asf__scan_end(const struct asf_scan *s) {
    return (const unsigned char *)__atomic_load_n(s->end, __ATOMIC_RELAXED);
}

static inline int asf__scan_next(struct asf_scan *s) {
    if (asf__likely(s->at < asf__scan_end(s)))
        return s->progress.last = *s->at++;
    return asf__scan_refill(s);
}

/* Gives back the byte read last, which is before `at` in the same window. */
static inline void asf__scan_unget(struct asf_scan *s) {
    if (s->progress.last != EOF)
        s->at--;
}

/* Whether the string has ended; the window must be empty.  If so, sets `last` to EOF.  False for a stream:
 * only a read finds its end. */
static inline bool asf__scan_ended(struct asf_scan *s) {
    if (s->stream || *s->string_end != '\0')
        return false;
    if (s->progress.last != EOF) {
        s->progress.last = EOF;
        s->progress.end_errno = errno;
    }
    return true;
}

/* ASCII's white space is the same in every locale. */
static inline bool asf__scan_is_space(int ch) {
    if (asf__likely(ch < 0x80))
        return ch == ' ' || (unsigned)(ch - '\t') < 5;
    return isspace(ch) != 0;
}

/* asf__scan_space_in: the index of the first white space among 16 bytes; 16: none; ASF_SCAN_NOT_ASCII: a byte
 * beyond ASCII comes first, and the locale decides whether it is white space. */
enum { ASF_SCAN_NOT_ASCII = 17 };
static inline unsigned asf__scan_space_in(const unsigned char *p) {
    typedef unsigned char bytes __attribute__((vector_size(16), aligned(1), may_alias));
    typedef unsigned char vector __attribute__((vector_size(16)));
    vector v = *(const bytes *)p;
    vector space = (vector)(v == ' ') | (vector)((vector)(v - '\t') < 5);
    unsigned beyond = asf__high_bits(v);
    unsigned at = (unsigned)__builtin_ctz(asf__high_bits(space) | beyond | 0x10000);
    return asf__unlikely(beyond >> at & 1) ? ASF_SCAN_NOT_ASCII : at;
}

void *asf__scan_argument_at(struct asf_scan *s, int position);

static inline __attribute__((always_inline)) void *asf__scan_argument(struct asf_scan *s,
                                                                      const struct asf_directive *d) {
    if (asf__likely(d->position == 0))
        return va_arg(*s->arguments, void *);
    return asf__scan_argument_at(s, d->position);
}

/* asf__scan_store: store `value` in the size that the directive's length modifier gives. */
static inline void asf__scan_store(struct asf_scan *s, const struct asf_directive *d, uint64_t value) {
    void *to = asf__scan_argument(s, d);
    if (d->item.flags & ASF_SCAN_LONG)
        *(uint64_t *)to = value;
    else if (d->item.flags & ASF_SCAN_SHORT)
        *(uint16_t *)to = (uint16_t)value;
    else if (d->item.flags & ASF_SCAN_CHAR)
        *(uint8_t *)to = (uint8_t)value;
    else
        *(uint32_t *)to = (uint32_t)value;
}

static inline void asf__scan_assign(struct asf_scan *s, const struct asf_directive *d, uint64_t value) {
    if (d->item.flags & ASF_SCAN_SUPPRESS)
        return;
    asf__scan_store(s, d, value);
    s->progress.done++;
}

/* asf__scan_consumed: the bytes that the call has consumed. */
static inline size_t asf__scan_consumed(const struct asf_scan *s) {
    return s->progress.consumed + (size_t)(s->at - s->counted);
}

enum asf_scan_result asf__scan_integer(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_float(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_chars(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_string(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_set(struct asf_scan *s, const struct asf_directive *d);

enum asf_scan_result asf__scan_wide_chars(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_wide_string(struct asf_scan *s, const struct asf_directive *d);
enum asf_scan_result asf__scan_wide_set(struct asf_scan *s, const struct asf_directive *d);

/* --- storing text ------------------------------------------------------------- */

struct asf_sink {
    char *to;        /* where text is stored; NULL: it is not stored */
    size_t room;     /* bytes that can be stored before the memory must grow */
    char **owner;    /* the program's pointer to allocated memory, or NULL */
    size_t size;     /* the size of the memory to allocate */
    size_t reserved; /* the part of `size` for the null at the end; 0: no null */
};

enum { ASF_SCAN_FIRST_SIZE = 100, ASF_SCAN_LARGEST_FIRST = 1024 }; /* glibc's, in characters */

/* asf__scan_open: take the argument that the text is stored to; the caller has set `size` and `reserved`.
 * asf__scan_allocate: the same for "%ms", and allocate memory.  asf__scan_grow: allocate more. */
enum asf_scan_result asf__scan_allocate(struct asf_scan *s, const struct asf_directive *d,
                                        struct asf_sink *k);
enum asf_scan_result asf__scan_grow(struct asf_scan *s, const struct asf_directive *d, struct asf_sink *k);
/* asf__scan_close: end the text and count the assignment. */
void asf__scan_close(struct asf_scan *s, struct asf_sink *k);

static inline enum asf_scan_result asf__scan_open(struct asf_scan *s, const struct asf_directive *d,
                                                  struct asf_sink *k) {
    k->room = SIZE_MAX;
    k->owner = NULL;
    k->to = NULL;
    if (d->item.flags & ASF_SCAN_SUPPRESS)
        return ASF_SCANNED;
    if (d->item.flags & (ASF_SCAN_MALLOC | ASF_SCAN_MALLOC_GNU))
        return asf__scan_allocate(s, d, k);
    k->to = asf__scan_argument(s, d);
    return k->to ? ASF_SCANNED : ASF_MISMATCH;
}

static inline size_t asf__scan_width(const struct asf_directive *d) {
    return d->width > 0 ? (size_t)d->width : SIZE_MAX;
}

/* The bytes that a "%[" takes. */
struct asf_set {
    _Alignas(16) unsigned char member[UCHAR_MAX + 1];
};
void asf__scan_fill_set(struct asf_set *set, const struct asf_directive *d);

/* --- calls -------------------------------------------------------------------- */

/* asf__scan_stream, asf__scan_text: scanf on a stream, or on a string.  The call advances *ap past the
 * arguments. */
int asf__scan_stream(struct asf_cios *c, enum asf_dialect dialect, const char *format, va_list *ap);
int asf__scan_text(const char *text, enum asf_dialect dialect, const char *format, va_list *ap);

/* libc's own code makes the calls that the engine refuses (glibc/glibc_scan.c, musl/musl_scan.c): on a
 * stream, which is not locked, and on a string. */
int asf__libc_scan(struct asf_cios *c, enum asf_dialect dialect, const char *format, va_list *ap);
int asf__libc_scan_text(const char *text, enum asf_dialect dialect, const char *format, va_list *ap);

/* asf__scan_part: the call on n bytes of text that may continue after them; text[n] is not a null.
 * *taken: how many bytes were consumed.  returns  ASF_SCAN_BY_LIBC if the text is too short or the engine
 * refuses the format: libc must make the whole call, and stores the same values again. */
enum { ASF_SCAN_BY_LIBC = EOF - 1 };
int asf__scan_part(const char *text, size_t n, enum asf_dialect dialect, const char *format, va_list *ap,
                   size_t *taken);

#pragma GCC visibility pop

#endif
