/* SPDX-License-Identifier: MIT
 *
 * guard.h - undo functions for calls that may not return: a call into the program, or a wait, can end
 * by cancellation, pthread_exit or a C++ exception.  longjmp does not run the undo function, as it
 * does not run libc's.
 */
#ifndef ASF_LIB_GUARD_H
#define ASF_LIB_GUARD_H

#pragma GCC visibility push(hidden)

/* asf__guarded: calls call(arg), and undo(undone) if that does not return. */
void asf__guarded(void (*call)(void *), void *arg, void (*undo)(void *), void *undone);

#pragma GCC visibility pop

#endif
