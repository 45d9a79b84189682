/* SPDX-License-Identifier: MIT
 *
 * command_parallel_check.h - "asf parallel --check".
 */
#ifndef ASF_COMMAND_PARALLEL_CHECK_H
#define ASF_COMMAND_PARALLEL_CHECK_H

/* asf__parallel_check: run the command once on all of standard input, then `cut` in a child.  Report whether
 * both print the same and end with the same status.
 * returns  0: both are the same; 1: they differ
 * errors   ends the process with EXIT_OWN_FAILURE */
int asf__parallel_check(char **command, int (*cut)(void *argument), void *argument);

#endif
