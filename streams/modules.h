/* SPDX-License-Identifier: MIT
 *
 * modules.h - the modules, and what those on descriptors are made of.
 */
#ifndef ASF_STREAMS_MODULES_H
#define ASF_STREAMS_MODULES_H

#include "streams/streams.h"

#pragma GCC visibility push(hidden)

/* On descriptors: what they do is one system call each. */
extern const struct asf_module asf__file_read, asf__file_write, asf__file_update, asf__pipe;
/* For the ASI alone. */
extern const struct asf_module asf__file_map, asf__file_ahead, asf__two_ways;
extern const struct asf_module asf__places_write, asf__places_update;

/* As struct asf_module has them. */
int asf__map_trim(struct asf_cios *c);
int asf__map_lost(struct asf_cios *c, const struct asf_buffer *b, const char *p, size_t n);

/* asf__was_cut: whether bytes of a map of the file from `at` on, up to `end`, may have been shown as
 * zeros after the file was cut off. */
bool asf__was_cut(struct asf_cios *c, const char *map, off64_t at, int watch, const char *end);

/* Read-ahead by the kernel, of a regular file (read_ahead.c).  asf__read_ahead: before a fill that
 * goes on at c->offset.  asf__filled: after it: c->offset is where the next would go on, and what the
 * program has done with is dropped if it said so.  asf__drop_read: the stream is closed. */
void asf__read_ahead(struct asf_cios *c);
void asf__filled(struct asf_cios *c);
void asf__drop_read(struct asf_cios *c);

/* The system calls of a stream on a descriptor (descriptor.c). */
ssize_t asf__fd_get(struct asf_cios *c, void *buf, size_t n);
ssize_t asf__fd_put(struct asf_cios *c, const void *buf, size_t n);
off64_t asf__fd_seek(struct asf_cios *c, off64_t offset, int whence);
off64_t asf__fd_length(struct asf_cios *c);
int asf__fd_close(struct asf_cios *c);

ssize_t asf__fd_put_at(struct asf_cios *c, const void *buf, size_t n, off64_t offset);

/* What the modules of regular files of the ASI have for positional calls. */
#define ASF__POSITIONAL_OPS                                                                                  \
    .close = asf__file_close, .length = asf__fd_length, .put_at = asf__fd_put_at,                            \
    .busy = asf__has_regions_apart, .arrive = asf__arrive_slow, .positional = true
int asf__file_close(struct asf_cios *c);
void asf__end_positional(struct asf_cios *c);
bool asf__has_regions_apart(const struct asf_cios *c);
int asf__arrive_slow(struct asf_cios *c);

/* A module that is nothing but those. */
#define ASF__DESCRIPTOR_OPS(module)                                                                          \
    .name = (module), .get = asf__fd_get, .put = asf__fd_put, .seek = asf__fd_seek, .close = asf__fd_close,  \
    .length = asf__fd_length

#pragma GCC visibility pop

#endif
