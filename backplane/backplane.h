/* SPDX-License-Identifier: MIT
 *
 * backplane.h - the engine: what interfaces and stream modules call on a CIOS.
 *
 * Unless a line says otherwise: the caller holds the stream's lock, failures are
 * negated errno values, and errno is not touched.
 */
#ifndef ASF_BACKPLANE_BACKPLANE_H
#define ASF_BACKPLANE_BACKPLANE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "backplane/window.h"

#pragma GCC visibility push(hidden)

/* The code of a failure that sets no errno: a callback of the program set none, or stdio sets none in
 * this case. */
enum { ASF_NO_ERRNO = 4095 };

/* --- the object (cios.c) ----------------------------------------- */

/* The tables of functions that the C library's own code calls on a FILE, of byte and wide streams; set by
 * the stdio interface.  NULL: the library has no stdio. */
extern const void *asf__vtable, *asf__wide_vtable;

/* asf__append_to_cios: keep `size` bytes of an interface's own behind each object of asf__cios_new; `begin`
 * initializes them, which are zero or a wide stream's, and sets c->wide_data.  An object from before the call
 * has none. lock: none. */
void asf__append_to_cios(size_t size, void (*begin)(struct asf_cios *c));

/* asf__cios_new: make a stream that is not in the list yet.  The module's `attach` may choose another module
 * at the stream's first use.
 * returns  NULL when memory is short.  lock: none. */
struct asf_cios *asf__cios_new(const struct asf_module *ops, int fd, int access);
/* asf__cios_init: make a stream in the caller's memory, which is all zero.  lock: none. */
void asf__cios_init(struct asf_cios *c, const struct asf_module *ops, int fd, int access);
/* asf__cios_reset: forget the file; the stream then refuses all calls.  Its lock stays held.
 * asf__cios_set_up: initialize an object after asf__cios_reset, or one that is new. */
void asf__cios_set_up(struct asf_cios *c, const struct asf_module *ops, int fd, int access);
void asf__cios_reset(struct asf_cios *c);
/* asf__cios_free: free the object and its lock.  lock: none. */
void asf__cios_free(struct asf_cios *c);
/* asf__cancelled: clean up after a thread that is cancelled in a call on the stream c (a struct asf_cios
 * *): unlock the stream if the call had locked it. */
void asf__cancelled(void *c);

/* --- the list of all streams (list.c), and closing a stream (close.c) ---
 * Before a fork list.c's handler locks the list, records that each stream's descriptor is shared, and makes
 * the cuts of bulk streams.  It skips a bulk stream that another thread has locked, or on which a call is in
 * progress, and, in a multithreaded process, one that is used without its lock; the child then drops the
 * blocks that the parent puts.  Other pending and unread bytes are in both processes.  The parent unlocks the
 * list.  The child releases it and all locks of streams, also those of its own thread (flockfile). */

/* asf__cios_link: make the stream the first in the list of all streams.  lock: none.
 * asf__cios_unlink: remove the stream from the list if it is there; asf__cios_close calls this.  lock:
 * none. */
void asf__cios_link(struct asf_cios *c);
void asf__cios_unlink(struct asf_cios *c);
/* asf__cios_close: remove the stream from the list, put its pending output and close its module.
 *   result   0, or the result of the module's close if that is not 0, or the error of the output
 * returns  whether it is closed; false: regions have not been given back, and the stream stays open.
 * lock: taken. */
bool asf__cios_close(struct asf_cios *c, int *result);
/* asf__each: call `visit` on every stream until `visit` returns false.  The list is locked meanwhile, the
 * streams are not.  lock: none. */
void asf__each(bool (*visit)(struct asf_cios *c, void *arg), void *arg);

/* --- buffers (buffers.c) ----------------------------------------------------- */

/* asf__buffer_new: make a buffer on the heap, with its bytes aligned to 64, or reuse a freed large buffer.
 * returns  NULL: no memory. */
