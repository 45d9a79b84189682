/* SPDX-License-Identifier: MIT
 *
 * race_detector.h - locks told to ThreadSanitizer, when it is in the program and not in the library: it
 * sees the library's memcpy, memset and free then, and its callers, but no atomic and no futex.
 */
#ifndef ASF_LIB_RACE_DETECTOR_H
#define ASF_LIB_RACE_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Of its runtime; NULL in all other programs. */
extern void __tsan_acquire(void *address) __attribute__((weak, visibility("default")));
extern void __tsan_release(void *address) __attribute__((weak, visibility("default")));

/* asf__has_race_detector: whether it is there.
 * asf__tell_acquired, asf__tell_released: what this thread did before the one, on this address, another did
 * before the other.  A compare and no more where it is not. */
static inline bool asf__has_race_detector(void) {
#ifdef __SANITIZE_THREAD__ /* it sees for itself */
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
