/* SPDX-License-Identifier: MIT
 *
 * parts.h - the functions that parts.c, parts_frames.c and parts_threads.c share.
 */
#ifndef ASF_INTERFACES_ASI_PARTS_H
#define ASF_INTERFACES_ASI_PARTS_H

#include <stdbool.h>

#include <asf/parts.h>

#pragma GCC visibility push(hidden)

/* asf__cut: as asf_parts.
 *   least  the least number of parts of a large file, if `size` is 0 */
ssize_t asf__cut(int fd, const struct asf_cut *how, int64_t least, struct asf_part **parts);

/* asf__open_part: open a stream on a part of an open file.
 *   own   whether the stream closes the descriptor; if so, a failed call closes it, too
 *   stop  NULL, or reads of the stream fail with -ECANCELED when *stop is not 0 */
struct asf_cios *asf__open_part(int fd, bool own, const struct asf_part *part, const int *stop, int *error);

/* Cuts of a compressed file.
 * asf__cut_frames: begin; *cuts becomes NULL if the file is not compressed.  returns  0, -ENOTSUP, -ENOMEM,
 * or an error of reading.
 * asf__frames_end_near: returns the first offset at or after `offset` where a part can end, at the latest
 * the file's size; 0: none near; or an error of reading.
 * asf__begins_frame: whether a frame begins at an offset.
 * asf__note_frames: set `before` and `after` of the part that ends at the frames measured so far. */
struct asf_frame_cuts;
int asf__cut_frames(int fd, const struct asf_cut *how, int64_t size, struct asf_frame_cuts **cuts);
int64_t asf__frames_end_near(struct asf_frame_cuts *k, int64_t offset);
bool asf__begins_frame(int fd, int64_t size, int64_t offset);
void asf__note_frames(struct asf_frame_cuts *k, struct asf_part *part);
void asf__cut_frames_end(struct asf_frame_cuts *k);

#pragma GCC visibility pop

#endif
