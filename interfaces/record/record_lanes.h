/* SPDX-License-Identifier: MIT
 *
 * record_lanes.h - moves of bytes spread out, byte by byte, and covered with
 * lanes: the part of making vector code that knows no vectors.
 */
#ifndef ASF_RECORD_LANES_H
#define ASF_RECORD_LANES_H

#include "interfaces/record/record_vector.h"

#pragma GCC visibility push(hidden)

enum {
    MAP_MOST = 1024, /* bytes of the native struct that are spread out at once */
    ZERO_BYTE = -1,
};

/* Which byte of the source each byte of the target is. */
struct asf__map {
    uint32_t length;      /* of the target */
    uint32_t src_length;  /* of the source that belongs to it */
    bool in_place;        /* both may be one: a window stands where its lane is written */
    uint32_t base;        /* then: the source's byte that the target's first one is */
    int32_t at[MAP_MOST]; /* or ZERO_BYTE */
};

/* asf__puts_bytes: whether a move only puts bytes elsewhere. */
static inline bool asf__puts_bytes(const struct asf__move *m) {
    return m->op <= MOVE_ZERO;
}

/* asf__map_move: spread out one such move, whose target starts at `dst` less `base`. */
void asf__map_move(struct asf__map *map, const struct asf__move *m, uint32_t base);

/* asf__map_repeat: the map of `times` elements. */
void asf__map_repeat(struct asf__map *map, uint32_t times, uint32_t src_step);

/* asf__cover: lanes that write every byte of a map.
 *   run  gets them, and what they reach; -ENOMEM */
int asf__cover(const struct asf__map *map, struct asf__run *run);

/* asf__join_lanes: the lanes as items of at most `width` bytes; -ENOMEM. */
int asf__join_lanes(struct asf__run *run, unsigned width);

#pragma GCC visibility pop

#endif
