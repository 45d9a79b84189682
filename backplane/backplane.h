/* SPDX-License-Identifier: MIT
 *
 * backplane.h - what interfaces and stream modules call on a CIOS.  The
 * current-buffer fast paths are here, inline, for all of them.
 *
 * Unless a line says otherwise: the caller holds the stream's lock, failures
 * are negated errno values, and errno is not touched.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#ifndef ASF_BACKPLANE_BACKPLANE_H
#define ASF_BACKPLANE_BACKPLANE_H

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "backplane/cios.h"

#pragma GCC visibility push(hidden)

/* --- making and ending streams (cios.c) ---------------------------------- */

struct asf_ring;

/* The module every stream starts with: it chooses the one that serves. */
extern const struct asf_stream_ops asf__first_use;
/* asf__open_memory: a stream into memory that grows (streams/memory.c).
 * asf__open_segment: one on a segment of shared memory, which it detaches when
 * it is closed (streams/shm_segment.c).
 * asf__open_ring: one on an end of a ring, given back when it is closed
 * (streams/ring_stream.c).
 * asf__open_module: one on a module made outside; its missing calls are filled
 * in (streams/modules.c).  NULL when memory is short; in no list yet. */
struct asf_cios *asf__open_memory(char **location, size_t *size);
struct asf_cios *asf__open_segment(char *shm, int access);
struct asf_cios *asf__open_ring(struct asf_ring *r);
struct asf_cios *asf__open_module(const struct asf_stream_ops *ops, void *data, int access);
/* Buffering over a module's `get` and `put` (streams/buffer.c): what fills in for
 * its `fill` and `drain`; see struct asf_stream_ops. */
ssize_t asf__buffered_fill(struct asf_cios *c, size_t want);
int asf__buffered_drain(struct asf_cios *c, size_t want);
/* asf__choose: choose now; the streams layer's (streams/modules.c).  It cannot fail: true
 * says that this call found the descriptor not to be open. */
bool asf__choose_now(struct asf_cios *c);
static inline bool asf__choose(struct asf_cios *c) {
    return asf__likely(c->chosen) ? false : asf__choose_now(c);
}
/* asf__set_block: libc's buffer size, from the mode and what is known. */
void asf__set_block(struct asf_cios *c);
/* What a FILE's table must be for libc's inside; set by the stdio interface. */
extern const void *asf__vtable, *asf__wide_vtable;

/* asf__cios_new: a stream in no list yet; NULL when memory is short.
 * lock: none. */
struct asf_cios *asf__cios_new(const struct asf_stream_ops *ops, int fd, int access);
/* asf__cios_set_up: a stream that asf__cios_reset has left, for use again. */
void asf__cios_set_up(struct asf_cios *c, const struct asf_stream_ops *ops, int fd, int access);
/* asf__cios_link: enter the stream in the list and the descriptor table. */
void asf__cios_link(struct asf_cios *c);
void asf__cios_unlink(struct asf_cios *c);
/* asf__await_others: threads that have found the stream in the list, which it has
 * left, and wait for its lock: fflush(NULL). */
void asf__await_others(struct asf_cios *c);
/* asf__cios_drop: free buffers and clear the object, when no thread settles the
 * stream any more. */
void asf__cios_drop(struct asf_cios *c);
/* asf__cios_reset: a stream in no list forgets its file and refuses everything.  The
 * lock stays the caller's, other threads may wait for it, and what was allocated of
 * its buffers can be given back as before. */
void asf__cios_reset(struct asf_cios *c);
/* asf__cios_free: give the object back; the lock is gone with it. */
void asf__cios_free(struct asf_cios *c);
/* asf__has_regions: some are not given back; then it must not be closed. */
bool asf__has_regions(const struct asf_cios *c);
/* asf__cios_close: flush, close what lies under it, take it from the lists. */
int asf__cios_close(struct asf_cios *c);
void asf__cios_report(struct asf_cios *c);
void asf__set_name(struct asf_cios *c, const char *name);

/* asf__each: call `visit` on every stream until it returns false; the list is
 * locked meanwhile, the streams are not.  lock: none. */