struct asf_buffer *asf__buffer_new(size_t size);
/* asf__use_buffer: make b the current buffer, with empty windows; pushed-back bytes stay.  The previous
 * buffer is freed once it has no regions. */
void asf__use_buffer(struct asf_cios *c, struct asf_buffer *b);
/* asf__leave_window: the stream's offset has changed: empty the windows, and drop a mapped buffer.
 * Pushed-back bytes must have been dropped. */
void asf__leave_window(struct asf_cios *c);
/* asf__retire_buffer: free a buffer that is no longer current, or keep it while it has regions.
 * asf__release_buffer: decrement the count of regions and copies; a retired buffer is freed at 0. */
void asf__retire_buffer(struct asf_cios *c, struct asf_buffer *b);
void asf__release_buffer(struct asf_cios *c, struct asf_buffer *b);
/* asf__queue_output: queue the current buffer, whose output has regions, until they are given back.  The
 * caller then sets another current buffer (queue.c). */
void asf__queue_output(struct asf_cios *c);
/* asf__allocate: attach a buffered stream, and give it a buffer of c->block bytes if it has none; if
 * memory is short, of BUFSIZ bytes or of one.  An unbuffered stream gets one byte.  A module with `fill`
 * needs no such buffer. */
void asf__allocate(struct asf_cios *c);
/* asf__enlarge_buffer: move the unread input to the beginning of a new buffer of `size` bytes.
 * returns  0 or -ENOMEM. */
int asf__enlarge_buffer(struct asf_cios *c, size_t size);

/* --- input (read.c) -------------------------------------------------------------- */

/* asf__to_read: end output.  returns  0; -EBADF, with output unchanged: the stream was not opened for
 * reading, and no byte is pushed back; or an error of the put.
 * asf__end_output: put the pending output, so that input may follow. */
int asf__to_read(struct asf_cios *c);
int asf__end_output(struct asf_cios *c);
/* asf__fill: end output, and make at least `want` bytes readable in the window, or all bytes before the end
 * of the file or an error.  before: NULL, or called before the module is asked, which may wait; if it returns
 * false, the call returns as at the end of the file.  returns  the bytes in the window, or an error; if the
 * stream is still putting, its output could not be put.
 * asf__fill_buffer: the same, always by the module's `get`, into the stream's own or large buffer.  It asks
 * for the buffer's whole room; on an unbuffered stream, for the missing bytes alone.  Unread bytes move to
 * the buffer's beginning, pushed-back ones first; if the buffer has regions, to that of a new buffer.  The
 * `fill` of a module may call it.  `want` is not 0. */
ssize_t asf__fill(struct asf_cios *c, size_t want, bool (*before)(struct asf_cios *c));
ssize_t asf__fill_buffer(struct asf_cios *c, size_t want);
/* asf__take_stop: returns and clears the reason why the last fill made fewer bytes readable than wanted:
 * -errno; 1: the end of the file; 0: none. */
int asf__take_stop(struct asf_cios *c);
/* asf__take: copy up to n bytes to the caller's memory; fewer at the end of the file (*error is 0) or on
 * an error.  before: as of asf__fill, which serves the reads that do not bypass the buffer.  With several
 * threads, a last piece of 2 KB or more is copied with the stream unlocked, if this call has locked it
 * once and the window does not map a file. */
size_t asf__take(struct asf_cios *c, char *p, size_t n, bool (*before)(struct asf_cios *c), int *error);
/* asf__get: call the module's `get` once, for the caller's memory.  The window must have no unread bytes. */
ssize_t asf__get(struct asf_cios *c, char *p, size_t n);

/* --- output (write.c) ------------------------------------------------------------ */

