/* SPDX-License-Identifier: MIT
 *
 * command_load.h - what else the machine does while "asf compare" measures, and instructions, which other
 * load does not change.
 */
#ifndef ASF_COMMAND_LOAD_H
#define ASF_COMMAND_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* The machine's load at a time. */
struct load {
    double time; /* CLOCK_MONOTONIC, seconds */
    double
        waiting; /* seconds since boot in which a task waited for a processor; -1: the kernel does not tell */
    double recent; /* part of the last 10 seconds in which one did, or running tasks a processor, 1 minute */
};

struct load asf__load(void);
/* asf__is_busy: whether others had the processors before. */
bool asf__is_busy(const struct load *load);

/* asf__disturbance: what disturbs runs that began at `since`, when their children have been preempted
 * `preempted` times.  returns  words, or NULL: nothing much. */
const char *asf__disturbance(const struct load *since, long preempted);

/* asf__count_instructions: count those of the next child and its descendants in user space, from its exec on.
 * returns  a descriptor, or -1: this machine or system does not allow it.
 * asf__instructions: their number, when the child has ended; closes it.  0: they were not counted. */
int asf__count_instructions(void);
uint64_t asf__instructions(int counter);

#endif
