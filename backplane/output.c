/* SPDX-License-Identifier: MIT
 *
 * output.c - what is put: pending output written, and data from the caller's memory added
 * to it in the order and the sizes in which libc would write it.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/parts.h"

#include <errno.h>

static inline bool is_at_output(const struct asf_cios *c) {
    return asf__likely(c->lag == 0 && !(c->flags & ASF_APPENDING));
}

static inline int put_all(struct asf_cios *c, const char *p, size_t n, size_t *done) {
    int rc = n > 0 && !is_at_output(c) ? asf__go_to_output(c) : 0;
    *done = 0;
    if (rc < 0)
        return rc;
    while (*done < n) {
        ssize_t r = c->ops->put(c, p + *done, n - *done);
        if (r <= 0) {
            c->written = c->exact = 0; /* libc's buffer is empty then */
            return r < 0 ? (int)r : -EIO;
        }
        *done += (size_t)r;
        c->written += (uint64_t)r;
    }
    return 0;
}

int asf__put_queue(struct asf_cios *c) {
    while (c->queue && c->queue->refs == 0) {
        struct asf_buffer *b = c->queue;
        size_t done;
        int rc = put_all(c, b->from, (size_t)(b->to - b->from), &done);
        c->queue = b->next;
        asf__buffer_free(b);
        if (rc < 0)
            return rc;
    }
    return c->queue ? -EBUSY : 0;
}

static inline int put_window(struct asf_cios *c) {
    size_t done;
    if (c->queue || (c->out && c->out->refs))
        return asf__pending(c) ? -EBUSY : 0;
    int rc = put_all(c, c->write_base, asf__pending(c), &done);
    if (c->lag) /* nothing was put: the buffer is as it was */
        return rc;
    /* What failed is lost, as in libc: the program is told once. */
    c->write_base = c->write_ptr = c->out ? c->out->base : NULL;
    c->indent = 0;
    if (c->out)
        asf__expose(c);
    return rc;
}

static int flush_all(struct asf_cios *c) {
    int failed = c->failed;
    c->failed = 0;
    int rc = c->queue ? asf__put_queue(c) : 0;
    if (rc == 0)
        rc = put_window(c);
    if (rc == 0 && c->ops->flushed)
        rc = c->ops->flushed(c);
    return failed ? failed : rc;
}

int asf__flush_output(struct asf_cios *c) {
    if (c->resident)
        return c->ops->flushed(c);
    if (!asf__is_putting(c))
        return 0;
    int rc = 0;
    if (!asf__nothing_to_put(c)) {
        bool was = c->held;
        c->held = true;
        c->unprimed = c->late_line = false;
        rc = flush_all(c);
        c->held = was;
    }
    c->written = c->exact = 0;
    return rc;
}

ssize_t asf__put_straight(struct asf_cios *c, const char *p, size_t n, int *error) {
    size_t done;
    bool ready = asf__is_putting(c) && asf__nothing_to_put(c) && c->out && !c->out->refs;
    if (!ready || c->unprimed || c->lag || c->indent || !c->ops->put)
        return -1;
    c->held = true;
    *error = put_all(c, p, n, &done);
    c->held = false;
    c->written = c->exact = 0;
    return (ssize_t)done;
}

/* Large data goes straight from the caller's memory: as much as leaves of the
 * last block what libc would keep in its buffer.  Tiny buffers (setvbuf) are
 * not kept to.  Returns how much went. */
static size_t append_directly(struct asf_cios *c, const char *p, size_t n, int *error) {
    uint64_t end = c->written + asf__pending(c) + n;
    size_t done = 0, rest = c->own ? 0 : asf__in_block(c, end);
    if (rest == 0 && end != c->exact && !c->own)
        rest = c->block; /* libc, too, would keep the last block */
    c->held = true;
    c->unprimed = c->late_line = false;
    *error = put_window(c);
    if (*error == 0)
        *error = put_all(c, p, c->block >= 128 && rest < n ? n - rest : n, &done);
    if (c->lag == 0 && c->out)
        asf__expose(c);
    c->held = false;
    return done;
}