void asf__each(bool (*visit)(struct asf_cios *c, void *arg), void *arg);
/* asf__each_soon: the same, but on no stream when another thread keeps the list locked
 * for long.  While there is one thread the list is not locked: `visit` must call nothing of
 * the program's. */
void asf__each_soon(bool (*visit)(struct asf_cios *c, void *arg), void *arg);
/* A walk from stream to stream with the list unlocked between: that at which it
 * stands is not given back, though it may be closed.  lock: none.
 * asf__walk_on: the next one that is `wanted`, or NULL.  None is met twice, and none
 * that is opened meanwhile.
 * asf__walk_end: of a struct asf_walk; also when the walk is left on its way. */
struct asf_walk {
    struct asf_cios *at, *outer;
    uint64_t before;
};
void asf__walk_begin(struct asf_walk *w);
struct asf_cios *asf__walk_on(struct asf_walk *w, bool (*wanted)(const struct asf_cios *));
void asf__walk_end(void *walk);
/* asf__walk_is_at: whether this thread's walk stands there. */
bool asf__walk_is_at(const struct asf_cios *c);
void asf__list_lock(void);
void asf__list_unlock(void);
/* asf__list_enter: lock the list; false in a signal handler that has interrupted
 * this thread just there, and would wait for itself. */
bool asf__list_enter(void);
/* asf__list_enter_soon: the same; false also when another thread keeps it for long, and while
 * there is one thread, which needs no lock. */
bool asf__list_enter_soon(void);
/* asf__list_reset: in the child of a fork; `held`: by this thread, which has entered it. */
void asf__list_reset(bool held);
/* asf__popen_lock: from where the streams that a child is not to have are looked up until the
 * new one is among them.  asf__popen_reset: in the child of a fork, whoever had it. */
void asf__popen_lock(void);
void asf__popen_unlock(void);
void asf__popen_reset(void);

/* --- descriptors (fdtable.c); lock: none ---------------------------------- */

struct asf_cios *asf__fd_stream(int fd);
/* asf__forget_offset: it may be moved past the descriptor's streams.  What a seek
 * of theirs has set is remembered all the same: libc does not notice either.
 * asf__share_offset: another descriptor will have it, too. */
void asf__forget_offset(int fd);
void asf__share_offset(int fd);
/* asf__join: the stream is used by the ASI: Unix I/O on its descriptor is, too. */
extern bool asf__some_joined;
void asf__join(struct asf_cios *c);
/* asf__fd_enter, asf__fd_leave: the caller holds the list's lock. */
void asf__fd_enter(struct asf_cios *c);
void asf__fd_leave(struct asf_cios *c);

/* --- moving data (modes.c, output.c, input.c, offset.c) -------------------- */

int asf__to_read(struct asf_cios *c);
int asf__to_write(struct asf_cios *c);
/* asf__end_output: put what is pending; the stream is in neither mode then. */
int asf__end_output(struct asf_cios *c);
/* asf__go_back: set the offset back to where the output begins. */
int asf__go_back(struct asf_cios *c);
/* asf__go_to_output: the same if it matters where the offset is when it is put. */
int asf__go_to_output(struct asf_cios *c);
/* asf__fill: at least `want` bytes in the read window; returns how many. */
ssize_t asf__fill(struct asf_cios *c, size_t want);
/* asf__drain: room for `want` bytes in the write window. */
int asf__drain(struct asf_cios *c, size_t want);
/* asf__append: n bytes from the caller's memory; returns how many got in, and
 * the error that stopped it in *error. */
size_t asf__append(struct asf_cios *c, const char *p, size_t n, int *error);
/* asf__put_straight: the same, at once and past the buffer, on an unbuffered stream
 * that has nothing pending; -1, and nothing is done: it has, or is not ready. */
ssize_t asf__put_straight(struct asf_cios *c, const char *p, size_t n, int *error);
/* asf__take: up to n bytes into the caller's memory; stops early at end of
 * file (*error 0) or on an error.  Large data is copied unlocked. */
