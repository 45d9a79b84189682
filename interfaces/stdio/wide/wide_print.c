/* SPDX-License-Identifier: MIT
 *
 * wide_print.c - fwprintf, swprintf and their kin: formatted by lib/text/format_wide.c
 * straight into the buffer of characters, or the program's memory.  What that
 * leaves, and streams whose buffer would be written meanwhile, are libc's own
 * code's, which works on our FILE through its window and table.
 *
 * Not in static programs, where libc's functions come by the table themselves.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/wide/wide.h"

#ifndef ASF_STATIC
#include <limits.h>
#include <stdarg.h>

#include "lib/text/format_spec.h"

extern int __vfwprintf_chk(FILE *, int, const wchar_t *, va_list);
extern int __vswprintf_chk(wchar_t *, size_t, int, size_t, const wchar_t *, va_list);
extern void __chk_fail(void) __attribute__((noreturn));

/* The level of checking goes with the arguments of libc's checked form. */
static int print_by_libc(struct asf_cios *c, int fortify, const wchar_t *format, va_list ap) {
    asf__show_lock(c);
    return fortify > 0 ? ASF_NEXT(__vfwprintf_chk)(asf__file(c), fortify, format, ap)
                       : ASF_NEXT(vfwprintf)(asf__file(c), format, ap);
}

/* --- on streams ---------------------------------------------------------------- */

/* Characters that there is room for; none when something else is to be done
 * before or behind them. */
static inline size_t room_in_window(const struct asf_cios *c, const wchar_t *format) {
    const struct asf_wide *w = &c->wide;
    if (asf__unlikely(!asf__ours_wide(c) || !format || c->flags & (ASF_NO_WRITES | ASF_UNBUFFERED)))
        return 0;
    return asf__is_putting(c) && w->write_base ? (size_t)(w->buf_end - w->write_ptr) : 0;
}

/* A line-buffered stream gives up a line, and what is behind it, with the piece
 * that has the newline: the pieces are libc's. */
static inline bool line_by_libc(const struct asf_cios *c, size_t n,
                                const struct asf__wide_format_rest *rest) {
    return c->flags & ASF_LINE_BUF && (rest->format || wmemchr(c->wide.write_ptr, L'\n', n));
}

static __attribute__((noinline)) int print_rest(struct asf_cios *c, size_t n, int fortify,
                                                struct asf__wide_format_rest *rest, va_list ap) {
    int more = print_by_libc(c, fortify, rest->format, rest->ap);
    asf__go_to(ap, asf__place_in(rest->ap));
    if (more < 0)
        return -1;
    if ((size_t)more + n <= INT_MAX)
        return more + (int)n;
    errno = EOVERFLOW;
    return -1;
}

static inline int print_on(struct asf_cios *c, int fortify, const wchar_t *format, va_list ap) {
    struct asf__wide_format_rest rest;
    struct asf__place first = asf__place_in(ap);
    size_t room = room_in_window(c, format);
    if (asf__unlikely(room == 0))
        return print_by_libc(c, fortify, format, ap);
    size_t n = asf__format_wide(c->wide.write_ptr, room, format, ap, &rest);
    if (asf__unlikely(line_by_libc(c, n, &rest))) {
        asf__go_to(ap, first);
        return print_by_libc(c, fortify, format, ap);
    }
    c->wide.write_ptr += n;
    return asf__unlikely(rest.format) ? print_rest(c, n, fortify, &rest, ap) : (int)n;
}

static __attribute__((noinline)) int print_locked(struct asf_cios *c, int fortify, const wchar_t *format,
                                                  va_list ap) {
    asf__enter(c);
    asf__count(c);
    if (!asf__stdio_started)
        asf__stdio_start();
    int r = print_on(c, fortify, format, ap);
    asf__leave(c);
    return r;
}

static int print(struct asf_cios *c, int fortify, const wchar_t *format, va_list ap) {
    if (asf__alone() && asf__likely(asf__stdio_started))
        return print_on(c, fortify, format, ap);
    return print_locked(c, fortify, format, ap);
}

EXPORT int vfwprintf(FILE *f, const wchar_t *format, va_list ap) {
    return print(asf__cios(f), 0, format, ap);
}

EXPORT int vwprintf(const wchar_t *format, va_list ap) {
    return print(asf__cios(stdout), 0, format, ap);
}

EXPORT int __vfwprintf_chk(FILE *f, int flag, const wchar_t *format, va_list ap) {
    return print(asf__cios(f), flag, format, ap);
}

int __vwprintf_chk(int, const wchar_t *, va_list);
EXPORT int __vwprintf_chk(int flag, const wchar_t *format, va_list ap) {
    return print(asf__cios(stdout), flag, format, ap);
}

ASF_VARIADIC(fwprintf, (FILE * f, const wchar_t *format, ...), print(asf__cios(f), 0, format, ap))
ASF_VARIADIC(wprintf, (const wchar_t *format, ...), print(asf__cios(stdout), 0, format, ap))
ASF_VARIADIC(__fwprintf_chk, (FILE * f, int flag, const wchar_t *format, ...),
             print(asf__cios(f), flag, format, ap))
ASF_VARIADIC(__wprintf_chk, (int flag, const wchar_t *format, ...),
             print(asf__cios(stdout), flag, format, ap))

/* --- into memory ---------------------------------------------------------------- */

/* Begun anew by libc where something is left, for instance because it does not
 * fit, which is an error. */
static int print_string(wchar_t *s, size_t n, int fortify, const wchar_t *format, va_list ap) {
    struct asf__wide_format_rest rest;
    struct asf__place first = asf__place_in(ap);
    if (asf__likely(n > 0 && format)) {
        s[0] = L'\0'; /* as glibc: a text that is its own argument is empty */
        size_t made = asf__format_wide(s, n - 1, format, ap, &rest);
        if (asf__likely(!rest.format && made <= INT_MAX)) {
            s[made] = L'\0';
            return (int)made;
        }
        asf__go_to(ap, first);
    }
    return fortify > 0 ? ASF_NEXT(__vswprintf_chk)(s, n, fortify, n, format, ap)
                       : ASF_NEXT(vswprintf)(s, n, format, ap);
}

static int print_checked(wchar_t *s, size_t n, int fortify, size_t size, const wchar_t *format, va_list ap) {
    if (size < n)
        __chk_fail();
    return print_string(s, n, fortify, format, ap);
}

EXPORT int vswprintf(wchar_t *s, size_t n, const wchar_t *format, va_list ap) {
    return print_string(s, n, 0, format, ap);
}

EXPORT int __vswprintf_chk(wchar_t *s, size_t n, int flag, size_t size, const wchar_t *format, va_list ap) {
    return print_checked(s, n, flag, size, format, ap);
}

ASF_VARIADIC(swprintf, (wchar_t * s, size_t n, const wchar_t *format, ...), print_string(s, n, 0, format, ap))
ASF_VARIADIC(__swprintf_chk, (wchar_t * s, size_t n, int flag, size_t size, const wchar_t *format, ...),
             print_checked(s, n, flag, size, format, ap))
#endif
