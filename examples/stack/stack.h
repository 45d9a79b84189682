/* SPDX-License-Identifier: MIT
 *
 * stack.h - two modules that read from another stream, `below`.  The caller closes `below` after the module's
 * stream.
 */
#ifndef EXAMPLES_STACK_H
#define EXAMPLES_STACK_H

#include <asf/stream.h>

/* A stream that counts the bytes and lines of `below`. */
struct count {
    struct asf_cios *below;
    int64_t bytes, lines;
};
struct asf_cios *open_count(struct count *data, int *error);

/* A stream that also writes the bytes of `below` to `copy`. */
struct tee {
    struct asf_cios *below, *copy;
};
struct asf_cios *open_tee(struct tee *data, int *error);

#endif