/* asf__to_write: end input.  returns  0; -EBADF, after setting ASF_ERR: the stream was not opened for
 * writing.
 * asf__drain: put the buffer, to make room for `want` bytes; if it has regions, queue it and make another.
 * returns  -ENOBUFS: too much output waits for regions.
 * asf__overflow: put a byte for which the window has no room; the buffer may have room.  returns  the byte or
 * -errno.
 * asf__append: write n bytes of the caller's memory.  With full buffering: fill the buffer's room, even if
 * the buffer is empty, and put it; then put whole blocks from the caller's memory, and copy the rest into
 * the buffer.  It copies the blocks, too, if output waits for regions, or if a bulk stream gets fewer than
 * ASF_STRAIGHT bytes.  With line buffering: put at least the bytes up to the last newline.  Without
 * buffering: put all bytes at once.  The first write after the open or after input finds no window, and
 * puts whole blocks at once.  returns  the number of bytes taken; *error is 0 or the first error.  After
 * an error it is n if the buffer has all bytes. */
int asf__to_write(struct asf_cios *c);
int asf__drain(struct asf_cios *c, size_t want);
int asf__overflow(struct asf_cios *c, unsigned char byte);
size_t asf__append(struct asf_cios *c, const char *p, size_t n, int *error);
/* asf__flush_output: put the pending output.  returns  0; ASF_PARTLY: the rest waits for regions; or -errno.
 * asf__whole: the result of a call that must put all output: -EBUSY for ASF_PARTLY.
 * asf__put_now: asf__flush_output, with 0 for ASF_PARTLY. */
enum { ASF_PARTLY = 1 };
static inline int asf__whole(int rc) {
    return rc == ASF_PARTLY ? -EBUSY : rc;
}
int asf__flush_output(struct asf_cios *c);
int asf__put_now(struct asf_cios *c);
/* asf__put_or_detach: put the pending output, or detach it from the stream if it has regions (detached.c), so
 * that a positional call may move the stream.  returns  0; -EBUSY: the module cannot put the output at
 * another offset; or -errno.  Without `put_at` it does nothing: asf__seek then puts the output, or fails.
 * asf__flush_detached: put detached output up to the first region in use; returns as asf__flush_output.
 * asf__forget_window: empty a read window that may show bytes of the file that a put has changed, and set
 * the descriptor back over its unread bytes. */
int asf__put_or_detach(struct asf_cios *c);
int asf__flush_detached(struct asf_cios *c);
void asf__forget_window(struct asf_cios *c);

/* --- bytes pushed back by ungetc (pushback.c) --- */

/* asf__look_at: note that the byte before read_ptr was read, even if it is pushed back afterwards.
 * asf__back_up: move read_ptr back over the byte before it, if that is `byte`, in the stream's own buffer or
 * the backup.  A bulk stream's own buffer can begin at read_ptr only after a byte noted by asf__look_at, or
 * after blocks that bypass that buffer.  returns  whether it was.
 * asf__push_back: push any byte back.  returns  the byte, or -ENOMEM, after the first byte.
 * asf__free_backup: drop all pushed-back bytes; the saved window becomes the read window again. */
static inline void asf__look_at(struct asf_cios *c) {
    if (c->read_ptr > c->bulk.seen)
        c->bulk.seen = c->read_ptr;
}
bool asf__back_up(struct asf_cios *c, int byte);
int asf__push_back(struct asf_cios *c, int byte);
void asf__free_backup(struct asf_cios *c);

/* --- position (seek.c, sync.c) -------------------------------------------------------------- */

/* asf__seek: end output, and move the stream.  returns  the offset; -EBUSY: output regions are in use;
 * -ESPIPE; or -errno.  It does not clear ASF_EOF. */
off64_t asf__seek(struct asf_cios *c, off64_t offset, int whence);
/* asf__tell: returns the stream's offset: on input, the offset of read_end less the window's unread bytes.
 * While the window is the backup, only the pushed-back bytes are subtracted, and the buffered input after
 * them is not.
 * asf__tell_from: the same, and stores the offset before the subtraction, or -errno, in *below.
 * asf__absolute_offset: returns the sum of `offset` and what `whence` stands for, or -errno.  SEEK_END
 * includes pending and detached output. */
