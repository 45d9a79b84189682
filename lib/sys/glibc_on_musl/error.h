/* SPDX-License-Identifier: MIT
 *
 * error.h - glibc's error(), for the examples.
 */
#ifndef ASF_LIB_SYS_GLIBC_ON_MUSL_ERROR_H
#define ASF_LIB_SYS_GLIBC_ON_MUSL_ERROR_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline __attribute__((format(printf, 3, 4))) void error(int status, int number, const char *format,
                                                               ...) {
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "%s: ", program_invocation_name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s%s\n", number ? ": " : "", number ? strerror(number) : "");
    if (status)
        exit(status);
}

#endif