/* Whether libc keeps nothing of n bytes that end on a block's boundary: when
 * they run over its buffer, or find no room in it from the start. */
static void note_exact(struct asf_cios *c, size_t n, bool roomless) {
    uint64_t before = c->written + asf__pending(c);
    size_t kept = asf__in_block(c, before);
    if (kept == 0 && before > 0 && before != c->exact)
        kept = c->block;
    if (asf__in_block(c, before + n) == 0 && (roomless || n > c->block - kept))
        c->exact = before + n;
}

static size_t copy_in(struct asf_cios *c, const char *p, size_t n) {
    size_t room = (size_t)(c->buf_end - c->write_ptr);
    if (n > room)
        n = room;
    if (n == 0) /* where there may be no buffer yet */
        return 0;
    memcpy(c->write_ptr, p, n);
    c->write_ptr += n;
    return n;
}

/* Whether output can go straight from the caller's memory.  A window that is all there
 * is, as of a segment, has to be filled. */
static bool may_bypass(const struct asf_cios *c) {
    bool whole = c->limit == SIZE_MAX;
    return !c->queue && c->out && !c->out->refs && c->ops->put && !whole;
}

/* Whether so much goes past the buffer from its first byte on, though there is room. */
static bool is_for_bypass(const struct asf_cios *c, size_t n) {
    return !c->lag && !c->records && n >= 2 * c->block && (c->limit > c->block || asf__pending(c) == 0);
}

/* As much as goes straight, if it is a block; returns how much went. */
static size_t append_blocks(struct asf_cios *c, const char *p, size_t n, int *error) {
    if (n == 0 || (n < c->block && c->block >= 128))
        return 0;
    if (c->may_grow && c->buf_end == c->write_ptr && n < 2 * c->block)
        *error = asf__drain(c, 1); /* which may grow the buffer: then it is copied */
    bool fits = c->grown && (size_t)(c->buf_end - c->write_ptr) >= n;
    return *error == 0 && !fits ? append_directly(c, p, n, error) : 0;
}

static size_t append_by_copies(struct asf_cios *c, const char *p, size_t n, int *error) {
    size_t done = 0;
    while (*error == 0 && done < n) {
        *error = asf__drain(c, 1);
        if (*error == 0)
            done += copy_in(c, p + done, n - done);
    }
    return done;
}

static size_t append_much(struct asf_cios *c, const char *p, size_t n, bool roomless, int *error) {
    size_t room = roomless ? 0 : c->block - asf__libc_pending(c);
    if (n >= c->block) {
        if (roomless)
            c->written = c->indent = 0;
        note_exact(c, n, roomless);
    }
    bool direct = may_bypass(c), past = direct && is_for_bypass(c, n);
    size_t done = past || (direct && roomless) ? 0 : copy_in(c, p, n);
    if (direct)
        done += append_blocks(c, p + done, n - done, error);
    done += append_by_copies(c, p + done, n - done, error);
    return *error && past && done < room && !c->own ? room : done; /* libc fills its buffer first */
}

/* glibc's order: fill the buffer; what does not fit is written in whole
 * blocks; the rest is kept.  A stream that finds no room at first (fresh,
 * unbuffered) writes whole blocks at once. */
size_t asf__append(struct asf_cios *c, const char *p, size_t n, int *error) {
    bool roomless = !asf__is_putting(c) || c->unprimed || c->flags & ASF_UNBUFFERED;
    *error = c->unprimed && asf__pending(c) ? asf__flush_output(c) : 0;
    if (*error == 0 && roomless)
        *error = asf__drain(c, 1);
    if (*error < 0)
        return 0;
    /* Little that fits is kept, as what append_much leaves over would be. */
    if (n < c->block && (c->block >= 128 || !roomless) && n <= (size_t)(c->buf_end - c->write_ptr))
        return copy_in(c, p, n);
    return append_much(c, p, n, roomless, error);
}
