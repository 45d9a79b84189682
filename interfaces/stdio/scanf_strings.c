/* SPDX-License-Identifier: MIT
 *
 * scanf_strings.c - scanf's characters, words and sets, copied by the window,
 * into the program's memory or into memory of their own.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/scanf_engine.h"

#include <limits.h>
#include <stdlib.h>

typedef const unsigned char *text;

/* Where the bytes go. */
struct sink {
    char *to;        /* NULL: nowhere */
    size_t room;     /* bytes that go there before there must be more memory */
    char **owner;    /* the program's pointer to allocated memory, or NULL */
    size_t size;     /* of that memory */
    size_t reserved; /* of that for the null at the end */
};

static __attribute__((noinline)) enum asf_scan_result
allocate(struct asf_scan *s, const struct asf_directive *d, struct sink *k) {
    k->owner = asf__scan_argument(s, d);
    if (!k->owner)
        return ASF_MISMATCH;
    k->to = *k->owner = malloc(k->size);
    if (!k->to)
        return d->flags & ASF_SCAN_MALLOC ? ASF_NO_MEMORY : ASF_MISMATCH;
    k->room = k->size - k->reserved;
    s->open = s->allocations[s->allocated++] = k->owner;
    return ASF_SCANNED;
}

static inline enum asf_scan_result open_sink(struct asf_scan *s, const struct asf_directive *d,
                                             struct sink *k) {
    k->room = SIZE_MAX;
    k->owner = NULL;
    k->to = NULL;
    if (d->flags & ASF_SCAN_SUPPRESS)
        return ASF_SCANNED;
    if (d->flags & (ASF_SCAN_MALLOC | ASF_SCAN_MALLOC_GNU))
        return allocate(s, d, k);
    k->to = asf__scan_argument(s, d);
    return k->to ? ASF_SCANNED : ASF_MISMATCH;
}

/* Twice the memory.  Without it a GNU "%as" ends here, with what it has. */
static enum asf_scan_result grow(struct asf_scan *s, const struct asf_directive *d, struct sink *k) {
    size_t used = (size_t)(k->to - *k->owner);
    char *larger = realloc(*k->owner, 2 * k->size);
    if (larger) {
        *k->owner = larger;
        k->to = larger + used;
        k->room = k->size;
        k->size *= 2;
        return ASF_SCANNED;
    }
    if (d->flags & ASF_SCAN_MALLOC)
        return ASF_NO_MEMORY;
    *k->to = '\0';
    s->open = NULL;
    s->done++;
    return ASF_MISMATCH;
}

static void close_sink(struct asf_scan *s, struct sink *k) {
    if (!k->to)
        return;
    if (k->reserved)
        *k->to++ = '\0';
    if (k->owner) {
        size_t used = (size_t)(k->to - *k->owner);
        char *fitting = used != k->size ? realloc(*k->owner, used) : NULL;
        if (fitting)
            *k->owner = fitting;
    }
    s->open = NULL;
    s->done++;
}

/* --- what belongs to it -------------------------------------------------------------- */

enum { WORD, MEMBERS, LINE, ANYTHING };

struct membership {
    int kind;
    unsigned char delimiter;             /* of LINE: the one byte that ends it */
    const unsigned short *classes;       /* of WORD */
    unsigned char member[UCHAR_MAX + 1]; /* of MEMBERS */
};

/* Each returns how many of the n bytes at p belong. */
static inline size_t member_length(const struct membership *m, text p, size_t n) {
    size_t i = 0;
    while (i < n && m->member[p[i]])
        i++;
    return i;
}

static inline size_t line_length(const struct membership *m, text p, size_t n) {
    text end = memchr(p, m->delimiter, n);
    return end ? (size_t)(end - p) : n;
}

/* White space as in the C locale, of which no locale of glibc's has more in one
 * byte; but a program may bring its own.  Asked once for each table. */
static bool usual_space(const unsigned short *classes) {
    static const unsigned short *usual;
    if (asf__likely(__atomic_load_n(&usual, __ATOMIC_RELAXED) == classes))
        return true;
    for (int ch = 0; ch <= UCHAR_MAX; ch++)
        if (((classes[ch] & (unsigned short)_ISspace) != 0) != (ch == ' ' || (ch >= '\t' && ch <= '\r')))
            return false;
    __atomic_store_n(&usual, classes, __ATOMIC_RELAXED);
    return true;
}

/* The bytes of a word among 16, from the lowest bit. */
static inline unsigned space_mask(text p) {
    typedef unsigned char bytes __attribute__((vector_size(16), aligned(1), may_alias));
    typedef unsigned char vector __attribute__((vector_size(16)));
    vector v = *(const bytes *)p;
    vector space = (vector)(v == ' ') | (vector)((vector)(v - '\t') < 5);
    return (unsigned)__builtin_ia32_pmovmskb128((__attribute__((vector_size(16))) char)space);
}

static inline size_t word_length(const struct membership *m, text p, size_t n) {
    size_t i = 0;
    if (usual_space(m->classes)) {
        for (; n - i >= 16; i += 16) {
            unsigned mask = space_mask(p + i);
            if (mask)
                return i + (size_t)__builtin_ctz(mask);
        }
    }
    while (i < n && !(m->classes[p[i]] & (unsigned short)_ISspace))
        i++;
    return i;
}