size_t asf__take(struct asf_cios *c, char *p, size_t n, int *error);
/* asf__is_copying: this thread is at that; a signal handler has interrupted it. */
bool asf__is_copying(void);
/* asf__get: up to n bytes straight into the caller's memory, by the module's
 * `get`, in read mode; the window is empty and moves along. */
ssize_t asf__get(struct asf_cios *c, char *p, size_t n);
/* asf__flush: put all complete output; input: give back what was read ahead. */
int asf__flush(struct asf_cios *c);
int asf__flush_output(struct asf_cios *c);
int asf__sync_input(struct asf_cios *c);
off64_t asf__seek(struct asf_cios *c, off64_t offset, int whence);
/* asf__catch_up: a seek that was put off is made.  Returns 0 or -errno. */
int asf__catch_up_now(struct asf_cios *c);
static inline int asf__catch_up(struct asf_cios *c) {
    return asf__unlikely(c->deferred) ? asf__catch_up_now(c) : 0;
}
/* asf__tell: after ungetc the place may be before the file's start, as in
 * glibc; it is then told by that much less, to be no errno. */
enum { ASF_BEFORE_START = 4096 };
off64_t asf__tell(struct asf_cios *c);
/* asf__expose: let the write window show the room there is, or none when
 * every byte must come by (line buffered, unbuffered). */
static inline void asf__expose(struct asf_cios *c) {
    bool hidden =
        ((c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED) || c->unprimed) && !c->own) || c->orientation > 0;
    size_t room = c->limit < c->out->size ? c->limit : c->out->size;
    c->buf_base = c->out->base;
    c->buf_end = c->out->base + room - (c->indent < room ? c->indent : room);
    c->write_end = hidden ? c->write_base : c->buf_end;
}
/* asf__at_end: a fill of libc's buffer met the end of the file. */
void asf__at_end(struct asf_cios *c);
/* asf__forget_place: what libc knows of the offset it knows no more. */
static inline void asf__forget_place(struct asf_cios *c) {
    if (asf__unlikely(c->astray))
        c->offset = -1;
    c->placed = c->astray = false;
}
/* asf__drop_output_buffer: the next output makes one of the size it is to be. */
void asf__drop_output_buffer(struct asf_cios *c);
void asf__close_read_window(struct asf_cios *c);
/* asf__leave_window: the same; libc's buffer is empty, too, and input goes on at
 * the offset. */
void asf__leave_window(struct asf_cios *c);
/* asf__leave_backup: what was pushed back has been read; its memory stays.
 * asf__free_backup: forget what was pushed back. */
void asf__leave_backup(struct asf_cios *c);
void asf__free_backup_now(struct asf_cios *c);
static inline void asf__free_backup(struct asf_cios *c) {
    if (asf__unlikely(c->save_base || c->orientation > 0 || c->flags & ASF_IN_BACKUP))
        asf__free_backup_now(c);
}
/* asf__torn: trim the window when the file was truncated under its map. */
bool asf__torn(struct asf_cios *c);

/* --- from stream to stream (streams/transfer.c) ------------------------------ */

/* What one call of asf_copy knows of its streams; all zero at first. */
struct asf_transfer {
    bool known, waits;  /* looked at; the input is a pipe, whose end is not known */
    bool clone, sparse; /* still worth a try: shared blocks, holes */
    bool of_input;      /* the error is the input's: a signal, while it was waited for */
    int way;            /* how the rest goes; 0: by hand */
    int pipe[2];        /* of our own, to splice through; both 0: none yet */
    size_t buffer;      /* by hand: of the output, if not 0 */
    off64_t size;       /* of the input as it was found */
    off64_t data_end;   /* where the input's next hole begins */
};

/* asf__transfer_prepare: look at the streams; both are locked. */
void asf__transfer_prepare(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out);
/* asf__transfer: move up to `most` bytes within the kernel; both are locked and
 * in their modes, and the input's window is empty.
 * returns  the bytes moved; 0: nothing, copy *most by hand; or the output's
 *          error, unless `of_input`.  What else fails is left to be met again by hand. */
