/* SPDX-License-Identifier: MIT
 *
 * scanf_engine.c - a scanf call on a stream's window or on a string: parses the format, runs its directives,
 * and ends the call.  Calls that the engine refuses are made by libc, on our FILE through its window and jump
 * table.
 */
#include "interfaces/stdio/scan/scanf_engine.h"

#ifndef ASF_TEXT_BY_LIBC
#include <stdlib.h>

/* --- the input -------------------------------------------------------------- */

/* How many bytes beyond those already read strnlen searches for the end of a string. */
enum { FIRST_SEARCH = 64, NEXT_SEARCH = 1024 };

/* Whether the window is that of the large buffer; not bytes that were pushed back. */
static inline bool has_large_window(const struct asf_cios *c) {
    return asf__unlikely(c->bulk.own != NULL) && !(c->flags & ASF_IN_BACKUP);
}

/* In a bulk stream's window the engine stops where libc's buffer would end.  refill_from_stream then notes
 * that libc has filled its buffer again.
 */
static void find_window(struct asf_scan *s) {
    struct asf_cios *c = s->stream;
    s->at = (const unsigned char *)c->read_ptr;
    s->end = has_large_window(c) ? &s->limit : &c->read_end;
    s->limit = has_large_window(c) ? asf__own_end(c) : NULL;
}

static int refill_from_stream(struct asf_scan *s) {
    struct asf_cios *c = s->stream;
    c->read_ptr = (char *)s->at;
    if (s->single_threaded)
        asf__enter(c);
    int ch = asf__uflow(c);
    if (ch != EOF && has_large_window(c))
        asf__look_at(c);
    if (s->single_threaded)
        asf__leave(c);
    find_window(s);
    s->counted = s->at;
    s->progress.consumed += ch != EOF;
    return ch;
}

static int refill_from_string(struct asf_scan *s) {
    size_t n = s->part ? 0 : strnlen(s->string_end, NEXT_SEARCH);
    s->string_end += n;
    s->counted = s->at;
    if (n == 0)
        return EOF;
    s->progress.consumed++;
    s->counted++;
    return *s->at++;
}

int asf__scan_refill(struct asf_scan *s) {
    if (s->progress.last == EOF) {
        errno = s->progress.end_errno;
        return EOF;
    }
    s->progress.consumed += (size_t)(s->at - s->counted);
    s->progress.last = s->stream ? refill_from_stream(s) : refill_from_string(s);
    if (s->progress.last == EOF)
        s->progress.end_errno = errno;
    return s->progress.last;
}

/* --- white space and text ----------------------------------------------------- */

/* Skips white space beyond the window.  glibc restores errno afterwards, unless a signal ended the read.
 * Returns false if a signal ended the read, or the text was too short. */
static __attribute__((noinline)) bool skip_space_past_window(struct asf_scan *s) {
    const bool restores = ASF_LIBC(scan_clears_errno);
    int saved = errno;
    if (restores)
        errno = 0;
    do {
        if ((s->progress.last == EOF || asf__scan_next(s) == EOF) && restores && errno == EINTR)
            return false;
    } while (s->progress.last != EOF && asf__scan_is_space(s->progress.last));
    if (restores)
        errno = saved;
    asf__scan_unget(s);
    return !asf__scan_is_truncated(s);
}

/* Skips white space before a conversion.  Returns false if a signal ended the read, or the text was too
 * short. */
static inline bool skip_space(struct asf_scan *s) {
    const unsigned char *p = s->at;
    s->progress.skip = false;
    while (p < asf__scan_end(s) && asf__scan_is_space(*p))
        p++;
    s->at = p;
    return p < asf__scan_end(s) || skip_space_past_window(s);
}

/* Skips white space that ends the format. */
static void skip_trailing_space(struct asf_scan *s) {
    int ch;
    const unsigned char *p = s->at;
    while (p < asf__scan_end(s) && asf__scan_is_space(*p))
        p++;
    s->at = p;
    do
        ch = asf__scan_next(s);
    while (ch != EOF && asf__scan_is_space(ch));
    asf__scan_unget(s);
}

