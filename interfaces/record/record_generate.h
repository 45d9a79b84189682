/* SPDX-License-Identifier: MIT
 *
 * record_generate.h - code made at run time, as the vector engines see it.
 */
#ifndef ASF_RECORD_GENERATE_H
#define ASF_RECORD_GENERATE_H

#include <asf/record_generator.h>

#include "interfaces/record/record_vector.h"

#pragma GCC visibility push(hidden)

struct asf__generated {
    asf_record_code code; /* or NULL */
    void *kept;
    const struct asf_record_generator *by;
};

/* asf__generate: code for the lanes of a run and other moves, if there is a
 * generator and it makes any; `to` is the size of the element. */
void asf__generate(struct asf__generated *made, const struct asf__run *run, const struct asf__move *others,
                   uint32_t count, uint32_t to);
void asf__generated_discard(struct asf__generated *made);

/* asf__generated_misfit: the error for the step that the code has told of. */
int asf__generated_misfit(const struct asf__move *others, size_t step);

#pragma GCC visibility pop

#endif