int64_t asf__transfer(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t *most);
void asf__transfer_end(struct asf_transfer *t);

/* --- buffers (streams/buffer_memory.c, buffers.c) ------------------------- */

enum { ASF_ALIGNMENT = 64 };
struct asf_buffer *asf__buffer_new(size_t size);
/* asf__buffer_first: the stream's first buffer, if it is free and large enough,
 * else a new one.  asf__make_first: take its memory; false: there is none.
 * asf__unbuffer: go on without a buffer, for want of memory. */
struct asf_buffer *asf__buffer_first(struct asf_cios *c, size_t size);
bool asf__make_first(struct asf_cios *c);
void asf__unbuffer(struct asf_cios *c);
/* asf__buffer_is_common: mapped, of the usual size. */
bool asf__buffer_is_common(const struct asf_buffer *b);
/* asf__buffer_enlarge: the buffer with more room, or NULL when it is kept as it
 * is: no memory, or something points into it.  *p, which does, is where the same
 * bytes are now; `base` may have moved away from them. */
struct asf_buffer *asf__buffer_enlarge(struct asf_buffer *b, size_t size, char **p);
void asf__buffer_free(struct asf_buffer *b);
/* asf__buffer_retire: keep the buffer while it has regions, else free it. */
void asf__buffer_retire(struct asf_cios *c, struct asf_buffer *b);

/* --- nobody can tell (settle.c); lock: none unless said -------------------- */

/* Streams that hold back output or have read ahead of libc, and files that are
 * gathered for; those of them that hold back output. */
extern int asf__unsettled_count, asf__holding_count;

/* asf__settle_output: write what libc would have written by now.  Safe in a
 * signal handler; a stream in use elsewhere is passed over. */
void asf__settle_output(void);
/* asf__settle_input: give up what has been read ahead of libc.
 * asf__settle_last: as asf__settle_all where the process may end here, and a call
 * that a signal handler has interrupted with it.
 * asf__settle_all: also put the offset of every input where libc's would be. */
void asf__settle_input(void);
void asf__settle_all(void);
void asf__settle_last(void);
/* asf__settle_fd: one descriptor, both ways. */
void asf__settle_fd(int fd);
/* asf__settle_stream: the caller holds the lock. */
void asf__settle_stream(struct asf_cios *c);
/* asf__settle_readers: the file is about to be written, by `by` or past all
 * streams: readers give up what they have read ahead of libc. */
void asf__settle_readers(dev_t dev, ino_t ino, const struct asf_cios *by);
/* asf__settle_readers_again: it has been written, and another thread may have read ahead
 * meanwhile. */
static inline void asf__settle_readers_again(dev_t dev, ino_t ino, const struct asf_cios *by) {
    if (asf__unlikely(!__libc_single_threaded))
        asf__settle_readers(dev, ino, by);
}
bool asf__some_ahead(void);
/* asf__write_by_map: the file is mapped to be written, which is not seen: from now on
 * nothing is read ahead of it.  asf__is_written_by_map: whether that holds of a file. */
void asf__write_by_map(int fd);
bool asf__is_written_by_map(dev_t dev, ino_t ino);
/* asf__is_settling: whether a thread is at it. */
static inline bool asf__is_settling(const struct asf_cios *c) {
    return (__atomic_load_n(&c->settles, __ATOMIC_ACQUIRE) & 0xffff) != 0;
}
/* asf__exclude_settling: around what a program does without the stream's lock,
 * while it has threads: they may be settling it.  Afterwards, when it returns
 * true, unlock. */
bool asf__exclude_settling_now(struct asf_cios *c);
static inline bool asf__exclude_settling(struct asf_cios *c) {
    return asf__unlikely(!__libc_single_threaded) && c->flags2 & ASF_OURS && asf__exclude_settling_now(c);
}
/* asf__be_loose: before the program first uses a stream without any locks. */
void asf__be_loose(struct asf_cios *c);
/* asf__leave_to_parent: in the child of a fork, before the locks are reset: what
 * other threads have made of a stream since it was settled is the parent's, and
 * what a call holds back that was interrupted by the handler that forks. */