static enum asf_scan_result match_character(struct asf_scan *s, int wanted) {
    int ch = asf__scan_next(s);
    while (s->progress.skip && ch != EOF && asf__scan_is_space(ch))
        ch = asf__scan_next(s);
    if (ch == EOF)
        return ASF_INPUT_END;
    s->progress.skip = false;
    if (ch == wanted)
        return ASF_SCANNED;
    asf__scan_unget(s);
    return ASF_MISMATCH;
}

static __attribute__((noinline)) enum asf_scan_result match_text(struct asf_scan *s,
                                                                 const struct asf_directive *d) {
    for (const unsigned char *p = d->text; p < d->text_end; p++) {
        if (asf__scan_is_space(*p)) {
            s->progress.skip = true;
            continue;
        }
        while (s->progress.skip && s->at < asf__scan_end(s) && asf__scan_is_space(*s->at))
            s->at++;
        if (asf__likely(s->at < asf__scan_end(s) && *s->at == *p)) {
            s->at++;
            s->progress.skip = false;
            continue;
        }
        enum asf_scan_result r = match_character(s, *p);
        if (r != ASF_SCANNED)
            return r;
    }
    return ASF_SCANNED;
}

static __attribute__((noinline)) enum asf_scan_result match_bytes(struct asf_scan *s,
                                                                  const struct asf_directive *d) {
    for (const unsigned char *p = d->text; p < d->text_end; p++) {
        int ch = asf__scan_next(s);
        if (ch == EOF)
            return ASF_INPUT_END;
        if (ch != *p) {
            asf__scan_unget(s);
            return ASF_MISMATCH;
        }
    }
    return ASF_SCANNED;
}

/* --- directives ----------------------------------------------------------------- */

void *asf__scan_argument_at(struct asf_scan *s, int position) {
    va_list ap;
    va_copy(ap, *s->arguments);
    for (int i = 1; i < position; i++)
        (void)va_arg(ap, void *);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return argument;
}

static enum asf_scan_result count_consumed(struct asf_scan *s, const struct asf_directive *d) {
    if (!(d->item.flags & ASF_SCAN_SUPPRESS))
        asf__scan_store(s, d, asf__scan_consumed(s));
    return ASF_SCANNED;
}

