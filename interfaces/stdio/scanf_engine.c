/* SPDX-License-Identifier: MIT
 *
 * scanf_engine.c - runs a format's directives on a stream's window or on a
 * string: white space, literal text, counts, and how a call ends.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/scanf_engine.h"

#include <stdlib.h>

/* --- the input -------------------------------------------------------------- */

/* Of a string no more is looked at than is read, at most so much further. */
enum { FIRST_LOOK = 64, FURTHER_LOOK = 1024 };

static int more_of_stream(struct asf_scan *s) {
    struct asf_cios *c = s->stream;
    c->read_ptr = (char *)s->at;
    asf__enter(c); /* while the process has one thread scanf itself takes no lock */
    int ch = asf__uflow(c);
    asf__leave(c);
    s->at = s->counted = (const unsigned char *)c->read_ptr;
    s->consumed += ch != EOF;
    return ch;
}

static int more_of_string(struct asf_scan *s) {
    size_t n = strnlen(s->string_end, FURTHER_LOOK);
    s->string_end += n;
    s->counted = s->at;
    if (n == 0)
        return EOF;
    s->consumed++;
    s->counted++;
    return *s->at++;
}

int asf__scan_more(struct asf_scan *s) {
    if (s->last == EOF) {
        errno = s->end_errno;
        return EOF;
    }
    s->consumed += (size_t)(s->at - s->counted);
    s->last = s->stream ? more_of_stream(s) : more_of_string(s);
    if (s->last == EOF)
        s->end_errno = errno;
    return s->last;
}

/* --- white space and text ----------------------------------------------------- */

/* As glibc: errno comes back afterwards, but not when a signal ended it. */
static __attribute__((noinline)) bool skip_further(struct asf_scan *s) {
    int saved = errno;
    errno = 0;
    do {
        if ((s->last == EOF || asf__scan_next(s) == EOF) && errno == EINTR)
            return false;
    } while (s->last != EOF && asf__scan_is_space(s, s->last));
    errno = saved;
    asf__scan_unget(s);
    return true;
}

/* White space before a conversion; false when reading was interrupted. */
static inline bool skip_space(struct asf_scan *s) {
    const unsigned char *p = s->at;
    s->skip = false;
    while (p < asf__scan_end(s) && asf__scan_is_space(s, *p))
        p++;
    s->at = p;
    return p < asf__scan_end(s) || skip_further(s);
}

/* White space that ends the format. */
static void skip_last(struct asf_scan *s) {
    int ch;
    do
        ch = asf__scan_next(s);
    while (ch != EOF && asf__scan_is_space(s, ch));
    asf__scan_unget(s);
}

static enum asf_scan_result match_character(struct asf_scan *s, int wanted) {
    int ch = asf__scan_next(s);
    while (s->skip && ch != EOF && asf__scan_is_space(s, ch))
        ch = asf__scan_next(s);
    if (ch == EOF)
        return ASF_INPUT_END;
    s->skip = false;
    if (ch == wanted)
        return ASF_SCANNED;
    asf__scan_unget(s);
    return ASF_MISMATCH;
}

static inline enum asf_scan_result match_text(struct asf_scan *s, const struct asf_directive *d) {
    for (const unsigned char *p = d->text; p < d->text_end; p++) {
        if (asf__scan_is_space(s, *p)) {
            s->skip = true;
        } else {
            enum asf_scan_result r = match_character(s, *p);
            if (r != ASF_SCANNED)
                return r;
        }
    }
    return ASF_SCANNED;
}

/* --- directives ----------------------------------------------------------------- */

void *asf__scan_argument_at(struct asf_scan *s, int position) {
    va_list ap;
    va_copy(ap, s->all);
    for (int i = 1; i < position; i++)
        (void)va_arg(ap, void *);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return argument;
}

static enum asf_scan_result count(struct asf_scan *s, const struct asf_directive *d) {
    if (!(d->flags & ASF_SCAN_SUPPRESS))
        asf__scan_store(s, d, s->consumed + (size_t)(s->at - s->counted));
    return ASF_SCANNED;
}

