/* SPDX-License-Identifier: MIT
 *
 * bulk.h - bulk streams.  A stream that moves many whole blocks in a row, fast, continues with a large
 * buffer in place of its own, which holds one block.  All bytes that are unread or pending are between the
 * pointers, as in any buffer.  Only streams of stdio become bulk: regular files opened for one direction,
 * pipes read, and /dev/null (streams/modules.c).  Appending streams, streams on standard error's file, and
 * blocks under 1 KB or over 64 KB never do.  64 counted calls within 50 ms begin bulk mode; blocks under 4 KB
 * count as fractions.  A large buffer has 128 KB.  A process has four; a stream that finds all in use stays
 * as it is.
 *
 * Before fork, popen, fileno, a seek, and some transfers of other streams (asf__publish_others), the cut ends
 * bulk mode.  It moves the descriptor and the windows to where they would be with the stream's own buffer.
 * fflush(NULL) and exit put all output, and cut input.  A seek of the stream itself puts what the cut leaves.
 * exec, _exit, posix_spawn, vfork and clone make no cut, and a killed process loses up to 128 KB of output of
 * each bulk stream: asf_stdio(7).  The cut computes this state:
 *
 *   output  its own buffer would begin at write_end - block, and the bytes before would have been put: the
 *           write window ends where that of its own buffer would.  Up to one whole block stays pending
 *   input   blocks would have been read from buf_base to asf__own_end.  A pipe cannot be set back: its bytes
 *           stay in the buffer.  Input is never bulk again after a cut, except a file's after the stream's
 *           own seek, fflush or change to output
 *
 * The engine's own header, as engine.h.  The functions that interfaces call on a bulk stream are in
 * backplane.h.
 * Lock: held, unless a line says otherwise.
 */
#ifndef ASF_BACKPLANE_BULK_H
#define ASF_BACKPLANE_BULK_H

#include "backplane/engine.h"

#pragma GCC visibility push(hidden)

/* On a bulk stream at least this many bytes go straight between the caller and the module: a copy costs
 * more than a system call.  If output is pending, the bytes that fill the stream's own block do not count. */
enum { ASF_STRAIGHT = 16 << 10 };

/* asf__bulk_in_child: in the child of a fork that calls handlers, take a new process number, and reset the
 * lock of the large buffers.  lock: none. */
void asf__bulk_in_child(void);

/* asf__count_block: count a system call that moved a whole block; after many, the stream becomes bulk.
 * Nothing may be pending. */
void asf__count_block_slow(struct asf_cios *c);
static inline void asf__count_block(struct asf_cios *c) {
    if (c->bulk.state == ASF_BULK_MAYBE)
        asf__count_block_slow(c);
}

/* asf__is_bulk_output: whether output goes to the large buffer (append_bulk of write.c). */
static inline bool asf__is_bulk_output(const struct asf_cios *c) {
    return asf__unlikely(c->bulk.state == ASF_BULK) && asf__is_putting(c);
}

/* asf__stays_bulk: call it where the stream's own buffer would be filled or put.  There is no timer: the time
 * is compared only here.  returns  false: bytes were in the large buffer for over 50 ms, or a process with
 * several threads uses the stream without its lock; bulk mode has ended, and pending bytes must still be put.
 */
bool asf__stays_bulk(struct asf_cios *c);
/* asf__leave_bulk: end bulk mode; bytes stay in the large buffer until it is empty. */
void asf__leave_bulk(struct asf_cios *c);
/* asf__drop_large: forget the large buffer, and free the stream's own buffer that it replaces. */
void asf__drop_large(struct asf_cios *c);

/* asf__choose_buffer: when the window of a stream that reads is empty, give a bulk stream the large buffer,
 * any other stream its own. */
void asf__choose_buffer(struct asf_cios *c);
/* asf__own_begin: returns where in the large buffer the stream's own buffer would begin. */
char *asf__own_begin(const struct asf_cios *c);

/* Output.
 * asf__begin_own_buffer: record that the stream's own buffer would now hold the bytes from p to write_ptr.
 * returns  0; or -errno of a put, made because there was no room for a block at p.
 * asf__put_large: put all pending bytes of the large buffer.  If a put fails, the rest of the block in
 * which it failed is dropped, as with puts of one block.  Bytes after that block stay pending, and bulk
 * mode ends.  returns  0 or -errno. */
int asf__begin_own_buffer(struct asf_cios *c, char *p);
int asf__put_large(struct asf_cios *c);

#pragma GCC visibility pop

#endif