/* The fast path: a plain %d, and a number that ends in the window. */
static inline enum asf_scan_result scan_short_integer(struct asf_scan *s, const struct asf_directive *d) {
    enum { MAX_DIGITS = 18 };
    const unsigned char *p = s->at, *end = asf__scan_end(s);
    if (d->item.base != 10 || d->width > 0 || p >= end)
        return asf__scan_integer(s, d);
    bool negative = *p == '-';
    p += negative | (*p == '+');
    const unsigned char *first = p, *most = end - p > MAX_DIGITS ? p + MAX_DIGITS : end;
    uint64_t value = 0;
    for (; p < most && (unsigned)(*p - '0') < 10; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    if (p == first || (p == most && (p < end || !asf__scan_ended(s))))
        return asf__scan_integer(s, d);
    s->at = p;
    asf__scan_assign(s, d, negative ? 0 - value : value);
    return ASF_SCANNED;
}

/* Copies 1 to 15 bytes.  The processor must predict no more of the length than "shorter than 4". */
static inline void copy_word(char *to, const unsigned char *from, size_t n) {
    if (n >= 4) {
        size_t middle = n >> 3 << 2;
        asf__word4 a = *(const asf__word4 *)from, b = *(const asf__word4 *)(from + middle);
        asf__word4 y = *(const asf__word4 *)(from + n - 4 - middle), z = *(const asf__word4 *)(from + n - 4);
        *(asf__word4 *)to = a;
        *(asf__word4 *)(to + middle) = b;
        *(asf__word4 *)(to + n - 4 - middle) = y;
        *(asf__word4 *)(to + n - 4) = z;
    } else {
        char a = (char)from[0], b = (char)from[n >> 1], c = (char)from[n - 1];
        to[0] = a;
        to[n >> 1] = b;
        to[n - 1] = c;
    }
}

/* The fast path of %s: stores a word of fewer than 16 bytes if the window has 16 bytes. */
static inline enum asf_scan_result scan_short_word(struct asf_scan *s, const struct asf_directive *d) {
    enum { SLOW_FLAGS = ASF_SCAN_SUPPRESS | ASF_SCAN_MALLOC | ASF_SCAN_MALLOC_GNU };
    const unsigned char *p = s->at;
    if (d->item.flags & SLOW_FLAGS || asf__scan_end(s) - p < 16)
        return asf__scan_string(s, d);
    size_t n = asf__scan_space_in(p);
    if (n == 0 || n >= 16 || n > (size_t)d->width) /* a width of -1 means no limit */
        return asf__scan_string(s, d);
    char *to = asf__scan_argument(s, d);
    if (!to)
        return ASF_MISMATCH;
    copy_word(to, p, n);
    to[n] = '\0';
    s->at = p + n;
    s->progress.done++;
    return ASF_SCANNED;
}

static inline __attribute__((always_inline)) enum asf_scan_result
convert_directive(struct asf_scan *s, const struct asf_directive *d) {
    if ((s->progress.skip || d->item.flags & ASF_SCAN_SKIPS) && !skip_space(s))
        return ASF_INPUT_END;
    switch ((enum asf_directive_kind)d->item.kind) {
    case ASF_SCAN_INTEGER:
        return scan_short_integer(s, d);
    case ASF_SCAN_FLOAT:
        return asf__scan_float(s, d);
    case ASF_SCAN_CHARS:
        return asf__scan_chars(s, d);
    case ASF_SCAN_STRING:
        return scan_short_word(s, d);
    case ASF_SCAN_SET:
        return asf__scan_set(s, d);
    case ASF_SCAN_WIDE_CHARS:
        return asf__scan_wide_chars(s, d);
    case ASF_SCAN_WIDE_STRING:
        return asf__scan_wide_string(s, d);
    case ASF_SCAN_WIDE_SET:
        return asf__scan_wide_set(s, d);
    case ASF_SCAN_COUNT:
        return count_consumed(s, d);
    case ASF_SCAN_PERCENT:
        return match_character(s, '%');
    default:
        return ASF_MISMATCH;
    }
}

static inline __attribute__((always_inline)) enum asf_scan_result
run_directives(struct asf_scan *s, const struct asf_directive *d, const struct asf_directive *end) {
    for (; d < end; d++) {
        enum asf_scan_result r = d->item.kind == ASF_SCAN_TEXT    ? match_text(s, d)
                                 : d->item.kind == ASF_SCAN_BYTES ? match_bytes(s, d)
                                 : d->item.kind == ASF_SCAN_STOP  ? ASF_MISMATCH
                                                                  : convert_directive(s, d);
        if (r != ASF_SCANNED)
            return r;
    }
    if (s->progress.skip)
        skip_trailing_space(s);
    return ASF_SCANNED;
}

/* --- the end of a call ------------------------------------------------------------ */

static __attribute__((noinline)) void free_text(char **owner) {
    free(*owner);
    *owner = NULL;
}

/* Returns glibc's result after a directive failed, and frees the memory of "%ms" that glibc frees. */
static __attribute__((noinline)) int failure_result(struct asf_scan *s, enum asf_scan_result r) {
    bool none = r == ASF_NO_MEMORY || (r == ASF_INPUT_END && s->progress.done == 0);
    for (int i = 0; none && i < s->progress.allocated; i++)
        free_text(s->allocations[i]);
    if (!none && s->progress.open)
        free_text(s->progress.open);
    return none ? EOF : s->progress.done;
}

/* --- the format ------------------------------------------------------------------- */

/* Whether some directives name their arguments and others do not. */
static __attribute__((noinline)) bool mixes_positions(const struct asf_directive *list,
                                                      const struct asf_directive *end) {
    bool by_position = false, in_order = false;
    for (const struct asf_directive *d = list; d < end; d++) {
        bool takes = d->item.kind > ASF_SCAN_BYTES && !(d->item.flags & ASF_SCAN_SUPPRESS);
        by_position |= takes && d->position > 0;
        in_order |= takes && d->position == 0;
    }
    return by_position && in_order;
}

/* Parses the format into `list`.  Returns the end of the list; NULL: libc must make the call. */
static inline const struct asf_directive *parse_format(const char *format, enum asf_dialect dialect,
                                                       struct asf_directive *list) {
    const unsigned char *p = (const unsigned char *)format;
    struct asf_directive *d = list;
    mbstate_t state = {0};
    int positions = 0;
    for (; *p; d++) {
        if (d == list + ASF_DIRECTIVES)
            return NULL;
        d->width = -1;
        d->position = 0;
        if (*p != '%') {
            p = asf__parse_text(p, &state, d);
        } else if (asf__scan_letters[p[1]].flags & ASF_SCAN_PLAIN) {
            d->item = asf__scan_letters[p[1]];
            p += 2;
        } else {
            p = asf__parse_conversion(p + 1, dialect, d);
            positions |= d->position;
        }
        if (!p)
            return NULL;
    }
    return asf__unlikely(positions) && mixes_positions(list, d) ? NULL : d;
}

/* --- calls -------------------------------------------------------------------------- */

/* The caller has set the arguments and the input. */
static inline int run_call(struct asf_scan *s, const struct asf_directive *list,
                           const struct asf_directive *end) {
    s->counted = s->at;
    s->progress = (__typeof__(s->progress)){.skip = false};
    enum asf_scan_result r = run_directives(s, list, end);
    return asf__likely(r == ASF_SCANNED) ? s->progress.done : failure_result(s, r);
}

static inline int scan_window(struct asf_cios *c, bool alone, const struct asf_directive *list,
                              const struct asf_directive *end, va_list *ap) {
    struct asf_scan s;
    s.stream = c;
    s.single_threaded = alone;
    s.part = false;
    find_window(&s);
    s.arguments = ap;
    int n = run_call(&s, list, end);
    c->read_ptr = (char *)s.at;
    return n;
}

int asf__scan_stream(struct asf_cios *c, enum asf_dialect dialect, const char *format, va_list *ap) {
    struct asf_directive list[ASF_DIRECTIVES];
    const struct asf_directive *end = format ? parse_format(format, dialect, list) : NULL;
    if (!end)
        return asf__libc_scan(c, dialect, format, ap);
    bool alone = asf__alone();
    if (!alone) {
        asf__enter(c);
        asf__count(c);
    }
    /* libc refuses these, too. */
    bool refused = !asf__ours(c) || c->flags & ASF_NO_READS || !asf__orient_to_bytes(c);
    int n = refused ? EOF : scan_window(c, alone, list, end, ap);
    if (!alone)
        asf__leave(c);
    return asf__unlikely(refused) ? asf__libc_scan(c, dialect, format, ap) : n;
}

int asf__scan_text(const char *text, enum asf_dialect dialect, const char *format, va_list *ap) {
    struct asf_directive list[ASF_DIRECTIVES];
    const struct asf_directive *end;
    struct asf_scan s;
    if (!format || !(end = parse_format(format, dialect, list)))
        return asf__libc_scan_text(text, dialect, format, ap);
    s.stream = NULL;
    s.part = false;
    s.at = (const unsigned char *)text;
    s.string_end = (char *)text + strnlen(text, FIRST_SEARCH);
    s.end = &s.string_end;
    s.arguments = ap;
    return run_call(&s, list, end);
}

static bool allocates(const struct asf_directive *list, const struct asf_directive *end) {
    for (const struct asf_directive *d = list; d < end; d++)
        if (d->item.kind > ASF_SCAN_BYTES && d->item.flags & (ASF_SCAN_MALLOC | ASF_SCAN_MALLOC_GNU))
            return true;
    return false;
}

int asf__scan_part(const char *text, size_t n, enum asf_dialect dialect, const char *format, va_list *ap,
                   size_t *taken) {
    struct asf_directive list[ASF_DIRECTIVES];
    const struct asf_directive *end = parse_format(format, dialect, list);
    if (!end || allocates(list, end))
        return ASF_SCAN_BY_LIBC;
    int saved = errno;
    struct asf_scan s;
    s.stream = NULL;
    s.part = true;
    s.at = (const unsigned char *)text;
    s.string_end = (char *)text + n;
    s.end = &s.string_end;
    s.arguments = ap;
    int done = run_call(&s, list, end);
    *taken = (size_t)(s.at - (const unsigned char *)text);
    if (!asf__scan_is_truncated(&s))
        return done;
    errno = saved;
    return ASF_SCAN_BY_LIBC;
}
#endif
