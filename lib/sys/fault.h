/* SPDX-License-Identifier: MIT
 *
 * fault.h - mapped input whose file is truncated: the page that is gone is
 * replaced by zero bytes and a flag is raised, in place of a SIGBUS.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_FAULT_H
#define ASF_LIB_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* asf__watch: guard a mapping.  When a page of it had to be replaced `*torn`
 * becomes true, and `*end`, if it points into the mapping, is set to its base:
 * a window that ends before its pointer tells the fast paths.  Returns a slot,
 * or -1 when the mapping cannot be guarded.  The first call installs the
 * handler. */
int asf__watch(char *base, size_t size, bool *torn, char **end);
void asf__unwatch(int slot);

/* asf__count_faults: how many page faults it costs to touch a new mapping at
 * ASF_FAULTS_MOST places, ASF_FAULT_STEP bytes apart: as many where the kernel
 * maps pages of 4 KB by sixteen (tmpfs, files written in small pieces), few where
 * it has large folios.  -1: it cannot be told. */
enum { ASF_FAULT_STEP = 64 << 10, ASF_FAULTS_MOST = 8 };
int asf__count_faults(const char *base);

/* asf__last_words: have `speak` called, which must be safe in a signal
 * handler, before a signal ends the process by default, but for those of
 * real time. */
void asf__last_words(void (*speak)(void));

/* asf__program_action: what sigaction() says to the program of a signal for
 * which a handler of ours may be in place: SIGBUS, where ours stays and passes
 * on what is not its own, and the signals of asf__last_words, which show as
 * SIG_DFL.  Returns true when the call has been answered. */
bool asf__program_action(int sig, const struct sigaction *act, struct sigaction *old);

/* asf__before_exec: SIGBUS that the program ignores is ignored by what it becomes,
 * or starts.  asf__after_exec: that failed, or has started. */
void asf__before_exec(void);
void asf__after_exec(void);

#pragma GCC visibility pop

#endif
