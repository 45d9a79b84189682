/* SPDX-License-Identifier: MIT
 *
 * regions.h - salloc and sfree on the current buffer, inline: Figure 4 of the paper; and the
 * table of a buffer's regions.
 *
 * One region at a time costs a pointer and a count (<asf/inline.h>).  Where there are more,
 * they stand in the table of their buffer.
 * Lock: held.
 */
#ifndef ASF_BACKPLANE_REGIONS_H
#define ASF_BACKPLANE_REGIONS_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* asf__salloc_slow, asf__sfree_slow: what the current buffer cannot serve. */
void *asf__salloc_slow(struct asf_cios *c, ssize_t *length, bool some);
int asf__sfree_slow(struct asf_cios *c, char *p);
/* asf__abandon: give the region up: of output its bytes are left out.  -EINVAL: it is none.
 * asf__abandon_all: at exit, all regions of output; their memory stays. */
int asf__abandon(struct asf_cios *c, char *p);
void asf__abandon_all(struct asf_cios *c);
/* asf__flush_queue: put the output that was queued after regions, as far as these have been
 * given back (write.c).  -EBUSY: not all of it. */
int asf__flush_queue(struct asf_cios *c);

/* asf__grant_again: the latest region, which asf__take_back has taken, at another length. */
void *asf__grant_again(struct asf_cios *c, char **pointer, size_t n);

/* --- the table (table.c) --- */

/* asf__table_last: put the region that is in no table there: needs no memory, since the table is
 * empty. */
void asf__table_last(struct asf_cios *c);
/* asf__first_region: the first in the table that was not freed; NULL: none. */
struct asf_region *asf__first_region(struct asf_buffer *b);
/* asf__latest: the region at p if it was allocated last and ends where the stream stands; else
 * NULL.  It is in the table, and can be changed there. */
struct asf_region *asf__latest(struct asf_cios *c, const char *p);
/* asf__take_back: the latest region, on its way to another length. */
void asf__take_back(struct asf_cios *c, struct asf_region *r);
/* asf__reserve_region: make room for one more; false: there is no memory.
 * asf__insert_region: n bytes at p are a region; there is room.
 * asf__find_region: the kept region at p, of n bytes or ASF_ANY_LENGTH; NULL: none.
 * asf__set_region_state: it is kept no more.
 * asf__regions_of: the table, first..end-1 of which are in use. */
static const size_t ASF_ANY_LENGTH = SIZE_MAX;
bool asf__reserve_region(struct asf_buffer *b);
void asf__insert_region(struct asf_buffer *b, char *p, size_t n);
struct asf_region *asf__find_region(struct asf_buffer *b, const char *p, size_t n);
void asf__set_region_state(struct asf_buffer *b, struct asf_region *r, enum asf_region_state state);
struct asf_region *asf__regions_of(struct asf_buffer *b);
/* asf__await_regions: wait until one is given back after `turns` was looked at.  lock: none.
 * asf__wake_waiting: those who wait so look again. */
void asf__await_regions(struct asf_cios *c, unsigned turns);
void asf__wake_waiting(struct asf_cios *c);

/* asf__hand_out_apart: a region of n bytes that is the buffer b, which goes with it. */
void asf__hand_out_apart(struct asf_cios *c, struct asf_buffer *b, size_t n);

/* asf__no_region: what a call for a region that fails with `code` leaves; NULL. */
static inline void *asf__no_region(ssize_t *length, ssize_t code) {
    *length = code;
    return NULL;
}

static inline struct asf_view *asf__view(struct asf_cios *c) {
    return (struct asf_view *)(void *)c;
}

/* asf__u_salloc: the next *length bytes; `some`: or as many as are at hand. */
static inline void *asf__u_salloc(struct asf_cios *c, ssize_t *length, bool some) {
    void *p = asf_view_salloc(asf__view(c), *length);
    return asf__likely(p) ? p : asf__salloc_slow(c, length, some);
}

static inline int asf__u_sfree(struct asf_cios *c, char *p) {
    return asf__likely(asf_view_sfree(asf__view(c), p)) ? 0 : asf__sfree_slow(c, p);
}

#pragma GCC visibility pop

#endif
