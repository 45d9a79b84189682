/* SPDX-License-Identifier: MIT
 *
 * scanf_strings.c - scanf's characters, words and sets, copied a window at a time into the program's memory
 * or into allocated memory.
 */
#include "interfaces/stdio/scan/scanf_engine.h"

#ifndef ASF_TEXT_BY_LIBC
#include <stdlib.h>

typedef const unsigned char *text;

enum asf_scan_result asf__scan_allocate(struct asf_scan *s, const struct asf_directive *d,
                                        struct asf_sink *k) {
    k->owner = asf__scan_argument(s, d);
    if (!k->owner)
        return ASF_MISMATCH;
    k->to = *k->owner = malloc(k->size);
    if (!k->to)
        return d->item.flags & ASF_SCAN_MALLOC ? ASF_NO_MEMORY : ASF_MISMATCH;
    k->room = k->size - k->reserved;
    s->progress.open = s->allocations[s->progress.allocated++] = k->owner;
    return ASF_SCANNED;
}

/* Doubles the memory.  Without memory a GNU "%as" ends here, with the text that it has. */
enum asf_scan_result asf__scan_grow(struct asf_scan *s, const struct asf_directive *d, struct asf_sink *k) {
    size_t used = (size_t)(k->to - *k->owner);
    char *larger = realloc(*k->owner, 2 * k->size);
    if (larger) {
        *k->owner = larger;
        k->to = larger + used;
        k->room = k->size;
        k->size *= 2;
        return ASF_SCANNED;
    }
    if (d->item.flags & ASF_SCAN_MALLOC)
        return ASF_NO_MEMORY;
    memset(k->to, 0, k->reserved);
    s->progress.open = NULL;
    s->progress.done++;
    return ASF_MISMATCH;
}

void asf__scan_close(struct asf_scan *s, struct asf_sink *k) {
    if (!k->to)
        return;
    memset(k->to, 0, k->reserved);
    k->to += k->reserved;
    if (k->owner) {
        size_t used = (size_t)(k->to - *k->owner);
        char *fitting = used != k->size ? realloc(*k->owner, used) : NULL;
        if (fitting)
            *k->owner = fitting;
    }
    s->progress.open = NULL;
    s->progress.done++;
}

/* Gets at least one byte into the window.  Returns false at EOF. */
static inline bool refill_window(struct asf_scan *s) {
    if (asf__scan_next(s) == EOF)
        return false;
    s->at--;
    return true;
}

/* --- the bytes of a text ------------------------------------------------------------- */

enum { WORD, MEMBERS, LINE, ANYTHING };

struct membership {
    int kind;
    unsigned char delimiter; /* for LINE: the one byte that ends the text */
    struct asf_set set;      /* for MEMBERS */
};

/* Each returns how many bytes from the beginning of p[0..n) belong to the text. */
static inline size_t member_length(const struct membership *m, text p, size_t n) {
    size_t i = 0;
    while (i < n && m->set.member[p[i]])
        i++;
    return i;
}

static inline size_t line_length(const struct membership *m, text p, size_t n) {
    text end = n > 0 ? memchr(p, m->delimiter, n) : NULL; /* an empty window may have no memory */
    return end ? (size_t)(end - p) : n;
}

static inline size_t word_length(text p, size_t n) {
    size_t i = 0;
    unsigned at = 16;
    for (; n - i >= 16 && at == 16; i += at == 16 ? 16 : 0)
        at = asf__scan_space_in(p + i);
    if (at < 16)
        return i + at;
    while (i < n && !asf__scan_is_space(p[i]))
        i++;
    return i;
}

static inline size_t length(const struct membership *m, int kind, text p, size_t n) {
    return kind == WORD      ? word_length(p, n)
           : kind == MEMBERS ? member_length(m, p, n)
           : kind == LINE    ? line_length(m, p, n)
                             : n;
}

/* sscanf may store into the string that it scans. */
static inline void store_bytes(struct asf_sink *k, text p, size_t n) {
    if (k->to && n)
        asf__move_bytes(k->to, (const char *)p, n);
}

static inline size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Copies the bytes of the window that belong to the text, and returns how many.  If the window was truncated
 * meanwhile, sets *truncated and returns 0: zeros may have been taken for bytes of the file. */
static size_t copy_members(struct asf_scan *s, const struct membership *m, size_t n, struct asf_sink *k,
                           bool *truncated) {
    text end = asf__scan_end(s);
    size_t taken = length(m, m->kind, s->at, n);
    if (asf__likely(asf__scan_end(s) == end))
        store_bytes(k, s->at, taken);
    *truncated = asf__scan_end(s) != end;
    return *truncated ? 0 : taken;
}

/* Takes all bytes that belong to the text, at most `width`, window by window.  The first window must have a
 * byte. */
