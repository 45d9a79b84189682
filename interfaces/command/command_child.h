/* SPDX-License-Identifier: MIT
 *
 * command_child.h - the child of "asf stat" and "asf compare", and how signals to asf affect it.
 */
#ifndef ASF_COMMAND_CHILD_H
#define ASF_COMMAND_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

/* asf__die_by_signals: from now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the child and its descendants,
 * then this process.  Ignored signals stay ignored.
 * Without this call SIGINT and SIGQUIT reach only the child, and this process passes SIGTERM and SIGHUP on to
 * the child.  None of the four ends this process. */
void asf__die_by_signals(void);

/* asf__fork: fork; only one child may exist at a time.
 * errors  -1, with errno */
pid_t asf__fork(void);

/* asf__wait: wait for the child.  Returns its wait status; stores its usage in *usage unless that is NULL.
 * asf__child_done: call this after asf__wait, when the child's temporary files are removed.  If a signal has
 * come after asf__die_by_signals, this process dies of it here. */
int asf__wait(struct rusage *usage);
void asf__child_done(void);

/* asf__status_text: returns a wait status as "exit status 1" or "signal 11 (Segmentation fault)".
 * asf__exit_status: returns the shell's exit status: 128 + N for signal N. */
const char *asf__status_text(int status);
int asf__exit_status(int status);

#endif
