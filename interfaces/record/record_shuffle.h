/* SPDX-License-Identifier: MIT
 *
 * record_shuffle.h - the loops over a run's iterations, as macros.  The including file first defines RUN, the
 * attributes of its functions.
 */
#ifndef ASF_RECORD_SHUFFLE_H
#define ASF_RECORD_SHUFFLE_H

#include <stddef.h>

#include "interfaces/record/record_vector.h"

#define INLINE static inline __attribute__((always_inline)) RUN

/* SHUFFLE_FEW(name, vector, load, step): define functions that run one to four items of one width, with
 * the masks in registers; name_of[i] runs i + 1 items.
 *   load  loads a mask
 *   step  (mask, first window, second window, target) shuffles and stores */
#define SHUFFLE_FEW(name, vector, load, step)                                                                \
    INLINE void name(const struct asf__run *run, const unsigned char *src, unsigned char *dst, size_t n,     \
                     const uint32_t items) {                                                                 \
        const size_t src_step = run->src_step, dst_step = run->dst_step;                                     \
        const struct asf__item *item = run->items;                                                           \
        vector mask[4];                                                                                      \
        ptrdiff_t first[4], second[4], target[4]; /* offsets relative to the first item's */                 \
        _Pragma("GCC unroll 4") for (uint32_t i = 0; i < items; i++) {                                       \
            mask[i] = load(item[i].mask);                                                                    \
            first[i] = (ptrdiff_t)item[i].src - item->src;                                                   \
            second[i] = (ptrdiff_t)item[i].second - item->src;                                               \
            target[i] = (ptrdiff_t)item[i].dst - item->dst;                                                  \
        }                                                                                                    \
        src += item->src;                                                                                    \
        dst += item->dst;                                                                                    \
        _Pragma("GCC unroll 2") for (; n > 0; n--, src += src_step, dst += dst_step) {                       \
            _Pragma("GCC unroll 4") for (uint32_t i = 0; i < items; i++)                                     \
                step(mask[i], src + first[i], src + second[i], dst + target[i]);                             \
        }                                                                                                    \
    }                                                                                                        \
    SHUFFLE_ITEMS(name, 1)                                                                                   \
    SHUFFLE_ITEMS(name, 2)                                                                                   \
    SHUFFLE_ITEMS(name, 3)                                                                                   \
    SHUFFLE_ITEMS(name, 4)                                                                                   \
    static asf__runner *const name##_of[] = {name##_1, name##_2, name##_3, name##_4};

#define SHUFFLE_ITEMS(name, items)                                                                           \
    RUN static int name##_##items(const struct asf__run *run, const unsigned char *src, unsigned char *dst,  \
                                  size_t n) {                                                                \
        name(run, src, dst, n, items);                                                                       \
        return 0;                                                                                            \
    }

/* SHUFFLE_UP_TO_FOUR: in pick(), return a function of SHUFFLE_FEW if the run has at most four items, all of
 * this width. */
#define SHUFFLE_UP_TO_FOUR(name, width, run)                                                                 \
    if ((run)->items_count <= 4 && (run)->uniform == (width))                                                \
        return name##_of[(run)->items_count - 1];

/* SHUFFLE_EVERY(any): define every(run, src, dst, n), which runs any number of items of any width.
 *   any  (item, source, target) runs one item */
#define SHUFFLE_EVERY(any)                                                                                   \
    RUN static int every(const struct asf__run *run, const unsigned char *src, unsigned char *dst,           \
                         size_t n) {                                                                         \
        const struct asf__item *end = run->items + run->items_count;                                         \
        for (; n > 0; n--, src += run->src_step, dst += run->dst_step)                                       \
            for (const struct asf__item *item = run->items; item < end; item++)                              \
                any(item, src, dst);                                                                         \
        return 0;                                                                                            \
    }

/* SHUFFLE_SIXTEEN(vector, load, step): define pick() for an engine whose items are all one lane. */
#define SHUFFLE_SIXTEEN(vector, load, step)                                                                  \
    SHUFFLE_FEW(few, vector, load, step)                                                                     \
    INLINE void any(const struct asf__item *item, const unsigned char *src, unsigned char *dst) {            \
        step(load(item->mask), src + item->src, src, dst + item->dst);                                       \
    }                                                                                                        \
    SHUFFLE_EVERY(any)                                                                                       \
    static asf__runner *pick(const struct asf__run *run) {                                                   \
        SHUFFLE_UP_TO_FOUR(few, ONE_LANE, run)                                                               \
        return every;                                                                                        \
    }

/* SHUFFLE_ENGINE(engine, text, bytes): define the engine with the file's available() and pick(), and vectors
 * of `bytes` bytes. */
#define SHUFFLE_ENGINE(engine, text, bytes)                                                                  \
    const struct asf__engine engine = {.name = text, .available = available, .width = bytes, .pick = pick}

#endif
