/* SPDX-License-Identifier: MIT
 *
 * stream.h - the stream-module contract: what a module gives the backplane,
 * and what a program needs to bring a module of its own.
 *
 * A module serves one kind of stream.  The smallest one has `get` (input) or
 * `put` (output); the calls left NULL are filled in by asf_sopen_with: they
 * buffer, refuse to seek, and close nothing.
 */
#ifndef ASF_STREAM_H
#define ASF_STREAM_H

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASF_STREAM_VERSION 1

/* Every call but get_at runs with the stream's lock held; all return a negated
 * errno value on failure; none may touch errno.  All return: a thread that ends in
 * one, or an exception or longjmp out of one, leaves the stream locked, so one that
 * waits in a call that is a cancellation point holds cancellation off meanwhile. */
struct asf_stream_ops {
    size_t size;      /* sizeof(struct asf_stream_ops), as compiled */
    unsigned version; /* ASF_STREAM_VERSION */
    const char *name; /* as the statistics show it */

    /* get: read up to n bytes at the stream's offset; 0 at the end of file. */
    ssize_t (*get)(struct asf_cios *c, void *buf, size_t n);
    /* put: write up to n bytes at the stream's offset, at least one. */
    ssize_t (*put)(struct asf_cios *c, const void *buf, size_t n);
    /* seek: as lseek(); returns the new offset. */
    int64_t (*seek)(struct asf_cios *c, int64_t offset, int whence);
    /* close: let go of what lies under the stream. */
    int (*close)(struct asf_cios *c);

    /* fill, drain: the library's own modules show their memory as the current
     * buffer by these; a program's module leaves them NULL, and is buffered over
     * `get` and `put`.
     * fill: make at least `want` unread bytes stand there in one piece, or all
     * there are before the end of file; returns their number.  drain: make room
     * for at least `want` bytes; returns 0. */
    ssize_t (*fill)(struct asf_cios *c, size_t want);
    int (*drain)(struct asf_cios *c, size_t want);
    /* flushed: all output has been put; NULL: nothing more to do. */
    int (*flushed)(struct asf_cios *c);

    /* get_at: of the library's own modules, for files that several threads read
     * at once, and not called of a program's module, whose threads take turns.
     * Read up to n bytes at an offset of the object, without the stream's lock,
     * leaving the stream's own offset alone. */
    ssize_t (*get_at)(struct asf_cios *c, void *buf, size_t n, int64_t offset);
};

/* asf_sopen_with: a stream on a module of the program's own.
 *   ops    must stay as it is until the stream is closed
 *   data   what asf_stream_data returns for this stream
 *   flags  O_RDONLY, O_WRONLY or O_RDWR
 *   error  where to put 0 or a negated errno value; may be NULL.  -EINVAL: a
 *          size or version that this library does not know, no name, no get or
 *          put for the mode asked for, or a fill or drain; -ENOMEM
 * returns  the stream, or NULL.
 * source   an extension. */
ASF_EXPORT struct asf_cios *asf_sopen_with(const struct asf_stream_ops *ops, void *data, int flags,
                                           int *error);
/* asf_stream_data: the `data` of a stream that asf_sopen_with has made, for the
 * functions of its module; of no other stream. */
ASF_EXPORT void *asf_stream_data(struct asf_cios *c);

#ifdef __cplusplus
}
#endif
#endif
