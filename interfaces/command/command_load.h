/* SPDX-License-Identifier: MIT
 *
 * command_load.h - measures other load on the machine for "asf compare", and counts instructions, which other
 * load does not change.
 */
#ifndef ASF_COMMAND_LOAD_H
#define ASF_COMMAND_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* The machine's load at one time. */
struct load {
    double time;    /* CLOCK_MONOTONIC, seconds */
    double waiting; /* seconds since boot in which any task waited for a processor; -1: unknown */
    double recent;  /* the part of the last 10 seconds in which any task waited; if `waiting` is -1, the
                       1-minute load average per processor */
};

struct load asf__load(void);
/* asf__is_busy: returns whether other processes were using the processors. */
bool asf__is_busy(const struct load *load);

/* asf__disturbance: describe the load since `since`; the measured children were preempted `preempted` times.
 * returns  words, or NULL if the load is low */
const char *asf__disturbance(const struct load *since, long preempted);

/* asf__count_instructions: count the user-space instructions of the next child and its descendants, from its
 * exec.
 * returns  a descriptor, or -1 if this machine or system does not allow it
 * asf__instructions: returns the count after the child has ended, and closes the descriptor.  0: not
 * counted. */
int asf__count_instructions(void);
uint64_t asf__instructions(int counter);

#endif