void asf__leave_to_parent(struct asf_cios *c);
/* asf__stop_growing: from now on the output buffer is no larger than libc's;
 * the caller holds the lock. */
void asf__stop_growing(struct asf_cios *c);
/* asf__share_all: from now on another process may look at the offsets. */
void asf__share_all(void);
/* asf__stop_growing_all: from now on output is written when libc's would be: a thread is to
 * be cancelled at the write that libc would make. */
void asf__stop_growing_all(void);
extern bool asf__growth_ended;
/* asf__be_plain: from now on libc's own buffers and system calls alone. */
void asf__be_plain(void);
/* asf__libc_pending: bytes that libc would still hold in its buffer. */
size_t asf__libc_pending(const struct asf_cios *c);
void asf__mark_grown(struct asf_cios *c, bool grown);
void asf__mark_ahead(struct asf_cios *c, bool ahead);
/* asf__before_wait: a call that may wait is coming: show what libc would show. */
static inline void asf__before_wait(void) {
    if (asf__unlikely(__atomic_load_n(&asf__holding_count, __ATOMIC_RELAXED)))
        asf__settle_output();
}

/* asf__settle_writers: the stream's file is about to be read, or its size asked for:
 * show what libc would have written to it. */
void asf__settle_writers_now(const struct asf_cios *reader);
static inline void asf__settle_writers(const struct asf_cios *reader) {
    if (asf__unlikely(__atomic_load_n(&asf__holding_count, __ATOMIC_RELAXED)))
        asf__settle_writers_now(reader);
}

/* --- libc's input buffer (libc_buffer.c) -------------------------------------- */

/* asf__libc_empty_at: it holds nothing, and is filled from `at` next.
 * asf__libc_loaded: it was filled from `base`. */
static inline void asf__libc_empty_at(struct asf_cios *c, off64_t at) {
    at = at > 0 ? at : 0;
    c->libc = (struct asf_libc_buffer){at, at, at};
}
void asf__libc_loaded(struct asf_cios *c, off64_t base);
/* asf__libc_begins_here: no byte before the position can be read again. */
void asf__libc_begins_here(struct asf_cios *c);
/* asf__libc_purged: what it holds behind the position is about to be dropped;
 * the position is then where its end was. */
void asf__libc_purged(struct asf_cios *c);
/* asf__libc_moved: the descriptor's offset, and with it all that libc has read,
 * stands so much further on than it did. */
void asf__libc_moved(struct asf_cios *c, off64_t distance);
/* asf__libc_is_empty: what it has read ends at the position, and began there. */
bool asf__libc_is_empty(const struct asf_cios *c);
/* asf__libc_orient: libc orients a stream when it fills its buffer. */
void asf__libc_orient(struct asf_cios *c);
/* asf__step_back_slow: asf__step_back where a block of it may begin. */
bool asf__step_back_slow(struct asf_cios *c);
/* asf__libc_offset: where its end has left the descriptor's offset. */
off64_t asf__libc_offset(const struct asf_cios *c);
/* asf__libc_into: bytes in it before the position; none when output that begins
 * here would begin in front. */
size_t asf__libc_into(const struct asf_cios *c);
/* asf__libc_direct_end: where libc's read past its buffer would end, were n
 * bytes asked for now; 0 when it makes none.  asf__libc_read_directly: those
 * bytes have been taken; libc's buffer is empty there. */
off64_t asf__libc_direct_end(const struct asf_cios *c, size_t n);
void asf__libc_read_directly(struct asf_cios *c, off64_t end);
/* asf__libc_takes_blocks: n bytes, a block or more, are about to be taken of what
 * the window has; false when there is more to be done about it. */
bool asf__libc_takes_blocks(struct asf_cios *c, size_t n);
/* asf__read_position: where reading stands in the file, bytes pushed back beside
 * it left out. */
static inline off64_t asf__read_position(const struct asf_cios *c) {
    return c->offset - (c->flags & ASF_IN_BACKUP ? c->save_end - c->save_base : c->read_end - c->read_ptr);
}