/* The usual case of all: a plain %d, and a number that ends in the window. */
static inline enum asf_scan_result integer(struct asf_scan *s, const struct asf_directive *d) {
    enum { MOST = 18 };
    const unsigned char *p = s->at, *end = asf__scan_end(s);
    if (d->base != 10 || d->width > 0 || p >= end)
        return asf__scan_integer(s, d);
    bool negative = *p == '-';
    p += negative | (*p == '+');
    const unsigned char *first = p;
    uint64_t value = 0;
    end = end - p > MOST ? p + MOST : end;
    for (; p < end && (unsigned)(*p - '0') < 10; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    if (p == first || p == end)
        return asf__scan_integer(s, d);
    s->at = p;
    asf__scan_assign(s, d, negative ? 0 - value : value);
    return ASF_SCANNED;
}

static inline enum asf_scan_result convert(struct asf_scan *s, const struct asf_directive *d) {
    if ((s->skip || d->flags & ASF_SCAN_SKIPS) && !skip_space(s))
        return ASF_INPUT_END;
    switch ((enum asf_directive_kind)d->kind) {
    case ASF_SCAN_INTEGER:
        return integer(s, d);
    case ASF_SCAN_FLOAT:
        return asf__scan_float(s, d);
    case ASF_SCAN_CHARS:
        return asf__scan_chars(s, d);
    case ASF_SCAN_STRING:
        return asf__scan_string(s, d);
    case ASF_SCAN_SET:
        return asf__scan_set(s, d);
    case ASF_SCAN_COUNT:
        return count(s, d);
    case ASF_SCAN_PERCENT:
        return match_character(s, '%');
    default:
        return ASF_MISMATCH;
    }
}

static enum asf_scan_result run(struct asf_scan *s, const struct asf_directive *d, int n) {
    for (const struct asf_directive *last = d + n; d < last; d++) {
        enum asf_scan_result r = d->kind == ASF_SCAN_TEXT   ? match_text(s, d)
                                 : d->kind == ASF_SCAN_STOP ? ASF_MISMATCH
                                                            : convert(s, d);
        if (r != ASF_SCANNED)
            return r;
    }
    if (s->skip)
        skip_last(s);
    return ASF_SCANNED;
}

/* --- how a call ends -------------------------------------------------------------- */

static __attribute__((noinline)) void release(char **owner) {
    free(*owner);
    *owner = NULL;
}

/* What glibc returns, and what it frees of "%ms". */
static __attribute__((noinline)) int conclude(struct asf_scan *s, enum asf_scan_result r) {
    bool none = r == ASF_NO_MEMORY || (r == ASF_INPUT_END && s->done == 0);
    for (int i = 0; none && i < s->allocated; i++)
        release(s->allocations[i]);
    if (!none && s->open)
        release(s->open);
    return none ? EOF : s->done;
}

/* The arguments and where to read have been filled in. */
static inline int scan(struct asf_scan *s, const struct asf_directive *list, int n) {
    s->counted = s->at;
    s->consumed = 0;
    s->last = s->done = s->allocated = 0;
    s->skip = false;
    s->open = NULL;
    s->classes = *__ctype_b_loc();
    enum asf_scan_result r = run(s, list, n);
    return asf__likely(r == ASF_SCANNED) ? s->done : conclude(s, r);
}

int asf__scan_stream(struct asf_cios *c, enum asf_dialect dialect, const char *format, va_list ap) {
    struct asf_directive list[ASF_DIRECTIVES];
    struct asf_scan s;
    if (!asf__ours(c) || !format || c->flags & ASF_NO_READS || !asf__bytes(c))
        return ASF_SCAN_REFUSED;
    int n = asf__parse_scan(format, dialect, list);
    if (n < 0)
        return ASF_SCAN_REFUSED;
    s.stream = c;
    s.at = (const unsigned char *)c->read_ptr;
    s.end = &c->read_end;
    va_copy(s.arguments, ap);
    va_copy(s.all, ap);
    n = scan(&s, list, n);
    va_end(s.arguments);
    va_end(s.all);
    c->read_ptr = (char *)s.at;
    return n;
}

int asf__scan_text(const char *text, enum asf_dialect dialect, const char *format, va_list ap) {
    struct asf_directive list[ASF_DIRECTIVES];
    struct asf_scan s;
    int n = format ? asf__parse_scan(format, dialect, list) : -1;
    if (n < 0)
        return ASF_SCAN_REFUSED;
    s.stream = NULL;
    s.at = (const unsigned char *)text;
    s.string_end = (char *)text + strnlen(text, FIRST_LOOK);
    s.end = &s.string_end;
    va_copy(s.arguments, ap);
    va_copy(s.all, ap);
    n = scan(&s, list, n);
    va_end(s.arguments);
    va_end(s.all);
    return n;
}
