/* SPDX-License-Identifier: MIT
 *
 * bulk.c - bulk streams: when a stream becomes bulk, the large memory over which its current buffer
 * slides, and moving the descriptor back to its offset without bulk memory.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"

#include <time.h>

enum {
    RUN = 64,            /* a stream becomes bulk when it moves as many whole blocks in a row; */
    LEAST = 4096,        /* blocks smaller than this count as a part of one: 256 KB are moved at least */
    SLOW = 50,           /* in fewer milliseconds than this */
    MEMORY = 128 << 10,  /* five commands wrote files 1.17 times as fast with 64 KB, 1.26 with 128 KB */
    STRAIGHT = 16 << 10, /* a copy of this size or more costs more than a system call */
};

unsigned asf__bulk_streams;

/* The coarse clock costs 5 ns. */
static int64_t milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* --- bulk or not ------------------------------------------------------------------ */

static void begin_bulk(struct asf_cios *c) {
    if (c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED | ASF_APPENDING) || c->orientation > 0 ||
        c->buffer == &c->single) {
        c->bulk.state = ASF_BULK_NEVER;
        return;
    }
    c->bulk.state = ASF_BULK;
    if (!c->stats.bulk) {
        c->stats.bulk = c->stats.in + c->stats.out;
        asf__tell_bulk(c);
    }
    __atomic_fetch_add(&asf__bulk_streams, 1, __ATOMIC_RELAXED);
}

void asf__count_block_slow(struct asf_cios *c) {
    struct asf_bulk *k = &c->bulk;
    unsigned run = c->block < LEAST ? RUN * LEAST / (unsigned)c->block : RUN;
    if (++k->run != 1 && k->run % run != 0)
        return;
    int64_t now = milliseconds();
    if (k->run > 1 && now - k->since < SLOW)
        begin_bulk(c);
    k->since = now;
}

void asf__leave_bulk(struct asf_cios *c) {
    c->bulk.run = 0;
    if (c->bulk.state != ASF_BULK)
        return;
    c->bulk.state = ASF_BULK_MAYBE;
    __atomic_fetch_sub(&asf__bulk_streams, 1, __ATOMIC_RELAXED);
}

/* Whether the stream is bulk.  In a multithreaded process a stream that is used without its lock stops being
 * bulk: another thread that forks would change its bulk memory (asf__publish_streams) at the same time. */
static bool is_bulk(struct asf_cios *c) {
    if (asf__unlikely(c->use == ASF_UNLOCKED && !__libc_single_threaded)) {
        asf__lock(&c->lk);
        if (!asf__is_putting(c)) /* held output is put with the next flush */
            asf__unread_ahead(c);
        asf__leave_bulk(c);
        asf__unlock(&c->lk);
    }
    return c->bulk.state == ASF_BULK;
}

/* --- the memory ---------------------------------------------------------------------- */

static void begin_buffer_at(struct asf_cios *c, char *p) {
    c->buffer->base = c->buf_base = p;
    c->buffer->size = c->block;
    c->buf_end = p + c->block;
    asf__empty_windows(c);
}

void asf__rewind_buffer(struct asf_cios *c) {
    begin_buffer_at(c, asf__memory(c->buffer));
}

bool asf__have_bulk_memory(struct asf_cios *c) {
    if (!c->buffer || !c->buffer->slides || c->buffer->refs) {
        struct asf_buffer *b = asf__buffer_new(MEMORY + c->block); /* the first block may be a short one */
        if (!b)
            return false;
        b->slides = true;
        asf__use_buffer(c, b);
    }
    asf__rewind_buffer(c);
    return true;
}

/* --- input ------------------------------------------------------------------------------ */

static ssize_t get_below(struct asf_cios *c, char *p, size_t n) {
    enum asf_use was = asf__begin_system_call(c);
    ssize_t r = c->ops->get(c, p, n);
    asf__end_system_call(c, was);
    return r;
}

static ssize_t get_bulk_ahead(struct asf_cios *c) {
    struct asf_bulk *k = &c->bulk;
    int64_t now = milliseconds();
    if (now - k->since >= SLOW)
        asf__leave_bulk(c);
    k->since = now;
    ssize_t r =
        get_below(c, c->buf_base, c->bulk.state == ASF_BULK ? MEMORY / c->block * c->block : c->block);
    if (r > 0) {
        k->from = c->buf_base;
        k->to = k->from + r;
        c->stats.spared--;
    }
    return r;
}

