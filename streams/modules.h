/* SPDX-License-Identifier: MIT
 *
 * modules.h - the stream modules, and the functions that modules on descriptors share.
 */
#ifndef ASF_STREAMS_MODULES_H
#define ASF_STREAMS_MODULES_H

#include "streams/streams.h"

#pragma GCC visibility push(hidden)

/* Modules on descriptors, whose functions are one system call each.  asf__pipe serves every file that is not
 * regular: pipes, sockets, terminals and other devices. */
extern const struct asf_module asf__file_read, asf__file_write, asf__file_update, asf__pipe;
/* Modules of the ASI's streams alone. */
extern const struct asf_module asf__file_map, asf__file_ahead, asf__two_ways;
extern const struct asf_module asf__places_write, asf__places_update;

/* `trim` and `lost` of struct asf_module, for mapped files. */
int asf__map_trim(struct asf_cios *c);
int asf__map_lost(struct asf_cios *c, const struct asf_buffer *b, const char *p, size_t n);

/* asf__was_cut: `map` maps the file from offset `at` on; whether bytes before `end` may have been read as
 * zeros because the file was truncated.  watch: its slot from asf__watch. */
bool asf__was_cut(struct asf_cios *c, const char *map, off64_t at, int watch, const char *end);

/* Read-ahead by the kernel, of a regular file (read_ahead.c).
 * asf__read_ahead: called before a fill that reads at c->offset.
 * asf__filled: called after the fill; c->offset is then the offset of the next fill.  With ASF_ONCE it drops
 * the pages that the program has finished with from the page cache.
 * asf__drop_read: drop all pages that were read, before the stream is closed. */
void asf__read_ahead(struct asf_cios *c);
void asf__filled(struct asf_cios *c);
void asf__drop_read(struct asf_cios *c);

/* asf__fd_put_at: as asf__fd_put, at an offset (descriptor.c). */
ssize_t asf__fd_put_at(struct asf_cios *c, const void *buf, size_t n, off64_t offset);

/* The functions for positional calls, in the ASI's modules of regular files. */
#define ASF__POSITIONAL_OPS                                                                                  \
    .close = asf__file_close, .length = asf__fd_length, .put_at = asf__fd_put_at,                            \
    .busy = asf__has_regions_apart, .end_apart = asf__end_of_output_apart, .arrive = asf__arrive_slow,       \
    .positional = true
int asf__file_close(struct asf_cios *c);
void asf__end_positional(struct asf_cios *c);
bool asf__has_regions_apart(const struct asf_cios *c);
off64_t asf__end_of_output_apart(const struct asf_cios *c);
int asf__arrive_slow(struct asf_cios *c);

#pragma GCC visibility pop

#endif
