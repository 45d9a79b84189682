/* SPDX-License-Identifier: MIT
 *
 * command_child.h - the program that "asf stat" and "asf compare" run, and what signals to asf do to it.
 */
#ifndef ASF_COMMAND_CHILD_H
#define ASF_COMMAND_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

/* asf__die_by_signals: from now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the child and its descendants,
 * and then this process; a signal that is ignored stays so.  Without it SIGINT and SIGQUIT are left to the
 * child, SIGTERM and SIGHUP are passed on, and this process goes on. */
void asf__die_by_signals(void);

/* asf__fork: fork; there is one child at a time.
 * errors  -1, with errno. */
pid_t asf__fork(void);

/* asf__wait: wait for the child.  returns  its status, as wait has it; its usage in *usage, if asked for.
 * asf__child_done: call after it, with the child's temporary files removed; here this process dies by a
 * signal that has come. */
int asf__wait(struct rusage *usage);
void asf__child_done(void);

/* asf__status_text: "exit status 1", "signal 11 (Segmentation fault)".
 * asf__exit_status: as a shell has it, 128 + N for signal N. */
const char *asf__status_text(int status);
int asf__exit_status(int status);

#endif
