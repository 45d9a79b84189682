/* SPDX-License-Identifier: MIT
 *
 * bulk.h - bulk streams.  A stream that moves many whole blocks in a row, fast, continues with a large
 * buffer in place of its own, which holds one block.  All bytes that are unread or pending are between the
 * pointers, as in any buffer.  When another process or stream may use the descriptor, the cut moves the
 * descriptor and the windows to where they would be with the stream's own buffer.  The cut computes that
 * state:
 *
 *   output  its own buffer would begin at write_end - block, and the bytes before would have been put: the
 *           write window ends where that of its own buffer would
 *   input   blocks would have been read from buf_base to asf__own_end
 *
 * Lock: held, unless a line says otherwise.
 */
#ifndef ASF_BACKPLANE_BULK_H
#define ASF_BACKPLANE_BULK_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* Calls of at least this many bytes go straight between the caller and the module: a copy costs more than
 * a system call. */
enum { ASF_STRAIGHT = 16 << 10 };

/* asf__bulk_start: prepare to detect a fork that calls no handler.  lock: none.
 * asf__bulk_in_child: called in the child of a fork that calls handlers.  lock: none. */
void asf__bulk_start(void);
void asf__bulk_in_child(void);

/* asf__count_block: count a system call that moved a whole block; after many, the stream becomes bulk.
 * The write window must be empty. */
void asf__count_block_slow(struct asf_cios *c);
static inline void asf__count_block(struct asf_cios *c) {
    if (c->bulk.state == ASF_BULK_MAYBE)
        asf__count_block_slow(c);
}

/* asf__is_bulk_output: whether output goes to the large buffer (append_bulk of write.c). */
static inline bool asf__is_bulk_output(const struct asf_cios *c) {
    return asf__unlikely(c->bulk.state == ASF_BULK) && asf__is_putting(c);
}

/* asf__stays_bulk: call it where the stream's own buffer would be filled or put.  returns  false: bytes
 * were in the large buffer for too long, or calls do not lock the stream; bulk mode has ended, with all
 * bytes in place. */
bool asf__stays_bulk(struct asf_cios *c);
/* asf__leave_bulk: end bulk mode; bytes stay in the large buffer until it is empty. */
void asf__leave_bulk(struct asf_cios *c);
/* asf__end_bulk: end bulk mode by the cut.  The cut puts the blocks that would have been put, or sets the
 * offset of an input file back to asf__own_end, unless the descriptor is another file by now or at
 * another offset. */
void asf__end_bulk_slow(struct asf_cios *c);
static inline void asf__end_bulk(struct asf_cios *c) {
    c->bulk.run = 0;
    if (asf__unlikely(c->bulk.state == ASF_BULK))
        asf__end_bulk_slow(c);
}
/* asf__drop_large: forget the large buffer, and free the stream's own buffer that it replaces. */
void asf__drop_large(struct asf_cios *c);

/* asf__publish_streams: end bulk mode of each stream on descriptor fd (-1: of all), unless a thread is in a
 * call on the stream.  lock: none.
 * asf__publish_on_exit: the same for streams that read, at the end of the process.  lock: none. */
void asf__publish_streams_slow(int fd, bool exits);
static inline void asf__publish_streams(int fd) {
    if (asf__unlikely(__atomic_load_n(&asf__bulk_streams, __ATOMIC_RELAXED) > 0))
        asf__publish_streams_slow(fd, false);
}
static inline void asf__publish_on_exit(void) {
    if (asf__unlikely(__atomic_load_n(&asf__bulk_streams, __ATOMIC_RELAXED) > 0))
        asf__publish_streams_slow(-1, true);
}

/* Input.
 * asf__choose_buffer: when the window is empty, give a bulk stream the large buffer, any other stream its
 * own.
 * asf__own_end: returns where the bytes end that the stream would have read into its own buffer.
 * asf__note_passing: a call is about to take n bytes.  After the bytes of its own buffer, whole blocks
 * would be read straight to the caller's memory, and leave that buffer empty.  With ASF_READS_ON all but
 * the last byte would be, and the last byte begins the buffer. */
void asf__choose_buffer(struct asf_cios *c);
char *asf__own_end(const struct asf_cios *c);
void asf__note_passing_slow(struct asf_cios *c, size_t n);
static inline void asf__note_passing(struct asf_cios *c, size_t n) {
    if (asf__likely(!c->bulk.own))
        return;
    bool beyond = c->flags2 & ASF_READS_ON &&
                  (!c->bulk.passed || (size_t)(c->read_ptr - c->bulk.passed) + n > c->block);
    if (n >= c->block || beyond)
        asf__note_passing_slow(c, n);
}

/* Output.
 * asf__begin_own_buffer: the stream's own buffer would begin at p, and be filled up to write_ptr.
 * returns  0; or -errno of a put, made because there was no room for a block at p.
 * asf__put_large: put all pending bytes of the large buffer.  If a put fails, the rest of the block in
 * which it failed is dropped, as with puts of one block.  Bytes after that block stay pending, and bulk
 * mode ends.  returns  0 or -errno. */
int asf__begin_own_buffer(struct asf_cios *c, char *p);
int asf__put_large(struct asf_cios *c);

#pragma GCC visibility pop

#endif
