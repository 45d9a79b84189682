/* SPDX-License-Identifier: MIT
 *
 * print.c - the printf family on streams, formatted straight into the current
 * buffer: the usual conversions by lib/format.c, everything else by libc's
 * vsnprintf.  What does not fit is formatted once more, into memory of its
 * size.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <limits.h>
#include <printf.h>
#include <stdarg.h>
#include <stdlib.h>

#include "lib/format.h"
#include "lib/next.h"
#include "lib/syscalls.h"

extern int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);

#ifndef ASF_STATIC
extern int __vfprintf_chk(FILE *, int, const char *, va_list);
#endif

enum { SMALL = 1024 };

static int format_into(char *p, size_t room, int fortify, const char *format, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = fortify > 0 ? __vsnprintf_chk(p, room, fortify, room, format, again)
                        : vsnprintf(p, room, format, again);
    va_end(again);
    return n;
}

/* libc's vfprintf leaves on the stream what it made before an error. */
static int keep_prefix(struct asf_cios *c, const char *made) {
    int saved = errno;
    asf__put_bytes(c, made, strlen(made));
    errno = saved;
    return -1;
}

/* Long output, and tiny buffers: how much of it goes out when depends on the
 * pieces in which libc's formatter hands it over, so libc's does it. */
static bool piecewise(const struct asf_cios *c, long n) {
#ifdef ASF_STATIC
    (void)c, (void)n; /* where libc's cannot be reached nothing is held back */
    return false;
#else
    return !(c->flags & ASF_UNBUFFERED) && (c->block < 128 || n >= (long)c->block);
#endif
}

static int format_piecewise(struct asf_cios *c, int fortify, const char *format, va_list ap) {
#ifdef ASF_STATIC
    (void)c, (void)fortify, (void)format, (void)ap;
    return -1;
#else
    FILE *f = asf__file(c);
    return fortify > 0 ? ASF_NEXT(__vfprintf_chk)(f, fortify, format, ap) : ASF_NEXT(vfprintf)(f, format, ap);
#endif
}

static int format_apart(struct asf_cios *c, int fortify, const char *format, va_list ap) {
    char small[SMALL], *p = small;
    small[0] = '\0';
    int n = (int)asf__format(small, sizeof small - 1, format, ap);
    if (n < 0)
        n = format_into(small, sizeof small, fortify, format, ap);
    if (n < 0)
        return keep_prefix(c, small);
    if (asf__ours(c) && piecewise(c, n))
        return format_piecewise(c, fortify, format, ap);
    if (n >= SMALL) {
        p = malloc((size_t)n + 1);
        if (!p)
            return -1;
        n = format_into(p, (size_t)n + 1, fortify, format, ap);
    }
    size_t done = n > 0 ? asf__put_bytes(c, p, (size_t)n) : 0;
    if (p != small)
        free(p);
    return n >= 0 && done == (size_t)n ? n : -1;
}

/* Formats into the window; -1 when it does not fit there. */
static int format_in_place(struct asf_cios *c, int fortify, const char *format, va_list ap) {
    size_t room = asf__room(c);
    if (room < 64 || !asf__ours(c))
        return -1;
    long n = asf__format(c->write_ptr, room, format, ap);
    if (n < 0)
        n = format_into(c->write_ptr, room, fortify, format, ap);
    if (n < 0 || (size_t)n >= room || piecewise(c, n))
        return -1;
    c->write_ptr += n;
    return (int)n;
}

static int format_on(struct asf_cios *c, int fortify, const char *format, va_list ap) {
    if (!asf__bytes(c))
        return -1;
    if (c->flags & ASF_NO_WRITES)
        return asf__error(c, -EBADF);
    if (asf__ours(c) && asf__choose(c) > 0)
        errno = EBADF;
    int n = format_in_place(c, fortify, format, ap);
    return n >= 0 ? n : format_apart(c, fortify, format, ap);
}

int asf__vfprintf(struct asf_cios *c, const char *format, va_list ap, int fortify) {
    asf__enter(c);
    asf__count(c);
    int r = format_on(c, fortify, format, ap);
    asf__leave(c);
    return r;
}

EXPORT int vfprintf(FILE *f, const char *format, va_list ap) {
    return asf__vfprintf(asf__cios(f), format, ap, 0);
}

EXPORT int vprintf(const char *format, va_list ap) {
    return asf__vfprintf(asf__cios(stdout), format, ap, 0);
}

EXPORT int __vfprintf_chk(FILE *f, int flag, const char *format, va_list ap) {
    return asf__vfprintf(asf__cios(f), format, ap, flag);
}

EXPORT int __vprintf_chk(int flag, const char *format, va_list ap) {
    return asf__vfprintf(asf__cios(stdout), format, ap, flag);
}

/* The variadic forms differ in their stream and level of checking alone. */
#define VARIADIC(name, params, stream, level)                                                                \
    EXPORT int name params {                                                                                 \
        va_list ap;                                                                                          \
        va_start(ap, format);                                                                                \
        int r = asf__vfprintf(asf__cios(stream), format, ap, level);                                         \
        va_end(ap);                                                                                          \
        return r;                                                                                            \
    }

VARIADIC(fprintf, (FILE * f, const char *format, ...), f, 0)
VARIADIC(printf, (const char *format, ...), stdout, 0)
VARIADIC(__fprintf_chk, (FILE * f, int flag, const char *format, ...), f, flag)
VARIADIC(__printf_chk, (int flag, const char *format, ...), stdout, flag)

int _IO_fprintf(FILE *, const char *, ...) ALIAS(fprintf);
int _IO_printf(const char *, ...) ALIAS(printf);

/* --- to a descriptor -------------------------------------------------------------- */

static int print_fd(int fd, int fortify, const char *format, va_list ap) {
    char small[SMALL], *p = small;
    int n = format_into(small, sizeof small, fortify, format, ap);
    if (n >= SMALL) {
        p = malloc((size_t)n + 1);
        if (!p)
            return -1;
        n = format_into(p, (size_t)n + 1, fortify, format, ap);
    }
    asf__settle_output();
    int rc = n > 0 ? asf__write_all(fd, p, (size_t)n) : 0;
    if (rc < 0) {
        errno = -rc;
        n = -1;
    }
    if (p != small)
        free(p);
    return n;
}

EXPORT int vdprintf(int fd, const char *format, va_list ap) {
    return print_fd(fd, 0, format, ap);
}

EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list ap) {
    return print_fd(fd, flag, format, ap);
}

#define VARIADIC_FD(name, params, level)                                                                     \
    EXPORT int name params {                                                                                 \
        va_list ap;                                                                                          \
        va_start(ap, format);                                                                                \
        int r = print_fd(fd, level, format, ap);                                                             \
        va_end(ap);                                                                                          \
        return r;                                                                                            \
    }

VARIADIC_FD(dprintf, (int fd, const char *format, ...), 0)
VARIADIC_FD(__dprintf_chk, (int fd, int flag, const char *format, ...), flag)

/* --- conversions of the program's own -------------------------------------------- */

#ifndef ASF_STATIC
EXPORT int register_printf_specifier(int spec, printf_function *print, printf_arginfo_size_function *info) {
    asf__format_custom = true;
    return ASF_NEXT(register_printf_specifier)(spec, print, info);
}

EXPORT int register_printf_modifier(const wchar_t *text) {
    asf__format_custom = true;
    return ASF_NEXT(register_printf_modifier)(text);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
EXPORT int register_printf_function(int spec, printf_function *print, printf_arginfo_function *info) {
    asf__format_custom = true;
    return ASF_NEXT(register_printf_function)(spec, print, info);
}
#endif
