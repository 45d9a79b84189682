/* SPDX-License-Identifier: MIT
 *
 * restart_none.h - see restart.h: each byte takes the stream's lock.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_RESTART_NONE_H
#define ASF_LIB_RESTART_NONE_H

#include "lib/sys/lock.h"

enum { ASF_RESTARTS = 0 };

static inline int asf__take_byte(const asf__tag *fast, char **at, char *const *end) {
    (void)fast, (void)at, (void)end;
    return -1;
}

static inline int asf__put_byte(const asf__tag *fast, char **at, char *const *end, int byte) {
    (void)fast, (void)at, (void)end, (void)byte;
    return -1;
}

#endif
