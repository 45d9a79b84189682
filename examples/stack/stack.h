/* SPDX-License-Identifier: MIT
 *
 * stack.h - two modules that stand on another stream: what is read through them comes from
 * `below`, which the caller closes after them.
 */
#ifndef EXAMPLES_STACK_H
#define EXAMPLES_STACK_H

#include <asf/stream.h>

/* Counts what passes. */
struct count {
    struct asf_cios *below;
    int64_t bytes, lines;
};
struct asf_cios *open_count(struct count *data, int *error);

/* Writes what passes to `copy` as well. */
struct tee {
    struct asf_cios *below, *copy;
};
struct asf_cios *open_tee(struct tee *data, int *error);

#endif
