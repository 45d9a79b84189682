/* SPDX-License-Identifier: MIT
 *
 * parts.h - what asf_each_part needs of the parts: a file that is open already.
 */
#ifndef ASF_INTERFACES_ASI_PARTS_H
#define ASF_INTERFACES_ASI_PARTS_H

#include <stdbool.h>

#include <asf/parts.h>

#pragma GCC visibility push(hidden)

/* asf__cut: as asf_parts.
 *   least  parts that `size` 0 gives a large file at least */
ssize_t asf__cut(int fd, const struct asf_cut *how, int64_t least, struct asf_part **parts);

/* asf__line_end: the first offset at or behind `from` where a line ends, or `size`.
 * returns  a negated errno value: it cannot be read */
int64_t asf__line_end(int fd, int64_t from, int64_t size, int delimiter);

/* asf__usable_processors: how many the process may use, by its affinity and its control group's quota. */
unsigned asf__usable_processors(void);

/* asf__open_part: a stream on a part of an open file.
 *   own   whether the stream closes the descriptor, also when it cannot be opened
 *   stop  NULL, or what ends the stream with -ECANCELED when it is not 0 */
struct asf_cios *asf__open_part(int fd, bool own, const struct asf_part *part, const int *stop, int *error);

#pragma GCC visibility pop

#endif
