/* SPDX-License-Identifier: MIT
 *
 * scanf.c - the scanf family on streams: libc's own code, working on our FILE
 * through its window and table, inside the stream's lock.  Not in static
 * programs, where libc's functions come by the table themselves.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/stdio_cios.h"

#ifndef ASF_STATIC
#include <stdarg.h>

#include "lib/next.h"

typedef int scanner(FILE *, const char *, va_list);
extern scanner __isoc99_vfscanf, __isoc23_vfscanf;

static int scan(struct asf_cios *c, scanner *libc, const char *format, va_list ap) {
    int r;
    asf__enter(c);
    asf__count(c);
    if (!asf__stdio_started)
        asf__stdio_start();
    if (__libc_single_threaded) {
        r = libc(asf__file(c), format, ap);
    } else {
        pthread_cleanup_push(asf__cancelled, c);
        r = libc(asf__file(c), format, ap);
        pthread_cleanup_pop(0);
    }
    asf__leave(c);
    return r;
}

/* A newer libc has __isoc23_*; programs built there then find ours. */
static scanner *isoc23(void) {
    static void *found;
    if (!found && !(found = dlsym(RTLD_NEXT, "__isoc23_vfscanf")))
        found = dlsym(RTLD_NEXT, "__isoc99_vfscanf");
    return (scanner *)found;
}

#define FAMILY(prefix, libc)                                                                                 \
    EXPORT int prefix##vfscanf(FILE *f, const char *format, va_list ap) {                                    \
        return scan(asf__cios(f), libc, format, ap);                                                         \
    }                                                                                                        \
    EXPORT int prefix##vscanf(const char *format, va_list ap) {                                              \
        return scan(asf__cios(stdin), libc, format, ap);                                                     \
    }                                                                                                        \
    EXPORT int prefix##fscanf(FILE *f, const char *format, ...) {                                            \
        va_list ap;                                                                                          \
        va_start(ap, format);                                                                                \
        int r = scan(asf__cios(f), libc, format, ap);                                                        \
        va_end(ap);                                                                                          \
        return r;                                                                                            \
    }                                                                                                        \
    EXPORT int prefix##scanf(const char *format, ...) {                                                      \
        va_list ap;                                                                                          \
        va_start(ap, format);                                                                                \
        int r = scan(asf__cios(stdin), libc, format, ap);                                                    \
        va_end(ap);                                                                                          \
        return r;                                                                                            \
    }

int __isoc99_vscanf(const char *, va_list);
int __isoc99_fscanf(FILE *, const char *, ...);
int __isoc99_scanf(const char *, ...);
int __isoc23_vscanf(const char *, va_list);
int __isoc23_fscanf(FILE *, const char *, ...);
int __isoc23_scanf(const char *, ...);

FAMILY(__isoc99_, ASF_NEXT(__isoc99_vfscanf))
FAMILY(__isoc23_, isoc23())

/* The plain names: <stdio.h> redirects them to the C99 ones unless told not to. */
extern scanner asf__plain_vfscanf __asm__("vfscanf");
EXPORT int asf__plain_vfscanf(FILE *f, const char *format, va_list ap) {
    static void *libc;
    return scan(asf__cios(f), (scanner *)asf__next(&libc, "vfscanf"), format, ap);
}

int asf__plain_vscanf(const char *, va_list) __asm__("vscanf");
EXPORT int asf__plain_vscanf(const char *format, va_list ap) {
    return asf__plain_vfscanf(stdin, format, ap);
}

int asf__plain_fscanf(FILE *, const char *, ...) __asm__("fscanf");
EXPORT int asf__plain_fscanf(FILE *f, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    int r = asf__plain_vfscanf(f, format, ap);
    va_end(ap);
    return r;
}

int asf__plain_scanf(const char *, ...) __asm__("scanf");
EXPORT int asf__plain_scanf(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    int r = asf__plain_vfscanf(stdin, format, ap);
    va_end(ap);
    return r;
}
#endif
