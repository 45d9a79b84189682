/* SPDX-License-Identifier: MIT
 *
 * record_vector.h - moves as vector code: runs of "load, shuffle, store".
 */
#ifndef ASF_RECORD_VECTOR_H
#define ASF_RECORD_VECTOR_H

#include "interfaces/record/record_plan.h"

#pragma GCC visibility push(hidden)

enum { LANE = 16 };

/* Sixteen bytes of the native struct: those of a source window in another
 * order, or zero (the mask's high bit).  Of them `length` count: the rest is
 * written by what comes after. */
struct asf__lane {
    uint32_t src, dst, length;
    unsigned char mask[LANE];
};

enum asf__width {
    ONE_LANE,
    TWO_LANES,   /* whose windows follow one another */
    TWO_WINDOWS, /* whose windows do not */
    FOUR_LANES,  /* whose windows follow one another */
    MIXED,
};

/* Lanes taken together, as wide as the engine's vectors. */
struct asf__item {
    _Alignas(64) unsigned char mask[4 * LANE];
    uint32_t src, second, dst;
    uint32_t width;
};

/* The same for each of many elements. */
struct asf__run {
    uint32_t src_step, dst_step;   /* from one iteration to the next */
    uint32_t src_reach, dst_reach; /* bytes that one iteration touches */
    uint32_t elements, shift;      /* of one iteration: 2^shift */
    bool inside;                   /* no iteration touches a byte that is not its own */
    uint32_t lanes_count, items_count;
    uint32_t uniform; /* the width of all items, or MIXED */
    struct asf__lane *lanes;
    struct asf__item *items;
    asf__runner *go;
};

/* asf__vector_*: what the engines of vectors have in common. */
int asf__vector_prepare(const struct asf__engine *engine, struct asf__routine *r);
int asf__vector_convert(const struct asf__routine *r, const unsigned char *src, unsigned char *dst,
                        size_t count, const struct asf__bounds *bounds);
void asf__vector_discard(struct asf__code *code);

/* The engines that this CPU might have. */
extern const struct asf__engine asf__engine_ssse3, asf__engine_avx2, asf__engine_avx512, asf__engine_neon;

#pragma GCC visibility pop

#endif
