/* SPDX-License-Identifier: MIT
 *
 * record_generate.h - machine code generated at run time, for the vector engines.
 */
#ifndef ASF_RECORD_GENERATE_H
#define ASF_RECORD_GENERATE_H

#include <asf/record_generator.h>

#include "interfaces/record/record_vector.h"

#pragma GCC visibility push(hidden)

struct asf__generated {
    asf_record_code code; /* the generated function, or NULL */
    void *kept;
    const struct asf_record_generator *by;
};

/* asf__generate: generate code for the lanes of a run and the other ops, if a generator is set and supports
 * them all.  `to` is the bytes of the target element. */
void asf__generate(struct asf__generated *made, const struct asf__run *run, const struct asf__op *others,
                   uint32_t count, uint32_t to);
void asf__generated_discard(struct asf__generated *made);

/* asf__generated_misfit: set the text for op number `step`, from 1, whose value does not fit, and return
 * -ERANGE. */
int asf__generated_misfit(const struct asf__op *others, size_t step);

#pragma GCC visibility pop

#endif
