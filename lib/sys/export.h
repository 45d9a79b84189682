/* SPDX-License-Identifier: MIT
 *
 * export.h - names of libc: those that are ours for the whole process, and calls
 * of libc by names that never are.
 */
#ifndef ASF_LIB_EXPORT_H
#define ASF_LIB_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

/* An alias declared with less than its function's attributes is warned of by gcc alone, which can copy them.
 */
#if __has_attribute(copy)
#define ALIAS(name) __attribute__((visibility("default"), alias(#name), copy(name)))
#else
#define ALIAS(name) __attribute__((visibility("default"), alias(#name)))
#endif

/* Found at start-up: to look a call up at the first one takes a kilobyte of stack, which a thread of the
 * least size may not have left.  A compiler without the attribute is given -fno-plt. */
#if __has_attribute(noplt)
#define OF_LIBC __attribute__((noplt, visibility("default")))
#else
#define OF_LIBC __attribute__((visibility("default")))
#endif

#endif