/* asf__is_sequential: input goes on where it was filled last, so that it is worth
 * reading further ahead.  Behind a seek only a few blocks show that: who reads a
 * record here and a record there would not be served by more. */
enum { ASF_AFTER_SEEK = -3 };
static inline bool asf__is_sequential(const struct asf_cios *c) {
    return c->run > 0;
}
static inline void asf__count_run(struct asf_cios *c) {
    c->run = (signed char)(c->run < 1 ? c->run + 1 : 1);
}

/* --- filling the window, inline (input.c) -------------------------------------- */

/* asf__fill_here: asf__fill's way to the module, inline, for a stream that reads and
 * has less than it wants. */
static inline __attribute__((always_inline)) ssize_t asf__fill_here(struct asf_cios *c, size_t want) {
    if (c->read_ptr >= c->read_end && !(c->flags & ASF_IN_BACKUP) && c->offset >= 0)
        asf__libc_empty_at(c, c->offset); /* the file may have ended here before: no whole block */
    c->held = true;
    ssize_t n = c->ops->fill(c, want);
    asf__count_run(c);
    c->indent = 0;
    if (n <= 0 && c->offset >= 0)
        asf__libc_empty_at(c, c->offset);
    c->held = false;
    return n;
}

/* asf__fill_empty: the same where the window is known to be empty. */
static inline __attribute__((always_inline)) ssize_t asf__fill_empty(struct asf_cios *c) {
    return asf__unlikely(c->in && c->in->torn) ? asf__fill(c, 1) : asf__fill_here(c, 1);
}

/* --- small things ----------------------------------------------------------- */

static inline __attribute__((always_inline)) bool asf__is_putting(const struct asf_cios *c) {
    return (c->flags & ASF_PUTTING) != 0;
}

/* n modulo libc's buffer size, which is nearly always a power of two. */
static inline size_t asf__in_block(const struct asf_cios *c, uint64_t n) {
    return (size_t)(asf__likely((c->block & (c->block - 1)) == 0) ? n & (c->block - 1) : n % c->block);
}

/* asf__libc_buffer: libc's input buffer as it lies now; for streams whose offset is known. */
static inline struct asf_libc_buffer asf__libc_buffer(const struct asf_cios *c) {
    struct asf_libc_buffer b = c->libc;
    off64_t past = asf__read_position(c) - b.end;
    if (past > 0) {
        b.base = b.first = b.end + (past - 1) - (off64_t)asf__in_block(c, (uint64_t)past - 1);
        b.end = b.base + (off64_t)c->block;
    }
    if (b.end > c->offset) /* the file ended there */
        b.end = c->offset;
    return b;
}

/* The position is at a byte that has been looked at: where it is the first of a
 * block, libc has the block in its buffer. */
static inline void asf__looked_ahead(struct asf_cios *c) {
    off64_t at = c->offset - (c->read_end - c->read_ptr), past = at - c->libc.end;
    if (asf__unlikely(asf__in_block(c, (uint64_t)past) == 0) && past >= 0 && c->offset >= 0 && c->block > 0)
        asf__libc_loaded(c, at);
}

/* asf__is_within_block: of the bytes before and at the position neither is where
 * libc's buffer, which is smaller, begins. */
static inline bool asf__is_within_block(const struct asf_cios *c) {
    off64_t at = c->offset - (c->read_end - c->read_ptr);
    return asf__likely(at != c->libc.first && asf__in_block(c, (uint64_t)(at - 1 - c->libc.end)) != 0);
}

/* asf__step_back: over the byte before the position, which the window has; false
 * where libc's buffer begins with the position. */
static inline bool asf__step_back(struct asf_cios *c) {
    if (!asf__is_within_block(c))
        return asf__step_back_slow(c);
    c->read_ptr--;
    return true;
}

/* Bytes read from below and not yet consumed, pushed-back ones included. */
static inline size_t asf__unread(const struct asf_cios *c) {
    ptrdiff_t n = c->read_end - c->read_ptr;
    if (c->flags & ASF_IN_BACKUP && c->orientation <= 0)
        n += c->save_end - c->save_base;
    return n > 0 ? (size_t)n : 0;
}

