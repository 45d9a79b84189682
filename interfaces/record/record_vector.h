/* SPDX-License-Identifier: MIT
 *
 * record_vector.h - the engines, and ops that rearrange bytes, as loops of "load, shuffle, store".
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

struct asf__run;

/* Runs a loop of `n` iterations.  Returns 0, so that a function that returns an error code can tail-call it.
 */
typedef int asf__runner(const struct asf__run *run, const unsigned char *src, unsigned char *dst, size_t n);

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

/* --- engines ----------------------------------------------------------------------------------- */

struct asf__engine {
    const char *name;
    bool (*available)(void);
    /* Vector engines only: bytes of the widest vector, and a function that chooses the loop for a run. */
    unsigned width;
    asf__runner *(*pick)(const struct asf__run *run);
};

/* asf__engine_now: the engine in use. */
const struct asf__engine *asf__engine_now(void);

/* asf__do_ops: execute `count` ops on one element. */
int asf__do_ops(const struct asf__op *ops, uint32_t count, const unsigned char *src, unsigned char *dst);

/* The vector engines; the CPU may not support them. */
extern const struct asf__engine asf__engine_ssse3, asf__engine_avx2, asf__engine_avx512, asf__engine_neon;

/* --- covering a map with lanes ----------------------------------------------------------------- */

enum {
    MAP_MOST = 1024, /* target bytes of a map */
    ZERO_BYTE = -1,
};

/* For each byte of a target, the byte of the source that is copied there. */
struct asf__map {
    uint32_t length;      /* number of target bytes, and of entries in `at` */
    uint32_t src_length;  /* bytes of the source element */
    bool in_place;        /* each lane's window begins at the offset of the lane's target */
    uint32_t base;        /* with in_place: offset of the map's first target byte in the element */
    int32_t at[MAP_MOST]; /* offset of the source byte, or ZERO_BYTE */
};

/* asf__map_op: enter a byte op in the map.  `base` is the target offset of the map's first byte. */
void asf__map_op(struct asf__map *map, const struct asf__op *m, uint32_t base);

/* asf__map_repeat: extend a map of one element to `times` elements. */
void asf__map_repeat(struct asf__map *map, uint32_t times, uint32_t src_step);

/* asf__cover: make the lanes that write every byte of a map.  Sets run->lanes, src_reach and dst_reach.
 * Returns 0 or -ENOMEM. */
int asf__cover(const struct asf__map *map, struct asf__run *run);

/* asf__join_lanes: combine the lanes to items of at most `width` bytes.  Returns 0 or -ENOMEM. */
int asf__join_lanes(struct asf__run *run, unsigned width);

#pragma GCC visibility pop

#endif
