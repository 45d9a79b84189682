/* SPDX-License-Identifier: MIT
 *
 * record_generate.c - calls the program's code generator.
 */
#define _GNU_SOURCE
#include "interfaces/record/record_generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct asf_record_generator *chosen;

int asf_record_generate_with(const struct asf_record_generator *g) {
    if (g && (g->size != sizeof *g || g->version != ASF_RECORD_GENERATOR_VERSION || !g->make || !g->discard))
        return asf__record_fail(-EINVAL, "the generator has another version, or lacks functions");
    __atomic_store_n(&chosen, g, __ATOMIC_RELEASE);
    return 0;
}

/* Describes an op to the generator.  Returns false if generators do not support ops of this kind. */
static bool describe_op(const struct asf__op *m, struct asf_record_step *step) {
    *step = (struct asf_record_step){.from = m->from,
                                     .to = m->to,
                                     .swap = m->swap,
                                     .from_signed = m->from_signed,
                                     .to_signed = m->to_signed,
                                     .src = m->src,
                                     .dst = m->dst,
                                     .count = m->count,
                                     .bytes = m->bytes};
    switch ((enum asf__opcode)m->code) {
    case OP_FIXED:
        step->kind = ASF_RECORD_STEP_BYTES;
        return true;
    case OP_SIGNED:
        step->kind = ASF_RECORD_STEP_SIGNED;
        return true;
    case OP_NARROW:
        step->kind = ASF_RECORD_STEP_NARROW;
        return true;
    case OP_FLOAT:
        step->kind = ASF_RECORD_STEP_FLOAT;
        return true;
    default:
        return false;
    }
}

static void make(struct asf__generated *made, const struct asf_record_generator *g,
                 const struct asf_record_element *shape) {
    if (g->make(shape, &made->code, &made->kept) == 0)
        made->by = g;
    else
        made->code = NULL;
}

void asf__generate(struct asf__generated *made, const struct asf__run *run, const struct asf__op *others,
                   uint32_t count, uint32_t to) {
    const struct asf_record_generator *g = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
    if (!g)
        return;
    struct asf_record_lane *lanes = calloc(run->lanes_count, sizeof *lanes);
    struct asf_record_step *steps = calloc(count, sizeof *steps);
    bool all = lanes && steps;
    for (uint32_t i = 0; all && i < run->lanes_count; i++) {
        lanes[i] = (struct asf_record_lane){.src = run->lanes[i].src, .dst = run->lanes[i].dst};
        memcpy(lanes[i].mask, run->lanes[i].mask, LANE);
    }
    for (uint32_t i = 0; all && i < count; i++)
        all = describe_op(&others[i], &steps[i]);
    if (all)
        make(made, g, &(struct asf_record_element){run->src_step, to, lanes, run->lanes_count, steps, count});
    free(lanes);
    free(steps);
}

void asf__generated_discard(struct asf__generated *made) {
    if (made->code)
        made->by->discard(made->kept);
}

int asf__generated_misfit(const struct asf__op *others, size_t step) {
    return asf__record_fail(-ERANGE, "field '%.64s' has a value that does not fit",
                            others[step - 1].field->name);
}
