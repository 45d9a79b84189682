/* SPDX-License-Identifier: MIT
 *
 * restart.h - a byte moved by a restartable sequence (rseq(2), which glibc
 * registers for every thread): the kernel starts the few instructions anew at
 * another place when it interrupts them, so that they need neither a lock nor
 * an atomic instruction.  The stream's lock is biased to the thread; who takes
 * it away first clears `fast` and has the kernel interrupt all threads
 * (lock.c).
 *   asf__take_byte  (fast, at, end): the byte at *at, which moves on; -1 when the lock is not
 *                   this thread's, or there is none before `end`
 *   asf__put_byte   (fast, at, end, byte): the same for output; returns the byte, or -1
 */
#ifndef ASF_LIB_RESTART_H
#define ASF_LIB_RESTART_H

#if defined(__x86_64__)
#include "lib/sys/restart_x86_64.h"
#elif defined(__aarch64__)
#include "lib/sys/restart_aarch64.h"
#endif

#endif
