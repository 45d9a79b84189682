/* SPDX-License-Identifier: MIT
 *
 * regions.h - salloc and sfree on the current buffer, inline: Figure 4 of the paper; and the table of a
 * buffer's regions.
 *
 * A single region costs a pointer and a count (<asf/inline.h>).  Two or more are in the table of their
 * buffer, and so is an output region of a stream that is line buffered or unbuffered, or waits.
 * Lock: held.
 */
#ifndef ASF_BACKPLANE_REGIONS_H
#define ASF_BACKPLANE_REGIONS_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* asf__salloc_slow, asf__sfree_slow: serve calls that the inline forms cannot serve. */
void *asf__salloc_slow(struct asf_cios *c, ssize_t *length, bool some);
int asf__sfree_slow(struct asf_cios *c, char *p);
/* asf__abandon: give a region back without its bytes: those of an output region are not put.
 * returns  0; -EINVAL: no region begins at p; -ENOMEM.
 * asf__put_without_regions: abandon all regions of output at exit, and put the rest.  With the ASI alone,
 * exit tries each lock once, and goes on without it. */
int asf__abandon(struct asf_cios *c, char *p);
void asf__put_without_regions(struct asf_cios *c);

/* --- the table (table.c), and waiting for regions (await.c) --- */

/* asf__table_last: move the region of `last` to the table.
 * asf__latest: returns the entry of the region at p if that was allocated last and ends at the stream's
 * offset; else NULL.
 * asf__resize: change that region's length (resize.c); returns as asf_srealloc.
 * asf__insert_region: enter n bytes at p; the table has room. */
void asf__table_last(struct asf_cios *c);
struct asf_region *asf__latest(struct asf_cios *c, const char *p);
void *asf__resize(struct asf_cios *c, struct asf_region *r, ssize_t *newlen);
void asf__insert_region(struct asf_buffer *b, char *p, size_t n);
/* asf__await_regions: wait until a region is freed; return at once if c->wakeups is no longer `wakeups`, the
 * value that the caller has read: a region was freed since.  lock: none.
 * asf__set_bound: set c->bound and c->waits, and wake the threads in asf__await_regions.  While c->waits is
 * set, no region is in `last`, so that the inline sfree frees none. */
void asf__await_regions(struct asf_cios *c, unsigned wakeups);
void asf__set_bound(struct asf_cios *c, size_t bytes, bool waits);

/* asf__hand_out_apart: make the first n bytes of buffer b a region; b is freed when the region is. */
void asf__hand_out_apart(struct asf_cios *c, struct asf_buffer *b, size_t n);

/* asf__no_region: make the result of a failed salloc: NULL, and the error in *length. */
static inline void *asf__no_region(ssize_t *length, ssize_t code) {
    *length = code;
    return NULL;
}

/* asf__u_salloc: allocate the next *length bytes; with `some`, fewer if the buffer has fewer. */
static inline void *asf__u_salloc(struct asf_cios *c, ssize_t *length, bool some) {
    void *p = asf_view_salloc((struct asf_view *)(void *)c, *length);
    return asf__likely(p) ? p : asf__salloc_slow(c, length, some);
}

static inline int asf__u_sfree(struct asf_cios *c, char *p) {
    return asf__likely(asf_view_sfree((struct asf_view *)(void *)c, p)) ? 0 : asf__sfree_slow(c, p);
}

#pragma GCC visibility pop

#endif
