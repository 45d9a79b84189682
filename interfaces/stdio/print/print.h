/* SPDX-License-Identifier: MIT
 *
 * print.h - what the printf family shares.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#ifndef ASF_INTERFACES_STDIO_PRINT_H
#define ASF_INTERFACES_STDIO_PRINT_H

#include "interfaces/stdio/stdio_cios.h"

#include <stdarg.h>

#include "lib/text/format.h"

#pragma GCC visibility push(hidden)

/* What sprintf is told of its room. */
#define ASF__UNLIMITED ((size_t)-2)

/* asf__print_rest: libc goes on behind the first n bytes.
 * Returns as asf__print. */
int asf__print_rest(char *p, size_t room, size_t n, int fortify, struct asf__format_rest *rest, va_list ap);

/* asf__print: up to `room` bytes of text and a null behind them, at p.
 * `fortify` > 0: %n is refused in a format that could have been written to.
 * returns  the length that there is or would be, or -1 with errno set and what
 *          was made before the error in p. */
int asf__print(char *p, size_t room, int fortify, const char *format, va_list ap);

#pragma GCC visibility pop

#endif
