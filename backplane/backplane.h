/* SPDX-License-Identifier: MIT
 *
 * backplane.h - the engine: what interfaces and stream modules call on a CIOS.
 *
 * Unless a line says otherwise: the caller holds the stream's lock, failures are
 * negated errno values, and errno is not touched.
 */
#ifndef ASF_BACKPLANE_BACKPLANE_H
#define ASF_BACKPLANE_BACKPLANE_H

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "backplane/window.h"

#pragma GCC visibility push(hidden)

/* A failure without an errno: a callback of the program told none, or glibc sets none. */
enum { ASF_NO_ERRNO = 4095 };

/* --- the object (cios.c) ----------------------------------------- */

/* What a FILE's table must be for glibc's inside; set by the stdio interface. */
extern const void *asf__vtable, *asf__wide_vtable;

/* asf__cios_new: a stream in no list yet, served by `ops`, which may be a table
 * that chooses another when the stream is first used (attach).
 * returns  NULL when memory is short.  lock: none. */
struct asf_cios *asf__cios_new(const struct asf_module *ops, int fd, int access);
/* asf__cios_init: the same in the caller's memory, which is all zero.  lock: none. */
void asf__cios_init(struct asf_cios *c, const struct asf_module *ops, int fd, int access);
/* asf__cios_set_up: the same on an object that asf__cios_reset has left.
 * asf__cios_reset: the stream forgets its file and refuses everything; its lock
 * stays the caller's. */
void asf__cios_set_up(struct asf_cios *c, const struct asf_module *ops, int fd, int access);
void asf__cios_reset(struct asf_cios *c);
/* asf__cios_free: give the object back; the lock is gone with it.  lock: none. */
void asf__cios_free(struct asf_cios *c);
/* asf__cancelled: the thread ends in a call on the stream (a struct asf_cios *), which
 * is left, and unlocked if the call had locked it. */
void asf__cancelled(void *c);

/* --- the list of all streams (list.c) --- */

/* asf__cios_link: make the stream the first in the list of all streams.  lock: none.
 * asf__cios_unlink: take it from the list if it is there; asf__cios_close does.  lock: none. */
void asf__cios_link(struct asf_cios *c);
void asf__cios_unlink(struct asf_cios *c);
/* asf__cios_close: take it from the list, put what is pending, close what lies below.
 * returns  what the module's close says, or 0; or ASF_HAS_REGIONS, with nothing done:
 *          some have not been given back.  lock: taken. */
enum { ASF_HAS_REGIONS = INT_MIN };
int asf__cios_close(struct asf_cios *c);
/* asf__each: call `visit` on every stream until it returns false; the list is
 * locked meanwhile, the streams are not.  lock: none. */
void asf__each(bool (*visit)(struct asf_cios *c, void *arg), void *arg);

/* --- buffers (buffers.c) ----------------------------------------------------- */

/* asf__buffer_new: from the heap, its bytes aligned to 64; NULL: no memory.  A large one that was given
 * back is used again.
 * asf__memory: where its memory begins. */
struct asf_buffer *asf__buffer_new(size_t size);
static inline char *asf__memory(struct asf_buffer *b) {
    uintptr_t end = (uintptr_t)(b + 1);
    return (char *)(b + 1) + (-end & 63);
}
/* asf__use_buffer: make it the current buffer, with empty windows; the one before
 * lives on while it has regions. */
void asf__use_buffer(struct asf_cios *c, struct asf_buffer *b);
/* asf__leave_window: the stream is elsewhere: its windows are empty, and it has no mapped one. */
void asf__leave_window(struct asf_cios *c);
/* asf__retire_buffer: it is no longer current: free it, or keep it while it has regions.
 * asf__release_buffer: a region or a copy less; the last of a retired buffer frees it. */
void asf__retire_buffer(struct asf_cios *c, struct asf_buffer *b);
void asf__release_buffer(struct asf_cios *c, struct asf_buffer *b);
/* asf__queue_output: regions point into the output: it is put when they are given
 * back.  The current buffer is to be replaced then. */
void asf__queue_output(struct asf_cios *c);
/* asf__allocate: a buffer of the stream's size, or without memory one of a byte. */
void asf__allocate(struct asf_cios *c);
/* asf__single_buffer: p[0..n), which is no allocation of its own.  NULL while regions point into the last
 * such one, which cannot be used again. */
