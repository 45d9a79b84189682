/* SPDX-License-Identifier: MIT
 *
 * export.h - names of libc that are ours for the whole process.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_EXPORT_H
#define ASF_LIB_EXPORT_H

#define EXPORT      __attribute__((visibility("default")))
#define ALIAS(name) __attribute__((visibility("default"), alias(#name), copy(name)))

#endif
