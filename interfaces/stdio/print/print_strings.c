/* SPDX-License-Identifier: MIT
 *
 * print_strings.c - the printf family into memory, by lib/text/format.c, and by libc for the formats that
 * format.c refuses.  No stream is made and no lock is taken; only asprintf allocates memory.
 *
 * A static program uses glibc's functions instead: other objects of glibc's libc.a already link them.
 */
#include "interfaces/stdio/print/print.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/format_plain.h"

#ifndef ASF_TEXT_BY_LIBC

/* The room that sprintf assumes. */
#define UNLIMITED ((size_t)-2)

/* libc formats the rest after the first n bytes; if these do not fit, libc only counts its own bytes. */
static __attribute__((noinline)) int print_rest_by_libc(char *p, size_t room, size_t n, int fortify, bool all,
                                                        const char *left, asf__arguments ap) {
    char none[1];
    if (n <= room)
        return asf__libc_print_text(p + n, room - n, fortify, all, left, ap);
    p[room] = '\0';
    return asf__libc_print_text(none, 0, fortify, all, left, ap);
}

static __attribute__((noinline)) int print_text_rest(char *p, size_t room, struct asf__format_begun begun,
                                                     struct asf__place first, int fortify, const char *format,
                                                     asf__arguments ap) {
    size_t reach = ~(size_t)p; /* up to the end of the address space */
    struct asf__output o = {
        .p = begun.p, .end = (char *)((size_t)p + (room < reach ? room : reach)), .begin = p};
    o.counts = fortify <= 0;
    const char *left = asf__format_on(&o, begun.f, format, ap, first);
    size_t n = asf__made(&o);
    int more = 0;
    if (asf__unlikely(left))
        more = print_rest_by_libc(p, room, n, fortify, left == format, left, ap);
    else
        p[n < room ? n : room] = '\0';
    return asf__print_result(o.failed, n, more);
}

typedef int print_rest_function(char *p, size_t room, struct asf__format_begun begun, struct asf__place first,
                                int fortify, const char *format, asf__arguments ap);

/* Formats the plain beginning of the format; `on` formats the rest. */
static inline __attribute__((always_inline)) int print_plain_first(char *p, size_t room, int fortify,
                                                                   const char *format, asf__arguments ap,
                                                                   print_rest_function *on) {
    struct asf__place first = asf__place_in(ap);
    struct asf__format_begun begun = {p, format};
    if (asf__format_begins(format))
        begun = asf__format_plain(p, p + (room < INT_MAX ? room : INT_MAX), format, ap);
    if (asf__unlikely(!format || *begun.f != '\0'))
        return on(p, room, begun, first, fortify, format, ap);
    *begun.p = '\0';
    return (int)(begun.p - p);
}

static int print_unlimited(char *p, size_t room, int fortify, const char *format, asf__arguments ap) {
    return print_plain_first(p, room, fortify, format, ap, print_text_rest);
}

static inline int print_bounded(char *s, size_t n, int fortify, const char *format, asf__arguments ap) {
    char none[1];
    if (asf__unlikely(n == 0)) {
        s = none;
        n = 1;
    }
    s[0] = '\0'; /* as in glibc: if s is an argument, too, it is empty */
    return print_plain_first(s, n - 1, fortify, format, ap, print_text_rest);
}

/* Ends the process if the text is longer than the room.  After another error libc makes the call again,
 * since it may find the text too long before it meets the error. */
static __attribute__((noinline)) int print_checked_rest(char *p, size_t room, struct asf__format_begun begun,
                                                        struct asf__place first, int fortify,
                                                        const char *format, asf__arguments ap) {
    int before = errno, made = print_text_rest(p, room, begun, first, fortify, format, ap);
    if (made >= 0 && (size_t)made > room)
        __chk_fail();
    if (made >= 0 || room >= UNLIMITED)
        return made;
    errno = before;
    asf__go_to(ap, first);
    return asf__libc_print_checked(p, fortify, room + 1, format, ap);
}

static int print_checked(char *s, size_t n, int fortify, const char *format, asf__arguments ap) {
    if (n == 0)
        __chk_fail();
    s[0] = '\0';
    return print_plain_first(s, n > SSIZE_MAX ? UNLIMITED : n - 1, fortify, format, ap, print_checked_rest);
}

/* asprintf's memory: at first an array, into which most texts fit, then from malloc. */
struct allocated_output {
    struct asf__output o; /* the first member, since `full` gets its address */
    char *base;
    char array[512];
};

