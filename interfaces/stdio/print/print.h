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

/* asf__sum: the result of a call that made n bytes, after which libc returned `more`; -1 if either failed.
 * failed: the formatter has failed.
 * errors  EOVERFLOW: more bytes than an int counts. */
int asf__sum(bool failed, size_t n, int more);

/* asf__fill_array: for an output's `full`: fills an array, which `put` empties whenever it is full, so
 * that all puts but the last have one size. */
bool asf__fill_array(struct asf__output *o, const char *text, size_t n, bool (*put)(struct asf__output *));

/* asf__begins_anew: the formatter has left a part of the format to libc: whether libc must make the whole
 * call again, and not that part alone.  Newer libcs drop, when a call fails, the text since the buffer was
 * last full. */
bool asf__begins_anew(const struct asf__output *o);

/* asf__print_allocated: vasprintf.
 * asf__print_bytes: write n bytes to a descriptor; false, with errno, when that fails. */
int asf__print_allocated(char **result, int fortify, const char *format, asf__arguments ap);
bool asf__print_bytes(int fd, const char *p, size_t n);

/* The formatter leaves some formats to libc's own code (glibc/glibc_print.c, musl/musl_print.c).  fortify:
 * the level of checking, which glibc's checked forms take. asf__libc_print: on a stream, which is locked.
 * asf__libc_print_text: into p[0..room) and a null after it; `all`: that is the whole call.
 * asf__libc_print_checked: __vsprintf_chk, after an error.
 * asf__libc_print_allocated: vasprintf. */
int asf__libc_print(struct asf_cios *c, int fortify, const char *format, asf__arguments ap);
int asf__libc_print_fd(int fd, int fortify, const char *format, asf__arguments ap);
int asf__libc_print_text(char *p, size_t room, int fortify, bool all, const char *format, asf__arguments ap);
int asf__libc_print_checked(char *p, int fortify, size_t size, const char *format, asf__arguments ap);
int asf__libc_print_allocated(char **result, int fortify, const char *format, asf__arguments ap);

#pragma GCC visibility pop

#endif
