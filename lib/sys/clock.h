/* SPDX-License-Identifier: MIT
 *
 * clock.h - elapsed time.
 */
#ifndef ASF_LIB_CLOCK_H
#define ASF_LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "lib/sys/machine.h" /* asf__ticks */

/* asf__nanoseconds: CLOCK_MONOTONIC, in nanoseconds. */
static inline int64_t asf__nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

#endif