static enum asf_scan_result copy_text(struct asf_scan *s, const struct asf_directive *d,
                                      const struct membership *m, size_t width, struct asf_sink *k) {
    for (;;) {
        bool truncated;
        size_t n = smaller((size_t)(asf__scan_end(s) - s->at), smaller(width, k->room));
        size_t taken = copy_members(s, m, n, k, &truncated);
        s->at += taken;
        width -= taken;
        k->room -= k->owner ? taken : 0;
        if (k->to)
            k->to += taken;
        if (width == 0 || (taken < n && !truncated))
            return ASF_SCANNED;
        if (s->at >= asf__scan_end(s) && !refill_window(s))
            return ASF_SCANNED;
        if (k->room == 0) {
            enum asf_scan_result r = asf__scan_grow(s, d, k);
            if (r != ASF_SCANNED)
                return r;
        }
    }
}

static __attribute__((noinline)) enum asf_scan_result copy_in_parts(struct asf_scan *s,
                                                                    const struct asf_directive *d,
                                                                    const struct membership *m, size_t width,
                                                                    struct asf_sink *k) {
    if (!refill_window(s))
        return ASF_INPUT_END;
    size_t before = asf__scan_consumed(s);
    enum asf_scan_result r = asf__scan_unless_truncated(s, copy_text(s, d, m, width, k));
    if (r != ASF_SCANNED)
        return r;
    size_t taken = asf__scan_consumed(s) - before;
    if (d->item.kind == ASF_SCAN_SET && taken == 0)
        return ASF_MISMATCH;
    if (d->item.kind == ASF_SCAN_CHARS && taken < width && ASF_LIBC(scan_complete))
        return ASF_INPUT_END;
    asf__scan_close(s, k);
    return ASF_SCANNED;
}

/* Takes the text at once if all of it is in the window; allocated memory then has the text's size.  Else
 * takes it in parts. */
static inline __attribute__((always_inline)) enum asf_scan_result
scan_into(struct asf_scan *s, const struct asf_directive *d, const struct membership *m, int kind,
          size_t width, struct asf_sink *k) {
    text end = asf__scan_end(s);
    size_t n = end > s->at ? smaller((size_t)(end - s->at), width) : 0;
    size_t taken = n > 0 ? length(m, kind, s->at, n) : 0;
    bool complete = kind == ANYTHING ? asf__likely(n == width)
                                     : taken < n || (n > 0 && (n == width || asf__scan_ended(s)));
    if (complete)
        k->size = taken + k->reserved;
    enum asf_scan_result r = asf__scan_open(s, d, k);
    if (r != ASF_SCANNED)
        return r;
    if (!complete)
        return copy_in_parts(s, d, m, width, k);
    store_bytes(k, s->at, taken);
    if (asf__unlikely(asf__scan_end(s) != end))
        return copy_in_parts(s, d, m, width, k);
    s->at += taken;
    if (taken == 0 && d->item.kind == ASF_SCAN_SET)
        return ASF_MISMATCH;
    if (k->to) {
        if (k->reserved)
            k->to[taken] = '\0';
        s->progress.open = NULL;
        s->progress.done++;
    }
    return ASF_SCANNED;
}

/* --- the directives ------------------------------------------------------------------- */

enum asf_scan_result asf__scan_chars(struct asf_scan *s, const struct asf_directive *d) {
    static const struct membership anything = {.kind = ANYTHING};
    size_t width = d->width > 0 ? (size_t)d->width : 1;
    struct asf_sink k = {.size = width > ASF_SCAN_LARGEST_FIRST ? ASF_SCAN_LARGEST_FIRST : width};
    return scan_into(s, d, &anything, ANYTHING, width, &k);
}

enum asf_scan_result asf__scan_string(struct asf_scan *s, const struct asf_directive *d) {
    static const struct membership word = {.kind = WORD};
    struct asf_sink k = {.size = ASF_SCAN_FIRST_SIZE, .reserved = 1};
    return scan_into(s, d, &word, WORD, asf__scan_width(d), &k);
}

/* A range covers the byte before the '-' up to, but without, the byte after it, which is then added by
 * itself. A '-' in a backward range, or at an end of the set, is only itself. */
void asf__scan_fill_set(struct asf_set *set, const struct asf_directive *d) {
    typedef unsigned char vector __attribute__((vector_size(16), may_alias));
    unsigned char except = *d->text == '^', member = !except;
#pragma GCC unroll 16
    for (size_t i = 0; i < sizeof set->member / sizeof(vector); i++)
        ((vector *)(void *)set->member)[i] = (vector){0} + except;
    text first = d->text + except, end = d->text_end;
    for (text p = first; p < end; p++) {
        if (*p == '-' && p > first && p + 1 < end && p[-1] <= p[1])
            memset(set->member + p[-1], member, (size_t)(p[1] - p[-1]));
        else
            set->member[*p] = member;
    }
}

enum asf_scan_result asf__scan_set(struct asf_scan *s, const struct asf_directive *d) {
    struct membership m;
    struct asf_sink k = {.size = ASF_SCAN_FIRST_SIZE, .reserved = 1};
    if (*d->text == '^' && d->text_end - d->text == 2) {
        m.kind = LINE;
        m.delimiter = d->text[1];
        return scan_into(s, d, &m, LINE, asf__scan_width(d), &k);
    }
    m.kind = MEMBERS;
    asf__scan_fill_set(&m.set, d);
    return scan_into(s, d, &m, MEMBERS, asf__scan_width(d), &k);
}
#endif
