/* SPDX-License-Identifier: MIT
 *
 * engine.h - the engine's own functions, which only the files of this folder call; put.h and bulk.h have
 * more. Streams and interfaces may include none of the three (tests/layers/check_layers).
 *
 * Unless a line says otherwise: the caller holds the stream's lock, and failures are negated errno values.
 */
#ifndef ASF_BACKPLANE_ENGINE_H
#define ASF_BACKPLANE_ENGINE_H

#include "backplane/regions.h"

#pragma GCC visibility push(hidden)

/* --- buffers (buffers.c) --- */

/* If the file was truncated under a mapped window, replaces the window by the file as it is now. */
static inline int asf__trim(struct asf_cios *c) {
    return asf__unlikely(c->buffer && c->buffer->truncated) ? c->ops->trim(c) : 0;
}

/* asf__single_buffer: make a buffer of p[0..n), memory that the engine did not allocate.  A stream has only
 * one such buffer.
 * returns  NULL: regions still point into the previous one. */
struct asf_buffer *asf__single_buffer(struct asf_cios *c, char *p, size_t n);

/* --- output (put.c, queue.c, write.c, detached.c) --- */

/* asf__go_to_output: set the descriptor's offset to where the pending output begins.  returns  0 or -errno.
 */
int asf__go_to_output(struct asf_cios *c);
/* asf__put_up_to_region: put the bytes *from..to of the buffer, without abandoned regions, up to the first
 * region in use, and advance *from over them.  returns  0; ASF_PARTLY: it met a region in use; or -errno.
 * asf__flush_queue: the same of all queued output. */
int asf__put_up_to_region(struct asf_cios *c, struct asf_buffer *b, char **from, const char *to);
int asf__flush_queue(struct asf_cios *c);
/* asf__waiting: returns the number of output bytes that are not put yet, without those of abandoned
 * regions. */
size_t asf__waiting(const struct asf_cios *c);
/* asf__end_of_detached: returns the largest end offset of detached output and the module's regions of output
 * (end_apart); 0: there is neither. */
off64_t asf__end_of_detached(const struct asf_cios *c);
/* asf__settle_detached: put one detached output, d, up to the first region in use; d is freed when all of it
 * has been put.  returns  as asf__flush_output. */
int asf__settle_detached(struct asf_cios *c, struct asf_cios *d);
static inline off64_t asf__end_apart(const struct asf_cios *c) {
    return c->ops->end_apart ? c->ops->end_apart(c) : 0;
}
/* asf__has_detached: whether there is detached output, or a region of output of the module's. */
static inline bool asf__has_detached(const struct asf_cios *c) {
    return c->detached || asf__end_apart(c) > 0;
}

/* --- regions (regions.c), and a buffer's table of them (table.c) --- */

/* asf__first_region: returns the first entry that was not freed, or NULL.
 * asf__reserve_region: make room for one entry.  returns  false: there is no memory.
 * asf__find_region: returns the kept region at p, of n bytes or ASF_ANY_LENGTH, or NULL.
 * asf__set_region_state: free or abandon a kept region.
 * asf__regions_of: returns the entries, of which first..end-1 are in use.
 * asf__take_back: free the latest region's entry, before asf__grant_again.
 * asf__grant_again: hand out the latest region again, at another length. */
struct asf_region *asf__first_region(struct asf_buffer *b);
static const size_t ASF_ANY_LENGTH = SIZE_MAX;
bool asf__reserve_region(struct asf_buffer *b);
struct asf_region *asf__find_region(struct asf_buffer *b, const char *p, size_t n);
void asf__set_region_state(struct asf_buffer *b, struct asf_region *r, enum asf_region_state state);
struct asf_region *asf__regions_of(struct asf_buffer *b);
void asf__take_back(struct asf_cios *c, struct asf_region *r);
void *asf__grant_again(struct asf_cios *c, char **pointer, size_t n);

/* asf__wake_waiting: wake the threads in asf__await_regions (await.c). */
void asf__wake_waiting(struct asf_cios *c);

/* --- statistics (report.c) --- */

/* asf__forget_counts: clear the counts in the child of a fork, since they are the parent's. */
void asf__forget_counts(struct asf_cios *c);

#pragma GCC visibility pop

#endif
