/* SPDX-License-Identifier: MIT
 *
 * stream.h - the stream-module contract: the functions that a module gives the
 * backplane, and how a program opens a stream on a module of its own.
 *
 * A module serves one kind of stream.  The smallest one has `get` (input) or `put`
 * (output), and the backplane adds the buffers: regions, stdio's calls and pushed-back
 * bytes need no function of the module.
 */
#ifndef ASF_STREAM_H
#define ASF_STREAM_H

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASF_STREAM_VERSION 1

/* The functions of a module.
 * arguments  c: the stream; asf_stream_data(c) is the module's own data.
 * returns    a negated errno value on failure; errno is not touched.
 * lock       the stream's is held around each call, except at exit if another
 *            thread keeps it; no function may call a
 *            function of the library on `c` except asf_stream_data.
 * A function must return: if its thread ends in it, or an exception or a longjmp leaves
 * it, the stream stays locked.  A function that waits in a cancellation point must
 * therefore disable cancellation meanwhile. */
struct asf_stream_ops {
    size_t size;      /* sizeof(struct asf_stream_ops), as compiled: later versions may have more functions */
    unsigned version; /* ASF_STREAM_VERSION */
    const char *name; /* as asf_module_name and the statistics show it */

    /* get: read at the module's offset and advance it.
     *   n        at least 1
     * returns  1 to n, the bytes stored at buf; fewer than n do not mean the end of the
     *          file: the backplane calls again if it needs more.  0 at the end of file;
     *          get may be called again after that.  The program gets -EINTR as any
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
     * greater than the program's offset by the number of unread bytes in the buffer.
     *   whence   SEEK_SET, SEEK_CUR or SEEK_END; seek(c, 0, SEEK_CUR) asks for the offset
     * returns  the new offset; on an error, such as -EINVAL for an offset below 0, the offset is unchanged.
     * NULL: calls that seek fail with -ESPIPE. */
    int64_t (*seek)(struct asf_cios *c, int64_t offset, int whence);
    /* close: release what `data` holds; called once, when all output has been put, and
     * not for streams that are open when the process ends.
     * returns  0 or an error, which the closing call returns; the stream is closed either way.
     * NULL: nothing is released. */
    int (*close)(struct asf_cios *c);
};

/* asf_sopen_with: open a stream on a module of the program's own.
 *   ops    copied; its name must not change until the stream is closed
 *   data   the module's own, which asf_stream_data returns
 *   flags  O_RDONLY, O_WRONLY or O_RDWR
 *   error  where to put 0 or a negated errno value; may be NULL.  -EINVAL: a
 *          version, or a function, that this library does not know, no name, no get or
 *          put for the mode asked for; -ENOMEM
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
