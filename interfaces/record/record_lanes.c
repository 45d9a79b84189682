/* SPDX-License-Identifier: MIT
 *
 * record_lanes.c - translates ops to a map, which has a source byte for each target byte, and covers the map
 * with lanes.  This file does not depend on the CPU.  Each lane takes as many bytes as one window of 16
 * source bytes can provide.  A window follows the last one directly if possible, since two or four adjacent
 * windows are one wider vector.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_vector.h"

/* Returns the index of the source byte that is byte j of an unsigned number widened to m->to bytes, or
 * ZERO_BYTE. */
static int32_t extended_byte(const struct asf__op *m, uint32_t j) {
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint32_t rank = big ? m->to - 1u - j : j; /* significance: 0 is the lowest byte */
    if (rank >= m->from)
        return ZERO_BYTE;
    return (int32_t)(m->swap != big ? m->from - 1u - rank : rank);
}

void asf__map_op(struct asf__map *map, const struct asf__op *m, uint32_t base) {
    int32_t *at = map->at + (m->dst - base);
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t j = 0; j < m->to; j++) {
            int32_t byte = m->code == OP_ZERO   ? ZERO_BYTE
                           : m->code == OP_SWAP ? (int32_t)(m->from - 1u - j)
                                                : extended_byte(m, j);
            if (m->code == OP_COPY)
                byte = (int32_t)j;
            at[i * m->to + j] = byte < 0 ? ZERO_BYTE : (int32_t)(m->src + i * m->from) + byte;
        }
}

void asf__map_repeat(struct asf__map *map, uint32_t times, uint32_t src_step) {
    uint32_t n = map->length;
    for (uint32_t i = n; i < n * times; i++)
        map->at[i] = map->at[i - n] < 0 ? ZERO_BYTE : map->at[i - n] + (int32_t)src_step;
    map->length = n * times;
    map->src_length += src_step * (times - 1);
}

/* Returns how many target bytes, beginning at `dst`, one window can provide.  *least and *most are the first
 * and last offsets at which this window may begin. */
static uint32_t window_bytes(const struct asf__map *map, uint32_t dst, int32_t *least, int32_t *most) {
    const int32_t here = (int32_t)(map->base + dst);
    int32_t low = map->in_place ? here : INT32_MAX, high = map->in_place ? here + LANE - 1 : -1;
    uint32_t n = 0;
    for (; n < LANE && dst + n < map->length; n++) {
        int32_t at = map->at[dst + n];
        if (at < 0)
            continue;
        int32_t next_low = at < low ? at : low, next_high = at > high ? at : high;
        if (next_high - next_low >= LANE)
            break;
        low = next_low;
        high = next_high;
    }
    *least = high < LANE ? 0 : high - LANE + 1;
    *most = high < 0 ? INT32_MAX : low;
    return n;
}

/* Returns the offset of a window: directly after the last window if allowed; otherwise the greatest allowed
 * offset, or a smaller one if the window would exceed the source. */
static uint32_t choose_window(const struct asf__map *map, const struct asf__lane *last, int32_t least,
                              int32_t most) {
    int32_t end = (int32_t)map->src_length - LANE;
    if (last) {
        int32_t next = (int32_t)(last->src + LANE);
        if (next >= least && next <= most && (next <= end || least > end))
            return (uint32_t)next;
    }
    int32_t at = most == INT32_MAX ? 0 : most;
    if (at > end && end >= least)
        at = end;
    return (uint32_t)at;
}

/* In place, bytes after the lane's `length` are stored unchanged. */
static void fill_mask(const struct asf__map *map, struct asf__lane *lane) {
    for (uint32_t i = 0; i < LANE; i++)
        lane->mask[i] = map->in_place ? (unsigned char)i : 0x80;
    for (uint32_t i = 0; i < lane->length; i++)
        lane->mask[i] =
            map->at[lane->dst + i] < 0 ? 0x80 : (unsigned char)((uint32_t)map->at[lane->dst + i] - lane->src);
}

int asf__cover(const struct asf__map *map, struct asf__run *run) {
    struct asf__lane lanes[MAP_MOST];
    uint32_t n = 0;
    run->src_reach = run->dst_reach = 0;
    for (uint32_t dst = 0; dst < map->length; n++) {
        int32_t least, most;
        struct asf__lane *lane = &lanes[n];
        lane->dst = dst;
        lane->length = window_bytes(map, dst, &least, &most);
        lane->src = choose_window(map, n ? lane - 1 : NULL, least, most);
        fill_mask(map, lane);
        if (run->src_reach < lane->src + LANE)
            run->src_reach = lane->src + LANE;
        run->dst_reach = dst + LANE;
        dst += lane->length;
    }
    run->lanes_count = n;
    run->lanes = malloc(n * sizeof *lanes);
    if (!run->lanes)
        return asf__record_no_memory("to plan the conversion");
    memcpy(run->lanes, lanes, n * sizeof *lanes);
    return 0;
}

/* --- combining lanes to items ------------------------------------------------------------------ */

/* Returns how many lanes from number i on, at most four, have adjacent targets and, with `windows`, adjacent
 * windows. */
static uint32_t count_adjacent(const struct asf__run *run, uint32_t i, bool windows) {
    uint32_t n = 1;
    for (; i + n < run->lanes_count && n < 4; n++) {
        const struct asf__lane *last = &run->lanes[i + n - 1], *next = last + 1;
        if (last->length != LANE || (windows && next->src != last->src + LANE))
            break;
    }
    return n;
}

static uint32_t lanes_of(const struct asf__run *run, uint32_t i, unsigned width, uint32_t *kind) {
    uint32_t adjacent = count_adjacent(run, i, true);
    *kind = ONE_LANE;
    if (width >= 4 * LANE && adjacent == 4)
        *kind = FOUR_LANES;
    else if (width >= 2 * LANE && adjacent >= 2)
        *kind = TWO_LANES;
    else if (width >= 2 * LANE && count_adjacent(run, i, false) >= 2)
        *kind = TWO_WINDOWS;
    return *kind == FOUR_LANES ? 4 : *kind == ONE_LANE ? 1 : 2;
}

int asf__join_lanes(struct asf__run *run, unsigned width) {
    struct asf__item *item = aligned_alloc(64, run->lanes_count * sizeof *item);
    if (!item)
        return asf__record_no_memory("to plan the conversion");
    run->items = item;
    for (uint32_t i = 0; i < run->lanes_count; item++) {
        const struct asf__lane *lane = &run->lanes[i];
        uint32_t n = lanes_of(run, i, width, &item->width);
        memset(item->mask, 0x80, sizeof item->mask);
        for (uint32_t j = 0; j < n; j++)
            memcpy(item->mask + j * LANE, lane[j].mask, LANE);
        item->src = lane->src;
        item->second = lane[n > 1].src;
        item->dst = lane->dst;
        i += n;
    }
    run->items_count = (uint32_t)(item - run->items);
    run->uniform = run->items->width;
    for (uint32_t i = 1; i < run->items_count; i++)
        if (run->items[i].width != run->uniform)
            run->uniform = MIXED;
    return 0;
}
