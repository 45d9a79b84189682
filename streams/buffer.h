/* SPDX-License-Identifier: MIT
 *
 * buffer.h - what the stream modules share with each other.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#ifndef ASF_STREAMS_BUFFER_H
#define ASF_STREAMS_BUFFER_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* asf__queue_output: regions point into the output buffer: it is put when they
 * are given back, and another one is needed. */
void asf__queue_output(struct asf_cios *c);
/* asf__relearn_offset: ask the kernel where a regular file stands, if unknown. */
void asf__relearn_offset(struct asf_cios *c);
/* asf__check_twins: two output streams on one object must not hold back. */
void asf__check_twins(struct asf_cios *c);

/* Descriptors: the calls that every file-like module is made of (file.c). */
ssize_t asf__fd_get(struct asf_cios *c, void *buf, size_t n);
ssize_t asf__fd_get_at(struct asf_cios *c, void *buf, size_t n, int64_t offset);
ssize_t asf__fd_put(struct asf_cios *c, const void *buf, size_t n);
off64_t asf__fd_seek(struct asf_cios *c, off64_t offset, int whence);
int asf__fd_close(struct asf_cios *c);
/* Their system call by other functions, which are told the descriptor. */
ssize_t asf__fd_get_by(struct asf_cios *c, ssize_t (*by)(int, void *, size_t), void *buf, size_t n);
ssize_t asf__fd_put_by(struct asf_cios *c, ssize_t (*by)(int, const void *, size_t), const void *buf,
                       size_t n);

/* A module named `module` that is nothing but those calls. */
#define ASF__DESCRIPTOR_OPS(module)                                                                          \
    {                                                                                                        \
        .size = sizeof(struct asf_stream_ops), .version = ASF_STREAM_VERSION, .name = (module),              \
        .get = asf__fd_get, .put = asf__fd_put, .seek = asf__fd_seek, .close = asf__fd_close,                \
        .fill = asf__buffered_fill, .drain = asf__buffered_drain,                                            \
    }

/* The modules. */
extern const struct asf_stream_ops asf__file_map, asf__file_read, asf__file_write, asf__file_append,
    asf__file_update, asf__pipe, asf__pipe_ring;

#pragma GCC visibility pop

#endif
