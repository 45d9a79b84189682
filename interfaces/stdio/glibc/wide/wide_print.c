/* SPDX-License-Identifier: MIT
 *
 * wide_print.c - fwprintf, swprintf and their variants: lib/text/format_wide.c formats directly into the
 * buffer of characters or the program's memory.  A chunk that does not fit is put with the text before it.
 * libc's own code serves unbuffered streams, and formats that the formatter leaves; it works on our FILE
 * through its window and jump table.
 *
 * Not in static programs: there libc's functions reach our streams through the jump table.
 */
#include "interfaces/stdio/stdio_cios.h"

#ifndef ASF_STATIC
#include <limits.h>
#include <stdarg.h>

#include "interfaces/stdio/print/print.h"
#include "lib/text/format_spec.h"

extern int __vfwprintf_chk(FILE *, int, const wchar_t *, va_list);
extern int __vswprintf_chk(wchar_t *, size_t, int, size_t, const wchar_t *, va_list);
extern void __chk_fail(void) __attribute__((noreturn));

/* fortify: the level of checking, which libc's checked form takes. */
static int print_by_libc(struct asf_cios *c, int fortify, const wchar_t *format, asf__arguments ap) {
    asf__remove_bias(c);
    return fortify > 0 ? ASF_NEXT(__vfwprintf_chk)(asf__file(c), fortify, format, asf__list(ap))
                       : ASF_NEXT(vfwprintf)(asf__file(c), format, asf__list(ap));
}

/* --- on streams ---------------------------------------------------------------- */

struct stream_output {
    struct asf__wide_output o; /* the first member, since `full` gets its address */
    struct asf_cios *c;
};

/* The end of the room for text.  A line-buffered stream has none, so that it is given each chunk: it puts
 * a line, and the text after it, with the chunk that has the newline. */
static inline wchar_t *end_of_window(const struct asf_cios *c) {
    const struct asf_wide *w = asf__wide(c);
    bool room = asf__likely(asf__is_putting(c) && w->write_base && !(c->flags & ASF_LINE_BUF));
    return room ? w->buf_end : w->write_ptr;
}

static bool put_past_window(struct asf__wide_output *o, const wchar_t *text, size_t n) {
    struct asf_cios *c = ((struct stream_output *)o)->c;
    asf__wide(c)->write_ptr = o->p;
    bool put = asf__jump(c)->xsputn(c, text, n) == n;
    o->p = asf__wide(c)->write_ptr;
    o->end = end_of_window(c);
    return put;
}

static inline int print_to_stream(struct asf_cios *c, int fortify, const wchar_t *format, asf__arguments ap) {
    if (asf__unlikely(!asf__ours_wide(c) || !format || c->flags & (ASF_NO_WRITES | ASF_UNBUFFERED)))
        return print_by_libc(c, fortify, format, ap);
    wchar_t *p = asf__wide(c)->write_ptr;
    struct stream_output s = {.o = {.p = p, .end = end_of_window(c), .begin = p}, c};
    s.o.full = put_past_window;
    if (asf__unlikely(p == s.o.end && ASF_LIBC(printf_fills_buffer)))
        return print_by_libc(c, fortify, format, ap);
    struct asf__place first = asf__place_in(ap);
    const wchar_t *left = asf__format_wide(&s.o, format, ap);
    if (asf__unlikely(left) && s.o.before == 0 && ASF_LIBC(printf_failing)) {
        asf__go_to(ap, first); /* libc makes the whole call: see asf__must_repeat_call */
        return print_by_libc(c, fortify, format, ap);
    }
    asf__wide(c)->write_ptr = s.o.p;
    size_t n = asf__wide_made(&s.o);
    if (asf__unlikely(s.o.failed && n <= INT_MAX))
        return -1;
    return asf__print_result(false, n, asf__unlikely(left) ? print_by_libc(c, fortify, left, ap) : 0);
}

