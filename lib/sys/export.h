/* SPDX-License-Identifier: MIT
 *
 * export.h - attributes for names of libc: names that this library defines for the whole process, and
 * names that it calls.
 */
#ifndef ASF_LIB_EXPORT_H
#define ASF_LIB_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

/* gcc warns of an alias that has fewer attributes than its function, and has an attribute to copy
 * them. */
#if __has_attribute(copy)
#define ALIAS(name) __attribute__((visibility("default"), alias(#name), copy(name)))
#else
#define ALIAS(name) __attribute__((visibility("default"), alias(#name)))
#endif

/* Gives the function the name `name`64 besides.  The name is text: musl's headers have macros of such names.
 */
#define ALIAS_64(name) extern __typeof__(name) asf__##name##_64 __asm__(#name "64") ALIAS(name)

/* The address is looked up at start-up: a lookup at the first call takes a kilobyte of stack, which a
 * thread of the smallest stack size may not have left.  A compiler without the attribute gets
 * -fno-plt. */
#if __has_attribute(noplt)
#define OF_LIBC __attribute__((noplt, visibility("default")))
#else
#define OF_LIBC __attribute__((visibility("default")))
#endif

#endif
