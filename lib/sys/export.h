/* SPDX-License-Identifier: MIT
 *
 * export.h - attributes for names of libc: names that this library defines for the whole process, and
 * names that it calls.
 */
#ifndef ASF_LIB_EXPORT_H
#define ASF_LIB_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

/* Suppresses gcc's warning about an alias that has fewer attributes than its function. */
#if __has_attribute(copy)
#define ALIAS(name) __attribute__((visibility("default"), alias(#name), copy(name)))
#else
#define ALIAS(name) __attribute__((visibility("default"), alias(#name)))
#endif

/* Also gives the function the name `name`64.  The new name is a string, since musl's headers define
 * macros of such names. */
#define ALIAS_64(name) extern __typeof__(name) asf__##name##_64 __asm__(#name "64") ALIAS(name)

/* Resolves the address at start-up: a lookup at the first call takes a kilobyte of stack, which a thread
 * of the smallest stack size may not have left.  A compiler without the attribute gets -fno-plt. */
#if __has_attribute(noplt)
#define OF_LIBC __attribute__((noplt, visibility("default")))
#else
#define OF_LIBC __attribute__((visibility("default")))
#endif

#endif
