/* SPDX-License-Identifier: MIT
 *
 * scanf.c - the functions of the scanf family, on streams and strings.  Not in static programs: there libc's
 * functions reach our streams through their jump table.
 */
#include "interfaces/stdio/scan/scanf_engine.h"

#ifndef ASF_TEXT_BY_LIBC

/* Both scan with a copy of the list: libc leaves the caller's list as it was. */
static int scan_list(FILE *f, enum asf_dialect dialect, const char *format, va_list list) {
    va_list ap;
    va_copy(ap, list);
    int r = asf__scan_stream(asf__cios(f), dialect, format, &ap);
    va_end(ap);
    return r;
}

static int scan_text_list(const char *text, enum asf_dialect dialect, const char *format, va_list list) {
    va_list ap;
    va_copy(ap, list);
    int r = asf__scan_text(text, dialect, format, &ap);
    va_end(ap);
    return r;
}

/* The six functions of a dialect. */
#define FAMILY(prefix, dialect)                                                                              \
    EXPORT int prefix##vfscanf(FILE *f, const char *format, va_list ap) {                                    \
        return scan_list(f, dialect, format, ap);                                                            \
    }                                                                                                        \
    EXPORT int prefix##vscanf(const char *format, va_list ap) {                                              \
        return scan_list(stdin, dialect, format, ap);                                                        \
    }                                                                                                        \
    EXPORT int prefix##vsscanf(const char *text, const char *format, va_list ap) {                           \
        return scan_text_list(text, dialect, format, ap);                                                    \
    }                                                                                                        \
    ASF_VARIADIC(prefix##fscanf, (FILE * f, const char *format, ...),                                        \
                 asf__scan_stream(asf__cios(f), dialect, format, &list))                                     \
    ASF_VARIADIC(prefix##scanf, (const char *format, ...),                                                   \
                 asf__scan_stream(asf__cios(stdin), dialect, format, &list))                                 \
    ASF_VARIADIC(prefix##sscanf, (const char *text, const char *format, ...),                                \
                 asf__scan_text(text, dialect, format, &list))

/* <stdio.h> redirects the plain names to the C99 ones unless told not to. */
#define DECLARE(prefix, name)                                                                                \
    int prefix##vfscanf(FILE *, const char *, va_list) name("vfscanf");                                      \
    int prefix##vscanf(const char *, va_list) name("vscanf");                                                \
    int prefix##vsscanf(const char *, const char *, va_list) name("vsscanf");                                \
    int prefix##fscanf(FILE *, const char *, ...) name("fscanf");                                            \
    int prefix##scanf(const char *, ...) name("scanf");                                                      \
    int prefix##sscanf(const char *, const char *, ...) name("sscanf");

#define C99_NAME(name)   __asm__("__isoc99_" name)
#define C23_NAME(name)   __asm__("__isoc23_" name)
#define PLAIN_NAME(name) __asm__(name)

DECLARE(asf__c99_, C99_NAME)
DECLARE(asf__c23_, C23_NAME)
DECLARE(asf__plain_, PLAIN_NAME)

FAMILY(asf__c99_, ASF_SCAN_C99)
FAMILY(asf__c23_, ASF_SCAN_C23)
FAMILY(asf__plain_, ASF_SCAN_GNU)

EXPORT int __vfscanf(FILE *f, const char *format, va_list ap) {
    return scan_list(f, ASF_SCAN_GNU, format, ap);
}

EXPORT int __vsscanf(const char *text, const char *format, va_list ap) {
    return scan_text_list(text, ASF_SCAN_GNU, format, ap);
}

GLIBC_NAME(int _IO_sscanf(const char *, const char *, ...), sscanf)
#endif
