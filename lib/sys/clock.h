/* SPDX-License-Identifier: MIT
 *
 * clock.h - how long something takes.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_CLOCK_H
#define ASF_LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

/* asf__nanoseconds: since some moment that stays the same. */
static inline int64_t asf__nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* asf__ticks: which of two events came first, also on two processors: what a call notes after
 * it has seen another's effect is later.  In no unit.  It waits for the loads before it; by
 * itself it was measured to take 12 ns, asf__nanoseconds 20. */
static inline uint64_t asf__ticks(void) {
#if defined(__x86_64__)
    unsigned processor;
    return __builtin_ia32_rdtscp(&processor);
#elif defined(__aarch64__)
    uint64_t t;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(t)::"memory");
    return t;
#else
    return (uint64_t)asf__nanoseconds();
#endif
}

#endif
