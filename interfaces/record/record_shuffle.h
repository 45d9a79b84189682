/* SPDX-License-Identifier: MIT
 *
 * record_shuffle.h - the loops over a run's iterations, for an engine that has
 * defined RUN: the attributes of its functions.
 * Layer: interfaces/record.  May include: lib, include/asf.
 */
#ifndef ASF_RECORD_SHUFFLE_H
#define ASF_RECORD_SHUFFLE_H

#include "interfaces/record/record_vector.h"

#define INLINE static inline __attribute__((always_inline)) RUN

/* SHUFFLE_FEW(name, vector, load, step): a function that runs at most four items
 * of one width with their masks in registers.
 *   load  a mask
 *   step  (mask, first window, second window, target) */
#define SHUFFLE_FEW(name, vector, load, step)                                                                \
    INLINE void name(const struct asf__run *run, const unsigned char *src, unsigned char *dst, size_t n,     \
                     const uint32_t items) {                                                                 \
        const size_t src_step = run->src_step, dst_step = run->dst_step;                                     \
        vector mask[4];                                                                                      \
        size_t first[4], second[4], target[4];                                                               \
        _Pragma("GCC unroll 4") for (uint32_t i = 0; i < items; i++) {                                       \
            mask[i] = load(run->items[i].mask);                                                              \
            first[i] = run->items[i].src;                                                                    \
            second[i] = run->items[i].second;                                                                \
            target[i] = run->items[i].dst;                                                                   \
        }                                                                                                    \
        for (; n > 0; n--, src += src_step, dst += dst_step) {                                               \
            _Pragma("GCC unroll 4") for (uint32_t i = 0; i < items; i++)                                     \
                step(mask[i], src + first[i], src + second[i], dst + target[i]);                             \
        }                                                                                                    \
    }

/* SHUFFLE_UP_TO_FOUR: do so and return, when there are as few, of this width. */
#define SHUFFLE_UP_TO_FOUR(few, width, run, src, dst, n)                                                     \
    if ((run)->items_count <= 4 && (n) >= FEW_ITERATIONS && (run)->uniform == (width))                       \
        switch ((run)->items_count) {                                                                        \
        case 1:                                                                                              \
            few(run, src, dst, n, 1);                                                                        \
            return;                                                                                          \
        case 2:                                                                                              \
            few(run, src, dst, n, 2);                                                                        \
            return;                                                                                          \
        case 3:                                                                                              \
            few(run, src, dst, n, 3);                                                                        \
            return;                                                                                          \
        default:                                                                                             \
            few(run, src, dst, n, 4);                                                                        \
            return;                                                                                          \
        }

/* Iterations below this do not pay for having the masks in registers. */
enum { FEW_ITERATIONS = 3 };

/* SHUFFLE_EVERY(any): every(run, src, dst, n) runs items of whatever width.
 *   any  (item, source, target) */
#define SHUFFLE_EVERY(any)                                                                                   \
    INLINE void every(const struct asf__run *run, const unsigned char *src, unsigned char *dst, size_t n) {  \
        const struct asf__item *end = run->items + run->items_count;                                         \
        for (; n > 0; n--, src += run->src_step, dst += run->dst_step)                                       \
            for (const struct asf__item *item = run->items; item < end; item++)                              \
                any(item, src, dst);                                                                         \
    }

/* SHUFFLE_SIXTEEN(vector, load, step): run() where all items have one window. */
#define SHUFFLE_SIXTEEN(vector, load, step)                                                                  \
    SHUFFLE_FEW(few, vector, load, step)                                                                     \
    INLINE void any(const struct asf__item *item, const unsigned char *src, unsigned char *dst) {            \
        step(load(item->mask), src + item->src, src, dst + item->dst);                                       \
    }                                                                                                        \
    SHUFFLE_EVERY(any)                                                                                       \
    RUN static void run(const struct asf__run *r, const unsigned char *src, unsigned char *dst, size_t n) {  \
        SHUFFLE_UP_TO_FOUR(few, ONE_LANE, r, src, dst, n)                                                    \
        every(r, src, dst, n);                                                                               \
    }

/* SHUFFLE_ENGINE(engine, text, bytes): the engine of the file's available() and
 * run(). */
#define SHUFFLE_ENGINE(engine, text, bytes)                                                                  \
    const struct asf__engine engine = {.name = text,                                                         \
                                       .available = available,                                               \
                                       .prepare = asf__vector_prepare,                                       \
                                       .convert = asf__vector_convert,                                       \
                                       .discard = asf__vector_discard,                                       \
                                       .width = bytes,                                                       \
                                       .run = run}

#endif
