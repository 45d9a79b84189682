/* SPDX-License-Identifier: MIT
 *
 * segment_file.h - what the backends whose segments are files in memory share.
 * Failures are negated errno values, and asf__segment_why has the words.
 */
#ifndef ASF_LIB_SEGMENT_FILE_H
#define ASF_LIB_SEGMENT_FILE_H

#include <sys/stat.h>

#include "lib/shm/segment.h"

#pragma GCC visibility push(hidden)

/* Identifiers: a letter, the creator's process id, and what tells its segments
 * apart. */

/* asf__id_number: after a number of at most ten digits; NULL: none is there. */
const char *asf__id_number(const char *id);
/* asf__id_random: whether so many hexadecimal digits end it. */
bool asf__id_random(const char *id, size_t digits);
/* asf__new_random: a number of at most so many hexadecimal digits. */
uint64_t asf__new_random(size_t digits);

/* asf__segment_allocate: pages for all bytes, since a full system would tell by SIGBUS. */
int asf__segment_allocate(int fd, size_t size);
/* asf__map_file: s->size bytes at s->base; and no more. */
int asf__map_file(struct asf_segment *s, int fd, bool update);
int asf__unmap_file(struct asf_segment *s);
/* asf__adopt_file: attach what a descriptor is on, if it can be a segment. */
int asf__adopt_file(struct asf_segment *s, int fd, bool update);
/* asf__no_regular_file: -ESTALE, and the words for it. */
int asf__no_regular_file(void);
/* asf__read_head: 1: there is one; 0: the file is too short; or what pread fails with. */
int asf__read_head(int fd, struct asf_segment_head *head);
/* asf__file_state: of a file; head: NULL when it cannot be read. */
void asf__file_state(struct asf_segment_state *state, const char *id, const struct statx *st,
                     const struct asf_segment_head *head);

#pragma GCC visibility pop

#endif
