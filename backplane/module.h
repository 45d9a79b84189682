/* SPDX-License-Identifier: MIT
 *
 * module.h - the table of functions and properties of a stream module, which the engine uses.  A program's
 * own module has the first four functions (<asf/stream.h>); asf_sopen_with makes such a table of them.
 */
#ifndef ASF_BACKPLANE_MODULE_H
#define ASF_BACKPLANE_MODULE_H

#include <asf/stream.h>

struct asf_buffer;

/* Each function may be NULL, returns a negated errno value on failure and is called with the stream's lock
 * held; at exit the lock may be missing, if another thread keeps it. */
struct asf_module {
    const char *name; /* as the statistics show it */

    /* get, put, seek, close: as in <asf/stream.h>. */
    ssize_t (*get)(struct asf_cios *c, void *buf, size_t n);
    ssize_t (*put)(struct asf_cios *c, const void *buf, size_t n);
    int64_t (*seek)(struct asf_cios *c, int64_t offset, int whence);
    int (*close)(struct asf_cios *c);

    /* fill: make at least `want` contiguous bytes readable, in memory of the module's own or by
     * asf__fill_buffer, or all bytes before the end of the file.  `want` is more than the read window
     * has.  The bytes from read_ptr on begin with those that are unread; bytes before read_ptr may be
     * others of the file.  c->offset becomes the offset of read_end.  asf__use_buffer sets another
     * buffer.  `fill` may replace c->ops for good, as file_map.c does where it must read.  NULL: the
     * engine fills a buffer by `get`.  returns  the bytes in the window, 0 at the end of the file; on an
     * error the window is unchanged. */
    ssize_t (*fill)(struct asf_cios *c, size_t want);
    /* drain: make room for `want` bytes after write_ptr, in memory of the module's own, and end with
     * asf__show_room.  NULL: the engine puts its buffer by `put`.
     * returns  0; on an error the window is unchanged. */
    int (*drain)(struct asf_cios *c, size_t want);
    /* get_on, put_on: as `get` and `put`, but after the n bytes, up to `size` more are read to or put
     * from `more`.  NULL: not supported.  returns  the bytes in both. */
    ssize_t (*get_on)(struct asf_cios *c, void *buf, size_t n, void *more, size_t size);
    ssize_t (*put_on)(struct asf_cios *c, const void *buf, size_t n, const void *more, size_t size);
    /* flushed: called when all output has been put.  returns  0 or the error of the flush. */
    int (*flushed)(struct asf_cios *c);
    /* attach: choose the module before the stream's first transfer: set c->ops, c->why, c->kind (not
     * ASF_UNKNOWN) and c->block, the size of the buffer.  It cannot fail: a stream without a file gets a
     * module whose calls do. */
    void (*attach)(struct asf_cios *c);
    /* length: returns the file's present length in bytes, or -1: not known.  Only with `seek`. */
    int64_t (*length)(struct asf_cios *c);
    /* trim: called when the mapped file was truncated under the window: replace the window by an empty
     * one at the stream's offset.  returns  0 or an error. */
    int (*trim)(struct asf_cios *c);
    /* lost: returns -EIO if p[0..n), a region in b, may have shown bytes that are not the file's because
     * the file was truncated, even if it has grown again; else 0. */
    int (*lost)(struct asf_cios *c, const struct asf_buffer *b, const char *p, size_t n);
    /* put_at: as `put`, at an offset of the file; the descriptor's offset does not change.  NULL: a
     * positional call fails while output regions are in use.  A seek fails then with every module. */
    ssize_t (*put_at)(struct asf_cios *c, const void *buf, size_t n, int64_t offset);
    /* in_place: whether the descriptor is at the offset where the read window ends, of the same file.
     * With `thoroughly` false (on exit) it misses a replaced file at the same offset, and moves of a
     * descriptor from fdopen.  Its only system call is then lseek, if the program has not moved the
     * descriptor.  At another offset or on another file it compares up to 512 preceding bytes with those
     * read.  Every module of bulk input has in_place. */
    bool (*in_place)(struct asf_cios *c, bool thoroughly);
    /* busy: whether there are regions outside the stream's buffers (streams/positional.c).
     * end_apart: returns the largest end offset of the output regions among them; 0: there are none.
     * arrive: after a positional call has set ASF_MOVED, set the window and the descriptor to the
     * stream's offset.  On an error the flag stays set, and the call that needs the offset returns the
     * error. */
    bool (*busy)(const struct asf_cios *c);
    int64_t (*end_apart)(const struct asf_cios *c);
    int (*arrive)(struct asf_cios *c);

    /* The current buffer is the whole stream, from its beginning (open_memstream): no file has another
     * offset, and a flush shows the program the text in the buffer. */
    bool memory_is_the_stream;
    /* Only the module knows the offset, even after a transfer (a program's callbacks; directories): the
     * engine calls `seek` whenever it needs it. */
    bool asks_for_offset_each_time;
    /* `get` is only called to fill the stream's buffer, never for the caller's memory (fopencookie). */
    bool reads_by_whole_buffers;
    /* Positional calls may allocate regions outside the current buffer, and move the stream: the module
     * has `busy` and `arrive`.  Therefore a seek reads no block in advance. */
    bool positional;
};

#endif