static inline __attribute__((always_inline)) size_t asf__pending(const struct asf_cios *c) {
    return (size_t)(c->write_ptr - c->write_base);
}

/* Output that a flush would find nothing to do for. */
static inline bool asf__nothing_to_put(const struct asf_cios *c) {
    return asf__pending(c) == 0 && !c->queue && !c->failed && !c->resident && !c->ops->flushed;
}

static inline size_t asf__avail(const struct asf_cios *c) {
    return c->read_end > c->read_ptr ? (size_t)(c->read_end - c->read_ptr) : 0;
}

static inline size_t asf__room(const struct asf_cios *c) {
    return c->write_end > c->write_ptr ? (size_t)(c->write_end - c->write_ptr) : 0;
}

/* The window may be used without the lock: one thread, nothing to be careful of. */
static inline bool asf__alone(void) {
    return asf__likely(__libc_single_threaded && !asf__is_careful());
}

/* asf__set_early: bytes are pushed back before the stream has a buffer: fread
 * gets it one, where getc does not; it must be seen which of them took the byte. */
static inline void asf__set_early(struct asf_cios *c, bool early) {
    if (asf__likely(c->early == early))
        return;
    c->early = early;
    __atomic_add_fetch(&asf__careful, early ? 1 : -1, __ATOMIC_RELAXED);
}

/* asf__cancelled: the thread was cancelled in a system call: the stream is left, and
 * unlocked where the call that made it had locked it.
 * asf__call_left: the same for a call that was `inside` so. */
void asf__cancelled(void *c);
void asf__call_left(struct asf_cios *c, char inside);

/* --- the ASI's fast path: paper, Figure 4 ----------------------------------- */

void *asf__u_salloc_slow(struct asf_cios *c, ssize_t *length, bool some);

/* asf__no_region: what a call for a region that fails with `code` leaves; returns NULL. */
static inline void *asf__no_region(ssize_t *length, ssize_t code) {
    *length = code;
    return NULL;
}

/* asf__take_piece: give the caller, one of several threads, the next region of a
 * file, of at most `want` bytes; with the stream locked.  asf__read_piece then
 * reads it, with the stream unlocked.
 * returns  false: this stream, here, is not read so. */
struct asf_piece {
    char *p;
    size_t n;
    off64_t at;
};
bool asf__take_piece(struct asf_cios *c, size_t want, struct asf_piece *piece);
void *asf__read_piece(struct asf_cios *c, const struct asf_piece *piece, ssize_t *length);

int asf__u_sfree_slow(struct asf_cios *c, char *p);

static inline void asf__note_region(struct asf_cios *c, char *p, size_t n) {
    unsigned i = c->regions++ % 32;
    c->recent[i].p = p;
    c->recent[i].n = n;
    c->last = p;
    c->last_len = n;
}

static inline void *asf__u_salloc(struct asf_cios *c, ssize_t *length, bool some) {
    size_t n = (size_t)*length;
    char *p;
    if (asf__likely(n - 1 < asf__avail(c) && c->in && !(c->flags & ASF_IN_BACKUP))) {
        c->in->refs++;
        p = c->read_ptr;
        c->read_ptr += n;
    } else if (asf__likely(n - 1 < asf__room(c))) {
        c->out->refs++;
        p = c->write_ptr;
        c->write_ptr += n;
    } else {
        return asf__u_salloc_slow(c, length, some);
    }
    asf__note_region(c, p, n);
    c->stats.calls++;
    return p;
}

static inline bool asf__within(const struct asf_buffer *b, const char *p) {
    return b && p >= b->base && p < b->base + b->size;
}

static inline int asf__u_sfree(struct asf_cios *c, char *p) {
    if (asf__likely(asf__within(c->in, p) && c->in->refs > 0 && !c->in->torn)) {
        c->in->refs--;
        return 0;
    }
    return asf__u_sfree_slow(c, p);
}

#pragma GCC visibility pop

#endif
