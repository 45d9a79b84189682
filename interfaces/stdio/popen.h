/* SPDX-License-Identifier: MIT
 *
 * popen.h - hooks that let another interface extend popen.
 */
#ifndef ASF_INTERFACES_STDIO_POPEN_H
#define ASF_INTERFACES_STDIO_POPEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/sys/lock.h"

#pragma GCC visibility push(hidden)

/* before: called between popen's pipe and its child; popen keeps `parent_end`.  It may replace the shell's
 *         command and environment.  Returns the `offer` for `after`, or NULL: `after` is not called.
 * after:  called when the child has started, or could not (`child` is 0).
 *         Lock of both: popen's, held.
 * ended:  returns the status that pclose returns for a child that ended with `status`.  Lock: none. */
struct asf_popen_hooks {
    void *(*before)(int parent_end, const char **command, char ***environment);
    void (*after)(void *offer, int parent_end, bool reading, pid_t child);
    int (*ended)(pid_t child, int status);
};
extern struct asf_popen_hooks asf__popen_hooks;

/* Held from the search for the streams whose descriptors the child must not have, until the new stream is in
 * the list. */
extern struct asf_lock asf__popen_lock;
/* asf__popen_in_child: release the lock in the child of a fork, where its holder does not exist. */
void asf__popen_in_child(void);

#pragma GCC visibility pop

#endif
