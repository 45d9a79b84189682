/* SPDX-License-Identifier: MIT
 *
 * regions.c - the slow path of the paper's Figure 4: allocate regions that the inline functions cannot, and
 * give regions back.
 */
#define _GNU_SOURCE
#include "backplane/engine.h"

#include <errno.h>

/* --- salloc -------------------------------------------------------------------------- */

/* Whether output is put as soon as its region is given back: a person or a peer waits for a line-buffered
 * or unbuffered stream.  The inline sfree cannot put, so the region goes into the table. */
static bool is_put_at_once(const struct asf_cios *c) {
    return asf__is_putting(c) && c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED);
}

static void *grant(struct asf_cios *c, char **pointer, ssize_t *length, size_t n) {
    struct asf_buffer *b = c->buffer;
    char *p = *pointer;
    asf__table_last(c);
    if (b->refs == 0 && !is_put_at_once(c) && !c->waits) {
        c->last = p;
        c->last_end = p + n;
    } else if (asf__reserve_region(b)) {
        asf__insert_region(b, p, n);
    } else {
        return asf__no_region(length, -ENOMEM);
    }
    b->refs++;
    *pointer = p + n;
    *length = (ssize_t)n;
    return p;
}

void *asf__grant_again(struct asf_cios *c, char **pointer, size_t n) {
    ssize_t length;
    return grant(c, pointer, &length, n); /* does not fail: asf__take_back has freed the table entry */
}

/* Fills the window.  Regions cannot point into the backup: asf__fill_buffer copies pushed-back bytes to a
 * plain buffer. */
static ssize_t fill_for_region(struct asf_cios *c, size_t want) {
    bool pushed_back = c->flags & ASF_IN_BACKUP && asf__avail(c) > 0;
    return pushed_back ? asf__fill_buffer(c, want) : asf__fill(c, want, NULL);
}

static void *allocate_output(struct asf_cios *c, ssize_t *length, size_t want) {
    int rc = asf__room_in_buffer(c) < want || !c->buffer ? asf__drain(c, want) : 0;
    return rc < 0 ? asf__no_region(length, rc) : grant(c, &c->write_ptr, length, want);
}

void *asf__salloc_slow(struct asf_cios *c, ssize_t *length, bool some) {
    c->stats.calls++;
    if (*length <= 0)
        return asf__no_region(length, -EINVAL);
    size_t want = (size_t)*length;
    if (!(c->flags & ASF_IN_BACKUP) && want <= asf__avail(c) && !asf__is_putting(c))
        return grant(c, &c->read_ptr, length, want);
    int rc = c->failed;
    c->failed = 0;
    if (rc < 0)
        return asf__no_region(length, rc);
    if (asf__is_putting(c) || c->flags & ASF_NO_READS)
        return allocate_output(c, length, want);
    ssize_t n = fill_for_region(c, some ? 1 : want);
    if (n <= 0)
        return asf__no_region(length, n);
    return grant(c, &c->read_ptr, length, (size_t)n < want ? (size_t)n : want);
}

/* --- sfree -------------------------------------------------------------------------------- */

static struct asf_buffer *find_in(struct asf_buffer *list, const char *p, struct asf_region **r) {
    for (struct asf_buffer *b = list; b; b = b->next)
        if (p >= b->base && p <= b->base + b->size && (*r = asf__find_region(b, p, ASF_ANY_LENGTH)))
            return b;
    return NULL;
}

static struct asf_buffer *find_buffer_of(struct asf_cios *c, const char *p, struct asf_region **r) {
    asf__table_last(c);
    if (c->buffer && (*r = asf__find_region(c->buffer, p, ASF_ANY_LENGTH)))
        return c->buffer;
    struct asf_buffer *b = find_in(c->queue, p, r);
    return b ? b : find_in(c->retired, p, r);
}

static int end_region(struct asf_cios *c, struct asf_buffer *b, struct asf_region *r,
                      enum asf_region_state state) {
    int rc = 0;
    asf__set_region_state(b, r, state);
    asf__release_buffer(c, b);
    if (c->queue && c->queue->refs == 0)
        rc = asf__flush_queue(c);
    if (rc >= 0 && is_put_at_once(c))
        rc = asf__flush_output(c);
    asf__wake_waiting(c);
    return rc < 0 ? rc : 0;
}

/* Gives back a region of detached output, by the function `give`: asf__sfree_slow or asf__abandon. */
static int end_detached_region(struct asf_cios *c, char *p, int (*give)(struct asf_cios *, char *)) {
    for (struct asf_cios *d = c->detached; d; d = d->next) {
        int rc = give(d, p);
        if (rc == -EINVAL)
            continue;
        int put = asf__settle_detached(c, d);
        return rc ? rc : put == ASF_PARTLY ? 0 : put;
    }
    return -EINVAL;
}

int asf__sfree_slow(struct asf_cios *c, char *p) {
    struct asf_region *r = NULL;
    struct asf_buffer *b = find_buffer_of(c, p, &r);
    if (!b)
        return end_detached_region(c, p, asf__sfree_slow);
    int lost = b->mapped && c->ops->lost ? c->ops->lost(c, b, p, r->n) : 0;
    int rc = end_region(c, b, r, ASF_FREED);
    return lost ? lost : rc;
}

static bool is_in(const struct asf_buffer *list, const struct asf_buffer *b) {
    while (list && list != b)
        list = list->next;
    return list;
}

/* Abandons a region.  On a memory stream (open_memstream) the program sees the buffer itself: the region
 * is only freed, and its bytes stay in the stream. */
int asf__abandon(struct asf_cios *c, char *p) {
    struct asf_region *r = NULL;
    struct asf_buffer *b = find_buffer_of(c, p, &r);
    bool output =
        b && asf__is_putting(c) && !c->ops->memory_is_the_stream && (b == c->buffer || is_in(c->queue, b));
    if (!b)
        return end_detached_region(c, p, asf__abandon);
    if (output && !asf__reserve_region(b))
        return -ENOMEM;
    r = asf__find_region(b, p, ASF_ANY_LENGTH);
    c->left_out += output ? r->n : 0;
    return end_region(c, b, r, output ? ASF_ABANDONED : ASF_FREED);
}

static void abandon_in(struct asf_cios *c, struct asf_buffer *b) {
    for (unsigned i = b->first; i < b->end; i++) {
        struct asf_region *r = &asf__regions_of(b)[i];
        if (r->state != ASF_KEPT)
            continue;
        r->state = ASF_ABANDONED;
        c->left_out += r->n;
    }
}

/* Marks all output regions as abandoned.  Their memory is not freed: other threads may use it until the
 * process ends. */
static void abandon_all(struct asf_cios *c) {
    for (struct asf_cios *d = c->detached; d; d = d->next)
        abandon_all(d);
    if (!asf__is_putting(c) || c->ops->memory_is_the_stream)
        return;
    asf__table_last(c);
    for (struct asf_buffer *b = c->queue; b; b = b->next)
        abandon_in(c, b);
    if (c->buffer)
        abandon_in(c, c->buffer);
}

void asf__put_without_regions(struct asf_cios *c) {
    abandon_all(c);
    asf__flush_output(c);
    asf__flush_detached(c);
}

/* --- regions that are a buffer of their own ----------------------------------------------- */

void asf__hand_out_apart(struct asf_cios *c, struct asf_buffer *b, size_t n) {
    asf__insert_region(b, b->base, n);
    b->refs = 1;
    asf__retire_buffer(c, b);
}
