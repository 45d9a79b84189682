/* SPDX-License-Identifier: MIT
 *
 * record_vector.h - ops that rearrange bytes, as loops of "load, shuffle, store".
 */
#ifndef ASF_RECORD_VECTOR_H
#define ASF_RECORD_VECTOR_H

#include "interfaces/record/record_plan.h"

#pragma GCC visibility push(hidden)

enum { LANE = 16 };

/* Sixteen target bytes, written by one shuffle.  Each is a byte of one source window of 16 bytes, selected by
 * the mask, or 0 if the mask's high bit is set.  Only the first `length` bytes are valid; later stores
 * overwrite the others. */
struct asf__lane {
    uint32_t src, dst, length;
    unsigned char mask[LANE];
};

enum asf__width {
    ONE_LANE,
    TWO_LANES,   /* two lanes with adjacent windows */
    TWO_WINDOWS, /* two lanes with separate windows */
    FOUR_LANES,  /* four lanes with adjacent windows */
    MIXED,
};

/* One to four lanes that one vector instruction processes. */
struct asf__item {
    _Alignas(64) unsigned char mask[4 * LANE];
    uint32_t src, second, dst;
    uint32_t width;
};

/* The lanes of one iteration, which is repeated over an array. */
struct asf__run {
    uint32_t src_step, dst_step;   /* bytes from one iteration to the next */
    uint32_t src_reach, dst_reach; /* bytes that one iteration accesses */
    uint32_t elements, shift;      /* elements of one iteration: 2^shift */
    bool inside;                   /* no iteration accesses bytes of the next one */
    uint32_t lanes_count, items_count;
    uint32_t uniform; /* width of every item, or MIXED */
    struct asf__lane *lanes;
    struct asf__item *items;
    asf__runner *go;
};

/* asf__vector_*: the functions that all vector engines share. */
int asf__vector_prepare(const struct asf__engine *engine, struct asf__routine *r);
int asf__vector_convert(const struct asf__routine *r, const unsigned char *src, unsigned char *dst,
                        size_t count, const struct asf__bounds *bounds);
void asf__vector_discard(struct asf__code *code);

/* The vector engines; the CPU may lack them. */
extern const struct asf__engine asf__engine_ssse3, asf__engine_avx2, asf__engine_avx512, asf__engine_neon;

#pragma GCC visibility pop

#endif