static char *resize_array(struct allocated_output *a, size_t size) {
    if (a->base != a->array)
        return realloc(a->base, size);
    char *p = malloc(size);
    if (p)
        memcpy(p, a->array, (size_t)(a->o.p - a->array));
    return p;
}

static bool grow_array(struct asf__output *o, const char *text, size_t n) {
    struct allocated_output *a = (struct allocated_output *)o;
    size_t before = (size_t)(o->p - a->base), size = 2 * (before + n);
    char *p = resize_array(a, size);
    if (!p)
        return false;
    memcpy(p + before, text, n);
    a->base = p;
    o->p = p + before + n;
    o->end = p + size;
    return true;
}

/* Appends the text that libc makes of the rest of the format. */
static bool append_rest_by_libc(struct allocated_output *a, int fortify, const char *left,
                                asf__arguments ap) {
    char *text;
    int n = asf__libc_print_allocated(&text, fortify, left, ap);
    if (n < 0)
        return false;
    asf__put(&a->o, text, (size_t)n);
    free(text);
    return !a->o.failed;
}

int asf__print_allocated(char **result, int fortify, const char *format, asf__arguments ap) {
    struct allocated_output a;
    a.o = (struct asf__output){.p = a.array, .end = a.array + sizeof a.array, .begin = a.array};
    a.o.full = grow_array;
    a.o.counts = fortify <= 0;
    a.base = a.array;
    struct asf__place first = asf__place_in(ap);
    const char *left = asf__format(&a.o, format, ap);
    if (left && (left == format || ASF_LIBC(skips_padding))) {
        if (a.base != a.array)
            free(a.base);
        asf__go_to(ap, first);
        return asf__libc_print_allocated(result, fortify, format, ap);
    }
    bool whole = !left || append_rest_by_libc(&a, fortify, left, ap);
    int n = asf__print_result(a.o.failed, asf__made(&a.o), whole ? 0 : -1);
    char *p = n >= 0 ? resize_array(&a, (size_t)n + 1) : NULL;
    if (!p) {
        if (a.base != a.array)
            free(a.base);
        *result = NULL;
        return -1;
    }
    p[n] = '\0';
    *result = p;
    return n;
}

EXPORT int vsnprintf(char *s, size_t n, const char *format, va_list ap) {
    return print_bounded(s, n, 0, format, ASF_ARGUMENTS(ap));
}

EXPORT int __vsnprintf_chk(char *s, size_t n, int flag, size_t size, const char *format, va_list ap) {
    if (size < n)
        __chk_fail();
    return print_bounded(s, n, flag, format, ASF_ARGUMENTS(ap));
}

EXPORT int vsprintf(char *s, const char *format, va_list ap) {
    return print_unlimited(s, UNLIMITED, 0, format, ASF_ARGUMENTS(ap));
}

EXPORT int __vsprintf_chk(char *s, int flag, size_t size, const char *format, va_list ap) {
    return print_checked(s, size, flag, format, ASF_ARGUMENTS(ap));
}

EXPORT int vasprintf(char **result, const char *format, va_list ap) {
    return asf__print_allocated(result, 0, format, ASF_ARGUMENTS(ap));
}

EXPORT int __vasprintf_chk(char **result, int flag, const char *format, va_list ap) {
    return asf__print_allocated(result, flag, format, ASF_ARGUMENTS(ap));
}

ASF_VARIADIC(snprintf, (char *s, size_t n, const char *format, ...), print_bounded(s, n, 0, format, ap))
ASF_VARIADIC(__snprintf_chk, (char *s, size_t n, int flag, size_t size, const char *format, ...),
             __vsnprintf_chk(s, n, flag, size, format, asf__list(ap)))
ASF_VARIADIC(sprintf, (char *s, const char *format, ...), print_unlimited(s, UNLIMITED, 0, format, ap))
ASF_VARIADIC(__sprintf_chk, (char *s, int flag, size_t size, const char *format, ...),
             print_checked(s, size, flag, format, ap))
ASF_VARIADIC(asprintf, (char **result, const char *format, ...), asf__print_allocated(result, 0, format, ap))
ASF_VARIADIC(__asprintf_chk, (char **result, int flag, const char *format, ...),
             asf__print_allocated(result, flag, format, ap))

int __asprintf(char **, const char *, ...) ALIAS(asprintf);
GLIBC_NAME(int _IO_sprintf(char *, const char *, ...), sprintf)

#endif
