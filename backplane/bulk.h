/* SPDX-License-Identifier: MIT
 *
 * bulk.h - bulk streams.  A stream that moves many whole blocks in a row, fast, gets large memory.  Its
 * current buffer stays one block and slides over that memory.  Input: the memory is filled by one system
 * call, and each block is taken from it.  Output: blocks are held until the memory is full.  The interfaces
 * see no difference; only the descriptor's offset is ahead (input) or behind (output).
 *
 * Lock: held, unless a line says otherwise.
 */
#ifndef ASF_BACKPLANE_BULK_H
#define ASF_BACKPLANE_BULK_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* The number of bulk streams; atomic. */
extern unsigned asf__bulk_streams;

/* asf__count_block: a system call has moved a whole block; after many, the stream becomes bulk. */
void asf__count_block_slow(struct asf_cios *c);
static inline void asf__count_block(struct asf_cios *c) {
    if (c->bulk.state == ASF_BULK_MAYBE)
        asf__count_block_slow(c);
}

/* asf__leave_bulk: end bulk mode; blocks that were read ahead or are held are still used.
 * asf__publish_bulk: bring the descriptor's offset to where it would be without bulk memory (write.c).
 * asf__end_bulk: both. */
void asf__leave_bulk(struct asf_cios *c);
void asf__publish_bulk(struct asf_cios *c);
static inline void asf__end_bulk(struct asf_cios *c) {
    c->bulk.run = 0;
    if (asf__unlikely(c->bulk.state == ASF_BULK || c->bulk.from)) {
        asf__publish_bulk(c);
        asf__leave_bulk(c);
    }
}
/* asf__publish_streams (list.c): call asf__publish_bulk for each stream on descriptor fd (-1: on any), unless
 * a thread is in a call on the stream.  lock: none.
 * asf__stop_bulk: call asf__end_bulk, unless a thread is in a call on the stream.  lock: none. */
void asf__publish_streams_slow(int fd);
static inline void asf__publish_streams(int fd) {
    if (asf__unlikely(__atomic_load_n(&asf__bulk_streams, __ATOMIC_RELAXED) > 0))
        asf__publish_streams_slow(fd);
}
void asf__stop_bulk(struct asf_cios *c);

/* Input.
 * asf__fill_bulk: make the next block the window if the window is empty, or else add the blocks that were
 * read ahead to it.  returns  whether the fill is complete; *r is as the module's get returns.
 * asf__take_bulk: copy up to n bytes, whole blocks, to the caller's memory; returns as the module's get. */
bool asf__fill_bulk(struct asf_cios *c, ssize_t *r);
ssize_t asf__take_bulk(struct asf_cios *c, char *p, size_t n);
/* asf__unread_ahead: set the descriptor's offset back by the bytes that were read ahead.  A pipe keeps them
 * for the next fill. */
void asf__unread_ahead(struct asf_cios *c);

/* Output.
 * asf__hold_block: hold a full window, unless the memory is full or filled slowly.  returns  whether it did.
 * asf__have_bulk_memory: give a stream with an empty window a buffer that slides, at its beginning.
 * asf__show_held: add the held blocks to the window, which is put next.
 * asf__rewind_buffer: move the buffer to the beginning of its memory.
 * asf__goes_by_blocks: whether n bytes are copied, and not put from the caller's memory. */
bool asf__hold_block(struct asf_cios *c);
bool asf__have_bulk_memory(struct asf_cios *c);
void asf__show_held(struct asf_cios *c);
void asf__rewind_buffer(struct asf_cios *c);
bool asf__goes_by_blocks(const struct asf_cios *c, size_t n);

#pragma GCC visibility pop

#endif
