/* SPDX-License-Identifier: MIT
 *
 * parts.h - what the backplane's own files share and no one else calls.  As in
 * backplane.h, the caller holds the stream's lock.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#ifndef ASF_BACKPLANE_PARTS_H
#define ASF_BACKPLANE_PARTS_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* What a thread reads for itself at most: from cache into cache, and into few
 * enough new pages. */
enum { ASF__PIECE = 128 << 10 };

/* asf__buffer_spare: a buffer for ASF__PIECE bytes, a kept one if there is one;
 * NULL when memory is short. */
struct asf_buffer *asf__buffer_spare(struct asf_cios *c);
/* asf__buffer_release: one region of the buffer less; the last of a retired one
 * lets it go.  asf__buffer_unused: the same when it has been counted. */
void asf__buffer_unused(struct asf_cios *c, struct asf_buffer *b);
static inline void asf__buffer_release(struct asf_cios *c, struct asf_buffer *b) {
    b->refs--;
    asf__buffer_unused(c, b);
}

/* asf__empty_window: an empty read window, to begin input from. */
void asf__empty_window(struct asf_cios *c);

/* asf__file_has: how many of n bytes from the offset on the file has.  Its size is asked for
 * only when they lie beyond the one known, since other threads wait meanwhile; who then gets
 * fewer bytes forgets it (c->size = 0): the file was cut. */
size_t asf__file_has(struct asf_cios *c, size_t n);

/* asf__put_queue: write what waited for its regions; -EBUSY: some still do. */
int asf__put_queue(struct asf_cios *c);

#pragma GCC visibility pop

#endif
