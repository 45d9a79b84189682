/* SPDX-License-Identifier: MIT
 *
 * command_shm.h - declarations that the files of "asf shm" share.
 */
#ifndef ASF_COMMAND_SHM_H
#define ASF_COMMAND_SHM_H

#include <stdio.h>

#include <asf/shm.h>

#include "interfaces/command/command.h"

/* Each subcommand: argv[0] is its name; returns the exit status. */
int asf__shm_list(int argc, char **argv);
int asf__shm_remove(int argc, char **argv);
int asf__shm_expand(int argc, char **argv);
int asf__shm_pack(int argc, char **argv);

#endif
