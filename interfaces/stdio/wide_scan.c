/* SPDX-License-Identifier: MIT
 *
 * wide_scan.c - fwscanf and its kin: libc's own code, working on our FILE
 * through its windows and table, inside the stream's lock.  Not in
 * static programs, where libc's functions come by the table themselves; nor is
 * fwide, which takes libc's lock.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/wide.h"

#ifndef ASF_STATIC
#include <stdarg.h>

#include "lib/cleanup.h"

typedef int formatter(FILE *, const wchar_t *, va_list);
extern formatter __isoc99_vfwscanf, __isoc23_vfwscanf;

static int on_stream(struct asf_cios *c, formatter *libc, const wchar_t *format, va_list ap) {
    int r;
    asf__enter(c);
    asf__count(c);
    if (!asf__stdio_started)
        asf__stdio_start();
    asf__show_lock(c);
    if (__libc_single_threaded) {
        r = libc(asf__file(c), format, ap);
    } else {
        r = ASF_CLEANUP(asf__cancelled, c, libc(asf__file(c), format, ap));
    }
    asf__leave(c);
    return r;
}

EXPORT int fwide(FILE *f, int mode) {
    struct asf_cios *c = asf__cios(f);
    if (c->orientation != 0)
        return c->orientation;
    if (!asf__stdio_started)
        asf__stdio_start();
    asf__enter(c);
    if (asf__ours(c))
        asf__libc_orient(c);
    int r = mode == 0 ? c->orientation : asf__orient(f, mode);
    asf__leave(c);
    return r;
}

/* --- scanning ------------------------------------------------------------------ */

/* A newer libc has __isoc23_*; programs built there then find ours. */
static formatter *isoc23(void) {
    static void *found;
    if (!found && !(found = dlsym(RTLD_NEXT, "__isoc23_vfwscanf")))
        found = dlsym(RTLD_NEXT, "__isoc99_vfwscanf");
    return (formatter *)found;
}

static formatter *plain(void) {
    static void *found;
    return (formatter *)asf__next(&found, "vfwscanf");
}

/* The plain names: <wchar.h> redirects them to the C99 ones unless told not to. */
#define FAMILY(prefix, label, libc)                                                                          \
    int prefix##vfwscanf(FILE *, const wchar_t *, va_list) __asm__(label "vfwscanf");                        \
    int prefix##vwscanf(const wchar_t *, va_list) __asm__(label "vwscanf");                                  \
    int prefix##fwscanf(FILE *, const wchar_t *, ...) __asm__(label "fwscanf");                              \
    int prefix##wscanf(const wchar_t *, ...) __asm__(label "wscanf");                                        \
    EXPORT int prefix##vfwscanf(FILE *f, const wchar_t *format, va_list ap) {                                \
        return on_stream(asf__cios(f), libc, format, ap);                                                    \
    }                                                                                                        \
    EXPORT int prefix##vwscanf(const wchar_t *format, va_list ap) {                                          \
        return on_stream(asf__cios(stdin), libc, format, ap);                                                \
    }                                                                                                        \
    ASF_VARIADIC(prefix##fwscanf, (FILE * f, const wchar_t *format, ...),                                    \
                 on_stream(asf__cios(f), libc, format, ap))                                                  \
    ASF_VARIADIC(prefix##wscanf, (const wchar_t *format, ...), on_stream(asf__cios(stdin), libc, format, ap))

FAMILY(asf__plain_, "", plain())
FAMILY(asf__isoc99_, "__isoc99_", ASF_NEXT(__isoc99_vfwscanf))
FAMILY(asf__isoc23_, "__isoc23_", isoc23())
#endif
