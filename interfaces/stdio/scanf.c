/* SPDX-License-Identifier: MIT
 *
 * scanf.c - the scanf family's names, on streams and strings.  What the engine
 * refuses is done by libc's own code, on our FILE through its window and table
 * and inside the stream's lock.  Not in static programs, where libc's functions
 * come by the table themselves.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/stdio_cios.h"

#ifndef ASF_STATIC
#include <stdarg.h>

#include "interfaces/stdio/scanf_engine.h"
#include "lib/next.h"

typedef int stream_scanner(FILE *, const char *, va_list);
typedef int text_scanner(const char *, const char *, va_list);

/* libc's functions behind one dialect's names. */
struct behind {
    const char *stream_name, *text_name;
    void *stream, *text;
};

static struct behind behind[] = {
    [ASF_SCAN_GNU] = {"vfscanf", "vsscanf", NULL, NULL},
    [ASF_SCAN_C99] = {"__isoc99_vfscanf", "__isoc99_vsscanf", NULL, NULL},
    [ASF_SCAN_C23] = {"__isoc23_vfscanf", "__isoc23_vsscanf", NULL, NULL},
};

/* A newer libc has __isoc23_*; programs built there then find ours. */
static struct behind *libc_behind(enum asf_dialect dialect) {
    bool unknown = dialect == ASF_SCAN_C23 && !dlsym(RTLD_NEXT, behind[dialect].stream_name);
    return &behind[unknown ? ASF_SCAN_C99 : dialect];
}

/* Cancelled in a read this unlocks twice: the read's own handler stands for
 * our lock, libc's for its own. */
static __attribute__((noinline)) int scan_by_libc(struct asf_cios *c, enum asf_dialect dialect,
                                                  const char *format, va_list ap) {
    struct behind *libc = libc_behind(dialect);
    if (!asf__stdio_started)
        asf__stdio_start();
    return ((stream_scanner *)asf__next(&libc->stream, libc->stream_name))(asf__file(c), format, ap);
}

static inline int scan_unlocked(struct asf_cios *c, enum asf_dialect dialect, const char *format,
                                va_list ap) {
    int r = asf__scan_stream(c, dialect, format, ap);
    return asf__likely(r != ASF_SCAN_REFUSED) ? r : scan_by_libc(c, dialect, format, ap);
}

static int scan(struct asf_cios *c, enum asf_dialect dialect, const char *format, va_list ap) {
    if (asf__alone())
        return scan_unlocked(c, dialect, format, ap);
    asf__enter(c);
    asf__count(c);
    int r = scan_unlocked(c, dialect, format, ap);
    asf__leave(c);
    return r;
}

static int scan_text(const char *text, enum asf_dialect dialect, const char *format, va_list ap) {
    int r = asf__scan_text(text, dialect, format, ap);
    if (asf__unlikely(r == ASF_SCAN_REFUSED)) {
        struct behind *libc = libc_behind(dialect);
        r = ((text_scanner *)asf__next(&libc->text, libc->text_name))(text, format, ap);
    }
    return r;
}

#define SCANF_CALL(parameters, call)                                                                         \
    EXPORT int parameters {                                                                                  \
        va_list ap;                                                                                          \
        va_start(ap, format);                                                                                \
        int r = call;                                                                                        \
        va_end(ap);                                                                                          \
        return r;                                                                                            \
    }

/* The six names of a dialect.  The plain ones are spelt by `plain_`: <stdio.h>
 * redirects them to the C99 ones unless told not to. */
#define FAMILY(prefix, dialect)                                                                              \
    EXPORT int prefix##vfscanf(FILE *f, const char *format, va_list ap) {                                    \
        return scan(asf__cios(f), dialect, format, ap);                                                      \
    }                                                                                                        \
    EXPORT int prefix##vscanf(const char *format, va_list ap) {                                              \
        return scan(asf__cios(stdin), dialect, format, ap);                                                  \
    }                                                                                                        \
    EXPORT int prefix##vsscanf(const char *text, const char *format, va_list ap) {                           \
        return scan_text(text, dialect, format, ap);                                                         \
    }                                                                                                        \
    SCANF_CALL(prefix##fscanf(FILE *f, const char *format, ...), scan(asf__cios(f), dialect, format, ap))    \
    SCANF_CALL(prefix##scanf(const char *format, ...), scan(asf__cios(stdin), dialect, format, ap))          \
    SCANF_CALL(prefix##sscanf(const char *text, const char *format, ...),                                    \
               scan_text(text, dialect, format, ap))

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
    return scan(asf__cios(f), ASF_SCAN_GNU, format, ap);
}

EXPORT int __vsscanf(const char *text, const char *format, va_list ap) {
    return scan_text(text, ASF_SCAN_GNU, format, ap);
}

EXPORT int _IO_vfscanf(FILE *f, const char *format, va_list ap, int *error) {
    int r = scan(asf__cios(f), ASF_SCAN_GNU, format, ap);
    if (error)
        *error = r < 0;
    return r;
}

int _IO_sscanf(const char *, const char *, ...);
SCANF_CALL(_IO_sscanf(const char *text, const char *format, ...), scan_text(text, ASF_SCAN_GNU, format, ap))
#endif
