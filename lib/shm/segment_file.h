/* SPDX-License-Identifier: MIT
 *
 * segment_file.h - functions shared by the backends whose segments are memory files.  They return a negated
 * errno value on failure and describe it in asf__segment_why.
 */
#ifndef ASF_LIB_SEGMENT_FILE_H
#define ASF_LIB_SEGMENT_FILE_H

#include <sys/stat.h>

#include "lib/shm/segment.h"

#pragma GCC visibility push(hidden)

/* Identifiers: a letter, the creator's process id, and digits that distinguish its segments. */

/* asf__id_number: returns the address after a number of at most ten digits, or NULL if there is none. */
const char *asf__id_number(const char *id);
/* asf__id_random: whether the text is exactly `digits` hexadecimal digits. */
bool asf__id_random(const char *id, size_t digits);
/* asf__new_random: a random number of at most `digits` hexadecimal digits. */
uint64_t asf__new_random(size_t digits);

/* asf__segment_allocate: allocate all pages now.  Otherwise a full file system would cause a SIGBUS later. */
int asf__segment_allocate(int fd, size_t size);
/* asf__map_file: map s->size bytes, and set s->base. */
int asf__map_file(struct asf_segment *s, int fd, bool update);
int asf__unmap_file(struct asf_segment *s);
/* asf__adopt_file: attach the file of a descriptor, if it is a regular file that can hold a label. */
int asf__adopt_file(struct asf_segment *s, int fd, bool update);
/* asf__no_regular_file: returns -ESTALE and sets asf__segment_why. */
int asf__no_regular_file(void);
/* asf__read_head: returns 1; 0 if the file is too short; or pread's error. */
int asf__read_head(int fd, struct asf_segment_head *head);
/* asf__file_state: describe a file; `head` is NULL when it cannot be read. */
void asf__file_state(struct asf_segment_state *state, const char *id, const struct statx *st,
                     const struct asf_segment_head *head);

#pragma GCC visibility pop

#endif
