/* SPDX-License-Identifier: MIT
 *
 * print.h - what the printf family shares.
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

/* asf__fill_array: an output's `full`, of an array that `put` empties whenever it is full, and
 * so goes out in pieces of one size. */
bool asf__fill_array(struct asf__output *o, const char *text, size_t n, bool (*put)(struct asf__output *));

/* asf__begins_anew: whether libc, where it is left something, is to make all of the call: newer
 * ones leave out what a call that fails has made since the buffer was last full. */
bool asf__begins_anew(const struct asf__output *o);

/* asf__print_allocated: vasprintf. */
int asf__print_allocated(char **result, int fortify, const char *format, asf__arguments ap);

#pragma GCC visibility pop

#endif
