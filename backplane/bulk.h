/* SPDX-License-Identifier: MIT
 *
 * bulk.h - bulk streams.  A stream that moves many whole blocks in a row, fast, gets large memory
 * under its current buffer, which stays a block and slides over that memory: below it a block is
 * taken from what was read ahead, or held until the memory is full.  Above it nothing changes; the
 * descriptor alone is early (input) or late (output).
 *
 * Lock: held, unless a line says otherwise.
 */
#ifndef ASF_BACKPLANE_BULK_H
#define ASF_BACKPLANE_BULK_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* How many streams are bulk; atomic. */
extern unsigned asf__bulk_streams;

/* asf__count_block: a whole block was moved by a system call: the stream may become bulk. */
void asf__count_block_slow(struct asf_cios *c);
static inline void asf__count_block(struct asf_cios *c) {
    if (c->bulk.state == ASF_BULK_MAYBE)
        asf__count_block_slow(c);
}

/* asf__leave_bulk: the stream goes on block by block, once what is ahead or held is gone. */
void asf__leave_bulk(struct asf_cios *c);
/* asf__publish_bulk: bring the descriptor to where it would be without bulk memory (write.c).
 * asf__end_bulk: the same, and the stream goes on block by block. */
void asf__publish_bulk(struct asf_cios *c);
void asf__end_bulk_slow(struct asf_cios *c);
static inline void asf__end_bulk(struct asf_cios *c) {
    c->bulk.run = 0;
    if (asf__unlikely(c->bulk.state == ASF_BULK || c->bulk.from))
        asf__end_bulk_slow(c);
}
/* asf__publish_streams (list.c): asf__publish_bulk on every stream on this descriptor, or with -1 on all; not
 * on one that a thread is in a call on. asf__stop_bulk: asf__end_bulk of one, if no thread is in a call on
 * it.  lock: none. */
void asf__publish_streams_slow(int fd);
static inline void asf__publish_streams(int fd) {
    if (asf__unlikely(__atomic_load_n(&asf__bulk_streams, __ATOMIC_RELAXED) > 0))
        asf__publish_streams_slow(fd);
}
void asf__stop_bulk(struct asf_cios *c);

/* Input.  asf__fill_bulk: if the window is empty, the next block is it; else what was read ahead joins
 * it.  returns  whether no more is to be done; in *r as the module's get.
 * asf__take_bulk: up to n bytes, whole blocks, to the caller's memory; as the module's get. */
bool asf__fill_bulk(struct asf_cios *c, ssize_t *r);
ssize_t asf__take_bulk(struct asf_cios *c, char *p, size_t n);
/* asf__unread_ahead: the descriptor goes back over what was read ahead.  That of a pipe cannot: the bytes
 * stay, and are read before what follows. */
void asf__unread_ahead(struct asf_cios *c);

/* Output.  asf__pass_block: a full window is put, or held if the stream is bulk; else it is flushed
 * (write.c). asf__hold_block: hold a full window, unless that fills the memory, or took long.  returns
 * whether it is held. asf__have_bulk_memory: a buffer that slides, at its beginning; the window is empty.
 * asf__show_held: what is held joins the window, which is about to be put.
 * asf__rewind_buffer: the buffer begins where its memory does.
 * asf__goes_by_blocks: whether n bytes are rather copied than put from the caller's memory. */
int asf__pass_block(struct asf_cios *c);
bool asf__hold_block(struct asf_cios *c);
bool asf__have_bulk_memory(struct asf_cios *c);
void asf__show_held(struct asf_cios *c);
void asf__rewind_buffer(struct asf_cios *c);
bool asf__goes_by_blocks(const struct asf_cios *c, size_t n);

#pragma GCC visibility pop

#endif