/* Returns the next *n bytes that were read ahead, or as many as there are. */
static char *take_ahead(struct asf_cios *c, size_t *n) {
    struct asf_bulk *k = &c->bulk;
    char *p = k->from;
    c->stats.spared++;
    if (*n > (size_t)(k->to - p))
        *n = (size_t)(k->to - p);
    k->from += *n;
    if (k->from == k->to)
        k->from = k->to = NULL;
    if (asf__knows_offset(c))
        c->offset += (off64_t)*n;
    return p;
}

void asf__unread_ahead(struct asf_cios *c) {
    struct asf_bulk *k = &c->bulk;
    if (!k->from || !c->ops->seek)
        return;
    c->stats.spared--;
    if (!asf__failed(c->ops->seek(c, k->from - k->to, SEEK_CUR)))
        k->from = k->to = NULL;
}

/* Extends the window over all bytes that were read ahead. */
static void show_ahead(struct asf_cios *c) {
    struct asf_bulk *k = &c->bulk;
    bool backup = c->flags & ASF_IN_BACKUP;
    c->stats.spared += (k->to - k->from + (ptrdiff_t)c->block - 1) / (ptrdiff_t)c->block;
    char **p = backup ? &c->save_base : &c->read_ptr, **end = backup ? &c->save_end : &c->read_end;
    if (*p == *end)
        *p = k->from;
    *end = c->buf_end = k->to;
    c->buffer->size = (size_t)(c->buf_end - c->buf_base);
    if (asf__knows_offset(c))
        c->offset += k->to - k->from;
    k->from = k->to = NULL;
}

/* Reads ahead if the stream is bulk and nothing is read ahead.  Returns whether bytes are; *r is the
 * result of the module's `get`, or 1. */
static bool have_ahead(struct asf_cios *c, ssize_t *r) {
    *r = 1;
    if (is_bulk(c) && !c->bulk.from && asf__have_bulk_memory(c))
        *r = get_bulk_ahead(c);
    return c->bulk.from;
}

bool asf__fill_bulk(struct asf_cios *c, ssize_t *r) {
    if (asf__unread(c) > 0) {
        if (c->bulk.from)
            show_ahead(c);
        return false;
    }
    asf__free_backup(c);
    if (have_ahead(c, r)) {
        size_t n = c->block;
        char *p = take_ahead(c, &n);
        begin_buffer_at(c, p);
        c->read_end = p + n;
        *r = (ssize_t)n;
    }
    return *r <= 0 || asf__avail(c) > 0;
}

ssize_t asf__take_bulk(struct asf_cios *c, char *p, size_t n) {
    ssize_t r = 1;
    if (c->bulk.from || n < STRAIGHT)
        have_ahead(c, &r);
    if (c->bulk.from) {
        const char *from = take_ahead(c, &n);
        memcpy(p, from, n);
        return (ssize_t)n;
    }
    if (r > 0 && (r = get_below(c, p, n)) > 0 && asf__knows_offset(c))
        c->offset += r;
    if (r == (ssize_t)n && n < STRAIGHT)
        asf__count_block(c);
    return r;
}

/* --- output ------------------------------------------------------------------------------ */

/* Each put ends at a multiple of MEMORY.  In a file written from its beginning, the page cache then takes
 * the next put as one large folio: unaligned puts cost 1.2 times as much. */
static bool is_memory_full(struct asf_cios *c) {
    size_t n = (size_t)(c->buf_end - asf__memory(c->buffer));
    return n >= MEMORY || (c->stats.out + n) % MEMORY < c->block;
}

bool asf__hold_block(struct asf_cios *c) {
    struct asf_bulk *k = &c->bulk;
    if (!is_bulk(c) || !c->buffer->slides || is_memory_full(c))
        return false;
    int64_t now = milliseconds();
    if (!k->from)
        k->since = now;
    else if (now - k->since >= SLOW)
        return asf__leave_bulk(c), false; /* held output is put with the window */
    if (!k->from)
        k->from = c->write_base;
    k->to = c->write_ptr;
    c->stats.spared++;
    if (asf__knows_offset(c))
        c->offset += c->write_ptr - c->write_base;
    begin_buffer_at(c, k->to);
    asf__show_room(c);
    return true;
}

bool asf__goes_by_blocks(const struct asf_cios *c, size_t n) {
    return c->bulk.state == ASF_BULK && n < STRAIGHT && c->buffer->slides;
}

void asf__show_held(struct asf_cios *c) {
    struct asf_bulk *k = &c->bulk;
    c->buffer->base = c->buf_base = asf__memory(c->buffer);
    c->buffer->size = (size_t)(c->buf_end - c->buf_base);
    c->write_base = k->from;
    asf__set_read(c, k->from, k->from, k->from);
    if (asf__knows_offset(c))
        c->offset -= k->to - k->from;
    k->from = k->to = NULL;
}