struct asf_buffer *asf__single_buffer(struct asf_cios *c, char *p, size_t n);
/* asf__enlarge_buffer: input goes on in a plain buffer of `size` bytes, which begins with what is
 * unread.  0 or -ENOMEM. */
int asf__enlarge_buffer(struct asf_cios *c, size_t size);

/* --- input (read.c) -------------------------------------------------------------- */

/* asf__to_read: end output.  -EBADF: not opened for reading. */
int asf__to_read(struct asf_cios *c);
/* asf__end_output: put what is pending; input may follow. */
int asf__end_output(struct asf_cios *c);
/* asf__fill: at least `want` bytes in the read window, or all there are before the
 * end of file or an error; returns how many. */
ssize_t asf__fill(struct asf_cios *c, size_t want);
/* asf__fill_buffer: the same over the module's `get`, in a plain buffer: what a module that
 * shows memory of its own falls back on.  Pushed-back bytes come first. */
ssize_t asf__fill_buffer(struct asf_cios *c, size_t want);
/* asf__take_stop: why input stopped short of what the last call wanted, told once: -errno, or 1: at
 * the end; 0: it did not, or has been told. */
int asf__take_stop(struct asf_cios *c);
/* asf__take: up to n bytes to the caller's memory; fewer at the end of file (*error
 * is 0) or on an error.  2 KB and more are copied with the stream unlocked, if this
 * call has locked it. */
size_t asf__take(struct asf_cios *c, char *p, size_t n, int *error);
/* asf__get: one call of the module's `get`, bypassing the buffer, whose window is empty. */
ssize_t asf__get(struct asf_cios *c, char *p, size_t n);

/* --- output (write.c) ------------------------------------------------------------ */

/* asf__to_write: end input.  -EBADF: not opened for writing. */
int asf__to_write(struct asf_cios *c);
/* asf__drain: make room for `want` bytes in the current buffer, by a flush or a larger one. */
int asf__drain(struct asf_cios *c, size_t want);
/* asf__overflow: one byte that found no room; returns it. */
int asf__overflow(struct asf_cios *c, unsigned char byte);
/* asf__append: n bytes from the caller's memory, by the stream's buffering mode.
 * returns  how many were taken; with an error in *error. */
size_t asf__append(struct asf_cios *c, const char *p, size_t n, int *error);
/* asf__flush_output: put what is pending.  -EBUSY: some of it waits for regions.
 * asf__put_now: the same; what is after a region goes out with it, which is no error. */
int asf__flush_output(struct asf_cios *c);
int asf__put_now(struct asf_cios *c);
/* asf__waiting: the bytes of output that are not put yet, without those of abandoned regions. */
size_t asf__waiting(const struct asf_cios *c);
/* asf__go_to_output: set the descriptor where the pending output belongs; 0 or -errno. */
int asf__go_to_output(struct asf_cios *c);
/* asf__detach_output: the output, of which regions are kept, is left behind (detached.c): the stream
 * may go to another place.  -EBUSY: it cannot be.
 * asf__flush_detached: put what has been left behind so far as it can be; as asf__flush_output.
 * asf__settle_detached: the same for one of them, d, which is gone if nothing is left of it.
 * asf__end_of_detached: the offset at which the last of it ends; 0: there is none. */
int asf__detach_output(struct asf_cios *c);
int asf__flush_detached(struct asf_cios *c);
int asf__settle_detached(struct asf_cios *c, struct asf_cios *d);
off64_t asf__end_of_detached(const struct asf_cios *c);

/* --- position (seek.c) -------------------------------------------------------------- */

off64_t asf__seek(struct asf_cios *c, off64_t offset, int whence);
/* asf__tell: while the window is the backup, what waits after it is not counted.
 * asf__tell_from: also where the stream stands below its windows, or -errno. */
off64_t asf__tell(struct asf_cios *c);
off64_t asf__tell_from(struct asf_cios *c, off64_t *below);
/* asf__sync: fflush's part: output is put, and the offset goes back over input that was not
 * read.  asf__sync_behind: and over that many bytes before it. */
int asf__sync_behind(struct asf_cios *c, size_t pushed);
static inline int asf__sync(struct asf_cios *c) {
    return asf__sync_behind(c, 0);
}
/* asf__set_buffer: setvbuf's part: p[0..n) is the buffer, or if n is 0 there is none. */
int asf__set_buffer(struct asf_cios *c, char *p, size_t n);

#pragma GCC visibility pop

#endif
