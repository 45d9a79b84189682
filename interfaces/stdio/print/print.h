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

/* asf__print_result: the result of a call: n bytes by the formatter, plus `more`, libc's result for the rest;
 * -1 if either failed.  failed: the formatter has failed.  errors  EOVERFLOW: more than INT_MAX bytes. */
int asf__print_result(bool failed, size_t n, int more);

/* asf__fill_array: the body of an output's `full` function: copies text to the array, and calls `put`
 * whenever the array is full.  So all puts but the last have the same size. */
bool asf__fill_array(struct asf__output *o, const char *text, size_t n, bool (*put)(struct asf__output *));

/* asf__must_repeat_call: whether libc must repeat the whole call, not only format the part that the formatter
 * left.  When a call fails, newer libcs discard the text made since the buffer was last full. */
bool asf__must_repeat_call(const struct asf__output *o);

/* asf__print_allocated: vasprintf.
 * asf__print_bytes: write n bytes to a descriptor; false, with errno, when that fails. */
int asf__print_allocated(char **result, int fortify, const char *format, asf__arguments ap);
bool asf__print_bytes(int fd, const char *p, size_t n);

/* The formatter leaves some formats to libc's own code (glibc/glibc_print.c, musl/musl_print.c).  fortify:
 * the level of checking, which glibc's checked forms take.
 * asf__libc_print: on a stream, which is locked.
 * asf__libc_print_text: into p[0..room) and a null after it; `all`: libc makes the program's whole call.
 * asf__libc_print_checked: __vsprintf_chk, after an error.
 * asf__libc_print_allocated: vasprintf. */
int asf__libc_print(struct asf_cios *c, int fortify, const char *format, asf__arguments ap);
int asf__libc_print_fd(int fd, int fortify, const char *format, asf__arguments ap);
int asf__libc_print_text(char *p, size_t room, int fortify, bool all, const char *format, asf__arguments ap);
int asf__libc_print_checked(char *p, int fortify, size_t size, const char *format, asf__arguments ap);
int asf__libc_print_allocated(char **result, int fortify, const char *format, asf__arguments ap);

#pragma GCC visibility pop

#endif
