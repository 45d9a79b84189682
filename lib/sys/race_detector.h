/* SPDX-License-Identifier: MIT
 *
 * race_detector.h - reports locks to ThreadSanitizer, when the program is built with it and the
 * library is not.  It then sees the library's callers and the library's calls of memcpy, memset and
 * free, but no atomic operation and no futex.
 */
#ifndef ASF_LIB_RACE_DETECTOR_H
#define ASF_LIB_RACE_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Functions of ThreadSanitizer's runtime; NULL in programs without it. */
extern void __tsan_acquire(void *address) __attribute__((weak, visibility("default")));
extern void __tsan_release(void *address) __attribute__((weak, visibility("default")));

/* asf__has_race_detector: whether the program has ThreadSanitizer; one comparison.
 * asf__tell_acquired, asf__tell_released: report that the actions of a thread before its call of
 * asf__tell_released with an address happened before another thread's asf__tell_acquired of that address
 * returns. */
static inline bool asf__has_race_detector(void) {
#ifdef __SANITIZE_THREAD__ /* ThreadSanitizer sees the library itself */
    return false;
#else
    return __builtin_expect(__tsan_acquire != NULL, 0);
#endif
}

static inline void asf__tell_acquired(void *address) {
    if (asf__has_race_detector())
        __tsan_acquire(address);
}

static inline void asf__tell_released(void *address) {
    if (asf__has_race_detector())
        __tsan_release(address);
}

#endif
