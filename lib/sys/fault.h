/* SPDX-License-Identifier: MIT
 *
 * fault.h - mapped input whose file is truncated: the page that is gone is
 * replaced by zero bytes and a flag is set, in place of a SIGBUS.
 */
#ifndef ASF_LIB_FAULT_H
#define ASF_LIB_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* asf__watch: guard a mapping.  When a page of it had to be replaced `*truncated`
 * becomes true, and `*end`, if it points into the mapping, is set to its base:
 * a window that ends before its pointer tells the fast paths (NULL: there is none).
 * Returns a slot, or -1 when the mapping cannot be guarded: there is no memory, or `most` others
 * are.  The first call installs the handler. */
enum { ASF_MOST_WINDOWS = 512 }; /* so many at most are streams', which can do without a map */
int asf__watch(char *base, size_t size, bool *truncated, char **end, int most);
void asf__unwatch(int slot);
/* asf__replaced_from: the first page of the guarded mapping that was replaced; NULL: none. */
char *asf__replaced_from(int slot);

/* asf__can_catch_faults: whether a fault of this thread would be caught now: it does not block
 * SIGBUS, and the program has put no handler of its own in place of ours.
 * asf__faults_are_blocked: whether this thread blocks SIGBUS. */
bool asf__can_catch_faults(void);
bool asf__faults_are_blocked(void);
/* asf__program_action: as sigaction for SIGBUS, but our handler stays in place, and calls the
 * program's for what is not ours.  returns  false: ours is not installed; nothing was done. */
bool asf__program_action(const struct sigaction *act, struct sigaction *old);

/* asf__count_faults: how many page faults it costs to touch a new mapping at
 * ASF_FAULTS_MOST places, ASF_FAULT_STEP bytes apart: as many where the kernel
 * maps pages of 4 KB by sixteen (tmpfs, files written in small chunks), few where
 * it has large folios.  -1: it cannot be told. */
enum { ASF_FAULT_STEP = 64 << 10, ASF_FAULTS_MOST = 8 };
int asf__count_faults(const char *base);

/* asf__before_exec: called before an exec or a start of another program: if this program
 * ignores SIGBUS, the other one does, too, although our handler is in place here.
 * asf__after_exec: the exec failed, or the start is done: our handler again. */
void asf__before_exec(void);
void asf__after_exec(void);

#pragma GCC visibility pop

#endif
