/* SPDX-License-Identifier: MIT
 *
 * format.h - the usual printf conversions, straight into the caller's memory.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_FORMAT_H
#define ASF_LIB_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* asf__format: format into p[0..room) as printf would: %d %i %u %x %X %o %c %s
 * %f %% with flags, width, precision and integer length modifiers.
 * returns  the number of bytes, with no terminating null; or -1, with the
 *          memory in any state, when something else is asked for or the room
 *          may not do: the caller then asks libc.  Nothing but p is changed.
 * `ap` is left as it was. */
long asf__format(char *p, size_t room, const char *format, va_list ap);

/* asf__format_custom: the program has registered conversions of its own. */
extern bool asf__format_custom;

#pragma GCC visibility pop

#endif
