/* SPDX-License-Identifier: MIT
 *
 * record_lanes.h - translates ops to a map, which has a source byte for each target byte, and covers the map
 * with lanes.  This part does not depend on the CPU.
 */
#ifndef ASF_RECORD_LANES_H
#define ASF_RECORD_LANES_H

#include "interfaces/record/record_vector.h"

#pragma GCC visibility push(hidden)

enum {
    MAP_MOST = 1024, /* target bytes of a map */
    ZERO_BYTE = -1,
};

/* For each byte of a target, the byte of the source that is copied there. */
struct asf__map {
    uint32_t length;      /* bytes of the target */
    uint32_t src_length;  /* bytes of the source element */
    bool in_place;        /* source and target may be one: each lane's window begins at its target */
    uint32_t base;        /* with in_place: offset in the source of the target's first byte */
    int32_t at[MAP_MOST]; /* offset of the source byte, or ZERO_BYTE */
};

/* asf__is_byte_op: whether an op only rearranges bytes. */
static inline bool asf__is_byte_op(const struct asf__op *m) {
    return m->code <= OP_ZERO;
}

/* asf__map_op: enter a byte op in the map, whose first byte has target offset `base`. */
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
