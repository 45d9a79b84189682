/* SPDX-License-Identifier: MIT
 *
 * stream.h - the stream-module contract: the functions that a module gives the
 * backplane, and how a program opens a stream on a module of its own.
 *
 * A module serves one kind of stream.  The smallest one has `get` (input) or `put`
 * (output), and the backplane buffers over it: regions, stdio's calls and pushed-back
 * bytes need nothing of the module.
 */
#ifndef ASF_STREAM_H
#define ASF_STREAM_H

#include <asf/asf.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASF_STREAM_VERSION 1

struct asf_buffer;

/* The functions of a module.
 * arguments  c: the stream; asf_stream_data(c) is the module's own data.
 * returns    a negated errno value on failure; errno is not touched.
 * lock       the stream's is held around each call; no function may call another
 *            function of the library on `c`, but for asf_stream_data.
 * A function returns: if its thread ends in it, or an exception or a longjmp leaves
 * it, the stream stays locked.  One that waits in a cancellation point therefore
 * disables cancellation meanwhile. */
struct asf_stream_ops {
    size_t size;      /* sizeof(struct asf_stream_ops), as compiled */
    unsigned version; /* ASF_STREAM_VERSION */
    const char *name; /* as asf_module_name and the statistics show it */

    /* get: read at the module's offset and advance it.
     *   n        at least 1
     * returns  1 to n, the bytes stored at buf; fewer than n do not mean the end of the
     *          file: the backplane calls again if it needs more.  0 at the end of file;
     *          get may be called again after that.  -EINTR is told to the program as any
     *          other error.
     * NULL: the stream cannot be opened for reading. */
    ssize_t (*get)(struct asf_cios *c, void *buf, size_t n);
    /* put: write at the module's offset and advance it.
     *   n        at least 1
     * returns  1 to n, the bytes taken; the backplane calls again with the rest.  0 counts
     *          as -EIO.  After an error the bytes that were not taken are dropped.
     * NULL: the stream cannot be opened for writing. */
    ssize_t (*put)(struct asf_cios *c, const void *buf, size_t n);
    /* seek: set the module's offset, which `get` and `put` advance, as lseek() does.  It is
     * beyond the program's by the input that is buffered and unread.
     *   whence   SEEK_SET, SEEK_CUR or SEEK_END; seek(c, 0, SEEK_CUR) asks for the offset
     * returns  the new offset; on an error, such as -EINVAL for one below 0, it is unchanged.
     * NULL: calls that seek fail with -ESPIPE. */
    int64_t (*seek)(struct asf_cios *c, int64_t offset, int whence);
    /* close: release what `data` holds; called once, when all output has been put, and
     * not for streams that are open when the process ends.
     * returns  0 or an error, which the closing call returns; the stream is gone either way.
     * NULL: nothing is released. */
    int (*close)(struct asf_cios *c);

    /* The members that follow are for the library's own modules, which include
     * "backplane/backplane.h"; a program's module leaves them NULL. */

    /* fill: for a module that shows memory of its own as the current buffer; NULL: the
     * backplane fills a buffer by `get`.
     *   want     at least 1; more than the read window has
     * On return the read window (read_ptr..read_end) begins with the bytes that were unread
     * before and has at least `want` in one piece, or all there are before the end of file;
     * c->offset is the offset of read_end.  A new buffer is put in place by asf__use_buffer,
     * which keeps the one before while it has regions.
     * returns  the bytes in the window, 0 at the end of file; on an error the window is as
     *          it was. */
    ssize_t (*fill)(struct asf_cios *c, size_t want);
    /* drain: the same for output: make room for `want` bytes after write_ptr, and put or
     * keep what is pending.  Ends with asf__show_room(c).
     * returns  0; on an error the window is as it was. */
    int (*drain)(struct asf_cios *c, size_t want);
    /* flushed: called when all output has been put; 0 or the error of the flush. */
    int (*flushed)(struct asf_cios *c);
    /* attach: called once, before the stream's first transfer, by a table that stands for
     * several modules: set c->kind (not ASF_UNKNOWN), c->ops, c->why and c->block, the size of
     * the buffer.  It cannot fail: a stream without a file gets a module whose calls do. */
    void (*attach)(struct asf_cios *c);
    /* length: bytes in the file now; -1: not known.  A module that has it has `seek`, too.
     * NULL: never known. */
    int64_t (*length)(struct asf_cios *c);
    /* trim: the mapped file was truncated under the window: leave that, and go where the stream
     * stands.  returns  0 or the error of that.
     * lost: whether p[0..n), a region in b, may have shown other bytes than the file's, because
     * it was truncated, be it as long again.
     * returns  -EIO if it may, or 0.
     * NULL, both: the module maps no files. */
    int (*trim)(struct asf_cios *c);
    int (*lost)(struct asf_cios *c, const struct asf_buffer *b, const char *p, size_t n);
    /* put_at: as put, at an offset of the file, and the module's own stays where it is.
     * NULL: output with regions that are kept cannot be left behind. */
    ssize_t (*put_at)(struct asf_cios *c, const void *buf, size_t n, int64_t offset);
    /* busy: whether there are regions that are in no buffer of the stream; NULL: never.
     * arrive: with ASF_MOVED: go where a positional call has left the stream; on an error it stays
     * set, and the call that needs the place returns the error. */
    bool (*busy)(const struct asf_cios *c);
    int (*arrive)(struct asf_cios *c);
};

/* asf_sopen_with: a stream on a module of the program's own.
 *   ops    must not change until the stream is closed
 *   data   the module's own, which asf_stream_data returns
 *   flags  O_RDONLY, O_WRONLY or O_RDWR
 *   error  where to put 0 or a negated errno value; may be NULL.  -EINVAL: a
 *          size or version that this library does not know, no name, no get or
 *          put for the mode asked for, or a fill or drain; -ENOMEM
 * returns  the stream, or NULL.
 * lock     none.
 * source   an extension. */
ASF_EXPORT struct asf_cios *asf_sopen_with(const struct asf_stream_ops *ops, void *data, int flags,
                                           int *error);
/* asf_stream_data: the `data` that asf_sopen_with was given for this stream.
 * lock     held by the functions of the module; none is taken.  Not for other streams. */
ASF_EXPORT void *asf_stream_data(struct asf_cios *c);

#ifdef __cplusplus
}
#endif
#endif
