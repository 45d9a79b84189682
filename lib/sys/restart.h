/* SPDX-License-Identifier: MIT
 *
 * restart.h - a byte moved by a restartable sequence (rseq(2), which glibc registers for every
 * thread).  When the kernel interrupts the few instructions, it continues at an abort address, so they
 * need neither a lock nor an atomic instruction.  The stream's lock is biased to the thread.  A thread
 * that ends the bias first clears `fast` and has the kernel interrupt all threads (lock.c).
 *   asf__take_byte  (fast, at, end): reads the byte at *at and increments *at.  Returns -1 when
 *                   the lock is not biased to this thread, or *at is not below *end
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