static __attribute__((noinline)) int print_locked(struct asf_cios *c, int fortify, const wchar_t *format,
                                                  asf__arguments ap) {
    asf__enter(c);
    asf__count(c);
    int r = print_to_stream(c, fortify, format, ap);
    asf__leave(c);
    return r;
}

static int print_stream(struct asf_cios *c, int fortify, const wchar_t *format, asf__arguments ap) {
    if (asf__alone())
        return print_to_stream(c, fortify, format, ap);
    return print_locked(c, fortify, format, ap);
}

EXPORT int vfwprintf(FILE *f, const wchar_t *format, va_list ap) {
    return print_stream(asf__cios(f), 0, format, ASF_ARGUMENTS(ap));
}

EXPORT int vwprintf(const wchar_t *format, va_list ap) {
    return print_stream(asf__cios(stdout), 0, format, ASF_ARGUMENTS(ap));
}

EXPORT int __vfwprintf_chk(FILE *f, int flag, const wchar_t *format, va_list ap) {
    return print_stream(asf__cios(f), flag, format, ASF_ARGUMENTS(ap));
}

int __vwprintf_chk(int, const wchar_t *, va_list);
EXPORT int __vwprintf_chk(int flag, const wchar_t *format, va_list ap) {
    return print_stream(asf__cios(stdout), flag, format, ASF_ARGUMENTS(ap));
}

ASF_VARIADIC(fwprintf, (FILE * f, const wchar_t *format, ...), print_stream(asf__cios(f), 0, format, ap))
ASF_VARIADIC(wprintf, (const wchar_t *format, ...), print_stream(asf__cios(stdout), 0, format, ap))
ASF_VARIADIC(__fwprintf_chk, (FILE * f, int flag, const wchar_t *format, ...),
             print_stream(asf__cios(f), flag, format, ap))
ASF_VARIADIC(__wprintf_chk, (int flag, const wchar_t *format, ...),
             print_stream(asf__cios(stdout), flag, format, ap))

/* --- into memory ---------------------------------------------------------------- */

/* If the formatter stops before the end of the format, libc makes the whole call.  The formatter also stops
 * if the text does not fit: libc then reports the error. */
static int print_string(wchar_t *s, size_t n, int fortify, const wchar_t *format, asf__arguments ap) {
    struct asf__place first = asf__place_in(ap);
    if (asf__likely(n > 0 && format)) {
        size_t most = ~(size_t)s / sizeof *s, room = n - 1 < most ? n - 1 : most; /* in the address space */
        struct asf__wide_output o = {.p = s, .end = s + room, .begin = s};
        const wchar_t *left = asf__format_wide(&o, format, ap);
        size_t made = asf__wide_made(&o);
        if (asf__likely(!left && made <= INT_MAX)) {
            s[made] = L'\0';
            return (int)made;
        }
        asf__go_to(ap, first);
    }
    return fortify > 0 ? ASF_NEXT(__vswprintf_chk)(s, n, fortify, n, format, asf__list(ap))
                       : ASF_NEXT(vswprintf)(s, n, format, asf__list(ap));
}

static int print_checked(wchar_t *s, size_t n, int fortify, size_t size, const wchar_t *format,
                         asf__arguments ap) {
    if (size < n)
        __chk_fail();
    return print_string(s, n, fortify, format, ap);
}

EXPORT int vswprintf(wchar_t *s, size_t n, const wchar_t *format, va_list ap) {
    return print_string(s, n, 0, format, ASF_ARGUMENTS(ap));
}

EXPORT int __vswprintf_chk(wchar_t *s, size_t n, int flag, size_t size, const wchar_t *format, va_list ap) {
    return print_checked(s, n, flag, size, format, ASF_ARGUMENTS(ap));
}

ASF_VARIADIC(swprintf, (wchar_t * s, size_t n, const wchar_t *format, ...), print_string(s, n, 0, format, ap))
ASF_VARIADIC(__swprintf_chk, (wchar_t * s, size_t n, int flag, size_t size, const wchar_t *format, ...),
             print_checked(s, n, flag, size, format, ap))
#endif
