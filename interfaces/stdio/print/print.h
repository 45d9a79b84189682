/* SPDX-License-Identifier: MIT
 *
 * print.h - what the printf family shares.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#ifndef ASF_INTERFACES_STDIO_PRINT_H
#define ASF_INTERFACES_STDIO_PRINT_H

#include "interfaces/stdio/stdio_cios.h"

#include <stdarg.h>
#include <string.h>

#include "lib/text/format.h"

#pragma GCC visibility push(hidden)

/* asf__sum: what a call returns that made n bytes, and libc `more`; -1, of either: an error.
 * errors  EOVERFLOW: more than an int counts. */
int asf__sum(const struct asf__output *o, size_t n, int more);

/* asf__print_allocated: vasprintf. */
int asf__print_allocated(char **result, int fortify, const char *format, asf__arguments ap);

#pragma GCC visibility pop

#endif
