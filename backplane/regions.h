/* SPDX-License-Identifier: MIT
 *
 * regions.h - salloc and sfree on the current buffer, inline: Figure 4 of the paper.
 * Lock: held.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#ifndef ASF_BACKPLANE_REGIONS_H
#define ASF_BACKPLANE_REGIONS_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* asf__salloc_slow, asf__sfree_slow: what the current buffer cannot serve. */
void *asf__salloc_slow(struct asf_cios *c, ssize_t *length, bool some);
int asf__sfree_slow(struct asf_cios *c, char *p);
/* asf__flush_queue: put the output that was queued after regions, as far as these have been
 * given back (write.c).  -EBUSY: not all of it. */
int asf__flush_queue(struct asf_cios *c);

/* asf__no_region: what a call for a region that fails with `code` leaves; NULL. */
static inline void *asf__no_region(ssize_t *length, ssize_t code) {
    *length = code;
    return NULL;
}

static inline void *asf__grant(struct asf_cios *c, char **pointer, size_t n) {
    char *p = *pointer;
    struct asf_buffer *b = c->buffer;
    b->refs++;
    *pointer = p + n;
    c->last = p;
    c->last_length = n;
    if (asf__unlikely(b->lengths != NULL)) {
        unsigned i = b->lengths->count++ % 32;
        b->lengths->of[i].p = p;
        b->lengths->of[i].n = n;
    }
    return p;
}

/* asf__u_salloc: the next *length bytes; `some`: or as many as are at hand. */
static inline void *asf__u_salloc(struct asf_cios *c, ssize_t *length, bool some) {
    size_t n = (size_t)*length;
    if (asf__likely(n - 1 < asf__avail(c) && !(c->flags & ASF_IN_BACKUP)))
        return asf__grant(c, &c->read_ptr, n);
    if (asf__likely(n - 1 < asf__room(c)))
        return asf__grant(c, &c->write_ptr, n);
    return asf__salloc_slow(c, length, some);
}

static inline bool asf__within(const struct asf_buffer *b, const char *p) {
    return b && p >= b->base && p < b->base + b->size;
}

static inline int asf__u_sfree(struct asf_cios *c, char *p) {
    struct asf_buffer *b = c->buffer;
    bool shown_at_once = c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED);
    if (asf__likely(asf__within(b, p) && b->refs > 0 && !b->truncated && !shown_at_once)) {
        b->refs--;
        return 0;
    }
    return asf__sfree_slow(c, p);
}

#pragma GCC visibility pop

#endif
