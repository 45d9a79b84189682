/* SPDX-License-Identifier: MIT
 *
 * processors.h - the number of processors that a process may use.
 */
#ifndef ASF_LIB_SYS_PROCESSORS_H
#define ASF_LIB_SYS_PROCESSORS_H

#pragma GCC visibility push(hidden)

/* asf__usable_processors: returns the smaller of the process's affinity and the quota of its control
 * group; at least 1. */
unsigned asf__usable_processors(void);

#pragma GCC visibility pop

#endif
