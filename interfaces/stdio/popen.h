/* SPDX-License-Identifier: MIT
 *
 * popen.h - what another interface may add to popen.
 */
#ifndef ASF_INTERFACES_STDIO_POPEN_H
#define ASF_INTERFACES_STDIO_POPEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/sys/lock.h"

#pragma GCC visibility push(hidden)

/* before: popen has made its pipe, of which it keeps the end `ours`; another command or environment may
 * be given to the shell.  Returns NULL, or what `after` is to have.
 * after: the child is there, or is not (0).  Lock of both: popen's, held.
 * ended: the status that pclose returns for a child that ended with `status`.  Lock: none. */
struct asf_popen_hooks {
    void *(*before)(int ours, const char **command, char ***environment);
    void (*after)(void *offer, int ours, bool reading, pid_t child);
    int (*ended)(pid_t child, int status);
};
extern struct asf_popen_hooks asf__popen_hooks;

/* Held from where the streams that a child is not to have are looked up until the new one is among
 * them. */
extern struct asf_lock asf__popen_lock;
/* asf__popen_in_child: free it in the child of a fork, where the thread that held it is not. */
void asf__popen_in_child(void);

#pragma GCC visibility pop

#endif