off64_t asf__tell(struct asf_cios *c);
off64_t asf__tell_from(struct asf_cios *c, off64_t *below);
off64_t asf__absolute_offset(struct asf_cios *c, off64_t offset, int whence);
/* asf__sync: put the pending output, and set the descriptor's offset back over unread input, and by `pushed`
 * bytes more (fflush). */
int asf__sync(struct asf_cios *c, size_t pushed);
/* asf__set_buffer: make p[0..n) the buffer, or if n is 0 have none (setvbuf; set_buffer.c).  It changes
 * nothing if the module has its own memory, or if regions use the program's earlier memory. */
int asf__set_buffer(struct asf_cios *c, char *p, size_t n);

/* --- bulk streams (bulk.c) --- */

/* asf__bulk_start: prepare to detect a fork that calls no handler, as _Fork and clone.  Its child drops, at
 * its next put, blocks that its parent puts; its input, its locks and `exclusive` stay as the parent's were.
 * lock: none. */
void asf__bulk_start(void);
/* asf__end_bulk: end bulk mode.  The descriptor's offset then is where it would be if the stream had used
 * its own buffer throughout.  On output, the blocks that the own buffer would have put are put.  On input,
 * the offset goes back to asf__own_end, unless the program has moved the descriptor or replaced its file. */
void asf__end_bulk_slow(struct asf_cios *c);
static inline void asf__end_bulk(struct asf_cios *c) {
    c->bulk.run = 0;
    if (asf__unlikely(c->bulk.state == ASF_BULK))
        asf__end_bulk_slow(c);
}
/* asf__publish_streams: end bulk mode of each stream on descriptor fd (-1: of all), unless another thread has
 * locked the stream or a call is in progress on it.  Input is never bulk again: its bytes would be read twice
 * after each cut.  lock: none.
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
/* asf__own_end: returns the end of the bytes that the stream would have read into its own buffer.
 * asf__note_passing: record that a call is about to take n bytes.  Without bulk mode the call would take the
 * bytes of the stream's own buffer, then read whole blocks straight to the caller's memory.  That buffer
 * would then be empty.  With ASF_READS_ON the last of the n bytes would begin that buffer. */
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

/* --- hooks of interfaces that are not linked into every library: stream events (cios.c) --- */

/* linked: called when a stream enters the list.  joined: when the program asks for a stream's ASI.
 * closing: before a stream's descriptor is closed (lock: held).  forked: in the child of a fork.
 * to_bytes: called when bytes of a wide stream are to be used: convert pending characters, and set input to
 * the next character that was not taken (lock: held).
 * NULL: no interface needs the call. */
struct asf_hooks {
    void (*linked)(struct asf_cios *c);
    void (*joined)(struct asf_cios *c);
    void (*closing)(struct asf_cios *c);
    void (*forked)(void);
    int (*to_bytes)(struct asf_cios *c);
};
extern struct asf_hooks asf__hooks;
static inline int asf__to_bytes(struct asf_cios *c) {
    return asf__unlikely(c->gate & ASF_WIDE) ? asf__hooks.to_bytes(c) : 0;
}
static inline void asf__join(struct asf_cios *c) {
    if (asf__hooks.joined)
        asf__hooks.joined(c);
}

/* --- a stream's line in the statistics (report.c) --- */

/* asf__set_name: copy the path, if the statistics are on.
 * asf__tell_user: report the stream's module and `what`, if the user asks for verbose output.
 * asf__report: print the stream's line, unless it printed the same before. */
void asf__set_name(struct asf_cios *c, const char *name);
void asf__tell_user(const struct asf_cios *c, const char *what);
void asf__report(struct asf_cios *c);

#pragma GCC visibility pop

#endif