static inline size_t length(const struct membership *m, int kind, text p, size_t n) {
    return kind == WORD      ? word_length(m, p, n)
           : kind == MEMBERS ? member_length(m, p, n)
           : kind == LINE    ? line_length(m, p, n)
                             : n;
}

static inline void copy(struct sink *k, text p, size_t n) {
    if (k->to && n)
        asf__copy(k->to, (const char *)p, n);
}

static inline size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* All that belongs, window by window, until the width ends it.  The window has
 * a byte; one that was truncated meanwhile is asked again. */
static enum asf_scan_result take(struct asf_scan *s, const struct asf_directive *d,
                                 const struct membership *m, size_t width, struct sink *k) {
    for (;;) {
        text end = asf__scan_end(s);
        size_t n = smaller((size_t)(end - s->at), smaller(width, k->room));
        size_t taken = length(m, m->kind, s->at, n);
        copy(k, s->at, taken);
        bool torn = asf__scan_end(s) != end;
        if (torn)
            taken = 0;
        s->at += taken;
        width -= taken;
        k->room -= k->owner ? taken : 0;
        k->to += k->to ? taken : 0;
        if (width == 0 || (taken < n && !torn))
            return ASF_SCANNED;
        if (s->at >= asf__scan_end(s) && !asf__scan_ready(s))
            return ASF_SCANNED;
        if (k->room == 0) {
            enum asf_scan_result r = grow(s, d, k);
            if (r != ASF_SCANNED)
                return r;
        }
    }
}

static __attribute__((noinline)) enum asf_scan_result take_in_parts(struct asf_scan *s,
                                                                    const struct asf_directive *d,
                                                                    const struct membership *m, size_t width,
                                                                    struct sink *k) {
    if (!asf__scan_ready(s))
        return ASF_INPUT_END;
    size_t before = s->consumed + (size_t)(s->at - s->counted);
    enum asf_scan_result r = take(s, d, m, width, k);
    if (r != ASF_SCANNED)
        return r;
    if (d->kind == ASF_SCAN_SET && s->consumed + (size_t)(s->at - s->counted) == before)
        return ASF_MISMATCH;
    close_sink(s, k);
    return ASF_SCANNED;
}

/* At once when all of it stands in the window and memory is there. */
static inline __attribute__((always_inline)) enum asf_scan_result
scan_into(struct asf_scan *s, const struct asf_directive *d, const struct membership *m, int kind,
          size_t width, struct sink *k) {
    enum asf_scan_result r = open_sink(s, d, k);
    if (r != ASF_SCANNED)
        return r;
    text end = asf__scan_end(s);
    size_t n = end > s->at ? smaller((size_t)(end - s->at), width) : 0;
    size_t taken = length(m, kind, s->at, n);
    if (k->owner || (taken == n && n < width))
        return take_in_parts(s, d, m, width, k);
    copy(k, s->at, taken);
    if (asf__unlikely(asf__scan_end(s) != end))
        return take_in_parts(s, d, m, width, k);
    s->at += taken;
    if (taken == 0 && d->kind == ASF_SCAN_SET)
        return ASF_MISMATCH;
    if (k->to) {
        if (k->reserved)
            k->to[taken] = '\0';
        s->done++;
    }
    return ASF_SCANNED;
}

/* --- the directives ------------------------------------------------------------------- */

enum { FIRST_SIZE = 100, LARGEST_FIRST = 1024 }; /* glibc's */

static size_t width_of(const struct asf_directive *d) {
    return d->width > 0 ? (size_t)d->width : SIZE_MAX;
}

enum asf_scan_result asf__scan_chars(struct asf_scan *s, const struct asf_directive *d) {
    static const struct membership anything = {.kind = ANYTHING};
    size_t width = d->width > 0 ? (size_t)d->width : 1;
    struct sink k = {.size = width > LARGEST_FIRST ? LARGEST_FIRST : width};
    return scan_into(s, d, &anything, ANYTHING, width, &k);
}

enum asf_scan_result asf__scan_string(struct asf_scan *s, const struct asf_directive *d) {
    struct membership m;
    struct sink k = {.size = FIRST_SIZE, .reserved = 1};
    m.kind = WORD;
    m.classes = s->classes;
    return scan_into(s, d, &m, WORD, width_of(d), &k);
}

/* A range is from the byte before the '-' up to the one behind it, which counts
 * for itself; backwards, or at the end of the set, a '-' is only itself. */
static void fill_set(struct membership *m, text p, text end, unsigned char member) {
    memset(m->member, !member, sizeof m->member);
    for (text first = p; p < end; p++) {
        if (*p == '-' && p > first && p + 1 < end && p[-1] <= p[1])
            memset(m->member + p[-1], member, (size_t)(p[1] - p[-1]));
        else
            m->member[*p] = member;
    }
}

enum asf_scan_result asf__scan_set(struct asf_scan *s, const struct asf_directive *d) {
    struct membership m;
    struct sink k = {.size = FIRST_SIZE, .reserved = 1};
    bool except = *d->text == '^';
    text p = d->text + except;
    if (except && d->text_end - p == 1) {
        m.kind = LINE;
        m.delimiter = *p;
        return scan_into(s, d, &m, LINE, width_of(d), &k);
    }
    m.kind = MEMBERS;
    fill_set(&m, p, d->text_end, !except);
    return scan_into(s, d, &m, MEMBERS, width_of(d), &k);
}
