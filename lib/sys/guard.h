/* SPDX-License-Identifier: MIT
 *
 * guard.h - calls into the program, or that wait in the middle of something: when
 * one is left for good, by a cancellation, pthread_exit or an exception of C++, what
 * it was called in is put right.  longjmp leaves things as they are, as it does libc's.
 */
#ifndef ASF_LIB_GUARD_H
#define ASF_LIB_GUARD_H

#pragma GCC visibility push(hidden)

/* asf__guarded: call(arg); undo(undone) if that does not return. */
void asf__guarded(void (*call)(void *), void *arg, void (*undo)(void *), void *undone);

#pragma GCC visibility pop

#endif
