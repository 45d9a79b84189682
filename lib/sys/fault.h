/* SPDX-License-Identifier: MIT
 *
 * fault.h - mapped files that are truncated: instead of raising SIGBUS, a missing page is replaced by zero
 * bytes and a flag is set.
 */
#ifndef ASF_LIB_FAULT_H
#define ASF_LIB_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* asf__watch: guard a mapping.  When one of its pages is replaced, `*truncated` becomes true and
 * `*end`, if it points into the mapping, is set to the mapping's base: the fast paths see a window
 * that ends before its read pointer (`end` NULL: no window).  The load that faults gets 0: getc, which does
 * not test for it, may return one 0.  Returns a slot number, or -1 when the
 * mapping cannot be guarded: no memory, or `most` mappings are guarded already.  The first call
 * installs the handler. */
enum { ASF_MOST_WINDOWS = 512 }; /* the most that streams guard; a stream without a slot reads instead */
int asf__watch(char *base, size_t size, bool *truncated, char **end, int most);
void asf__unwatch(int slot);
/* asf__replaced_from: the lowest page of the guarded mapping that was replaced; NULL: none. */
char *asf__replaced_from(int slot);

/* asf__can_catch_faults: whether a fault of this thread would be caught now: the thread does not block
 * SIGBUS, and the program has not replaced our handler.
 * asf__faults_are_blocked: whether this thread blocks SIGBUS; a fault would then end the process. */
bool asf__can_catch_faults(void);
bool asf__faults_are_blocked(void);
/* asf__program_action: sigaction for SIGBUS.  Our handler stays installed and calls the program's for
 * faults outside guarded mappings.
 * returns  false: our handler is not installed, and nothing was done */
bool asf__program_action(const struct sigaction *act, struct sigaction *old);

/* asf__count_faults: the number of page faults from touching a new mapping at ASF_FAULTS_MOST places,
 * ASF_FAULT_STEP bytes apart.  Where the kernel maps 16 pages of 4 KB at once (tmpfs, files written in
 * small chunks), each place faults; with large folios, few do.
 * returns  the number, or -1 if the kernel does not report it */
enum { ASF_FAULT_STEP = 64 << 10, ASF_FAULTS_MOST = 8 };
int asf__count_faults(const char *base);

/* asf__before_exec: call before an exec or a start of another program.  If this program ignores SIGBUS, the
 * other one must inherit that, although our handler is installed here.
 * asf__after_exec: call when the exec has failed or the start is done; installs our handler again. */
void asf__before_exec(void);
void asf__after_exec(void);

#pragma GCC visibility pop

#endif
