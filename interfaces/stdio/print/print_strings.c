/* SPDX-License-Identifier: MIT
 *
 * print_strings.c - the printf family into memory: lib/text/format.c, and libc for
 * what that leaves.  No stream is made, no lock taken and, but by asprintf,
 * no memory asked for.
 *
 * In a program linked with an archive these names stay libc's, whose own
 * objects bring them along.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/print/print.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/format_plain.h"
#include "lib/sys/next.h"

/* Names of libc's own that are not ours. */
extern int __vsnprintf(char *, size_t, const char *, va_list);
extern int _IO_vsprintf(char *, const char *, va_list);
/* A name of both. */
extern int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);

/* Only where libc has all of the format can it meet %n, which is what the check
 * is for.  sprintf may read what it is about to write over, so it is not to
 * begin with a null as vsnprintf does. */
static int by_libc(char *p, size_t room, int fortify, struct asf__format_rest *rest) {
#ifndef ASF_STATIC
    if (fortify > 0 && rest->all)
        return ASF_NEXT(__vsnprintf_chk)(p, room + 1, fortify, room + 1, rest->format, rest->ap);
#else
    if (fortify > 0 && rest->all)
        return __vsnprintf_chk(p, room + 1, fortify, room + 1, rest->format, rest->ap);
#endif
    if (room > SSIZE_MAX)
        return _IO_vsprintf(p, rest->format, rest->ap);
    return __vsnprintf(p, room + 1, rest->format, rest->ap);
}

static int finish(char *p, size_t room, size_t n, int fortify, struct asf__format_rest *rest) {
    char none[1];
    if (n <= room)
        return by_libc(p + n, room - n, fortify, rest);
    p[room] = '\0';
    return by_libc(none, 0, fortify, rest);
}

int asf__print_rest(char *p, size_t room, size_t n, int fortify, struct asf__format_rest *rest, va_list ap) {
    if (rest->format) {
        int more = finish(p, room, n, fortify, rest);
        asf__go_to(ap, asf__place_in(rest->ap));
        if (more < 0)
            return -1;
        n += (size_t)more;
    }
    if (n <= INT_MAX)
        return (int)n;
    p[room] = '\0';
    errno = EOVERFLOW;
    return -1;
}

static __attribute__((noinline)) int print_on(char *p, size_t room, struct asf__format_begun begun,
                                              struct asf__place first, int fortify, const char *format,
                                              va_list ap) {
    struct asf__format_rest rest = {.format = begun.f, .begun = begun.p, .first = first};
    rest.counts = fortify <= 0;
    size_t n = asf__format_on(p, room, SIZE_MAX, format, ap, &rest);
    if (asf__unlikely(rest.format || n > INT_MAX))
        return asf__print_rest(p, room, n, fortify, &rest, ap);
    p[n < room ? n : room] = '\0';
    return (int)n;
}

typedef int print_on_function(char *p, size_t room, struct asf__format_begun begun, struct asf__place first,
                              int fortify, const char *format, va_list ap);

/* What is plain is made here, the rest by `on`. */
static inline __attribute__((always_inline)) int
print_here(char *p, size_t room, int fortify, const char *format, va_list ap, print_on_function *on) {
    struct asf__place first = asf__place_in(ap);
    struct asf__format_begun begun = {p, format};
    if (asf__format_begins(format))
        begun = asf__format_plain(p, p + (room < INT_MAX ? room : INT_MAX), format, ap);
    if (asf__unlikely(!format || *begun.f != '\0'))
        return on(p, room, begun, first, fortify, format, ap);
    *begun.p = '\0';
    return (int)(begun.p - p);
}

int asf__print(char *p, size_t room, int fortify, const char *format, va_list ap) {
    return print_here(p, room, fortify, format, ap, print_on);
}

#ifndef ASF_STATIC

extern void __chk_fail(void) __attribute__((noreturn));
extern int __vsprintf_chk(char *, int, size_t, const char *, va_list);
extern int __vasprintf_chk(char **, int, const char *, va_list);

static inline int print_bounded(char *s, size_t n, int fortify, const char *format, va_list ap) {
    char none[1];
    if (n == 0)
        return asf__print(none, 0, fortify, format, ap);
    s[0] = '\0'; /* as glibc: a text that is its own argument is empty */
    return print_here(s, n - 1, fortify, format, ap, print_on);
}

/* More than there is room for ends the process, also where an error comes later: after
 * one, libc finds out. */
static __attribute__((noinline)) int print_on_checked(char *p, size_t room, struct asf__format_begun begun,
                                                      struct asf__place first, int fortify,
                                                      const char *format, va_list ap) {
    int before = errno, made = print_on(p, room, begun, first, fortify, format, ap);
    if (made >= 0 && (size_t)made > room)
        __chk_fail();
    if (made >= 0 || room >= ASF__UNLIMITED)
        return made;
    errno = before;
    asf__go_to(ap, first);
    return ASF_NEXT(__vsprintf_chk)(p, fortify, room + 1, format, ap);
}

static int print_checked(char *s, size_t n, int fortify, const char *format, va_list ap) {
    if (n == 0)
        __chk_fail();
    s[0] = '\0';
    return print_here(s, n > SSIZE_MAX ? ASF__UNLIMITED : n - 1, fortify, format, ap, print_on_checked);
}

static int print_allocated(char **result, int fortify, const char *format, va_list ap) {
    char small[512];
    if (asf__unlikely(asf__format_custom)) /* whose lengths may be wrong */
        return ASF_NEXT(__vasprintf_chk)(result, fortify, format, ap);
    struct asf__place first = asf__place_in(ap);
    int n = asf__print(small, sizeof small - 1, fortify, format, ap);
    if (n < 0)
        return -1;
    char *p = malloc((size_t)n + 1);
    if (!p)
        return -1;
    if ((size_t)n < sizeof small) {
        memcpy(p, small, (size_t)n + 1);
    } else {
        asf__go_to(ap, first);
        n = asf__print(p, (size_t)n, fortify, format, ap);
    }
    *result = p;
    return n;
}

EXPORT int vsnprintf(char *s, size_t n, const char *format, va_list ap) {
    return print_bounded(s, n, 0, format, ap);
}

EXPORT int __vsnprintf_chk(char *s, size_t n, int flag, size_t size, const char *format, va_list ap) {
    if (size < n)
        __chk_fail();
    return print_bounded(s, n, flag, format, ap);
}

EXPORT int vsprintf(char *s, const char *format, va_list ap) {
    return asf__print(s, ASF__UNLIMITED, 0, format, ap);
}

EXPORT int __vsprintf_chk(char *s, int flag, size_t size, const char *format, va_list ap) {
    return print_checked(s, size, flag, format, ap);
}

EXPORT int vasprintf(char **result, const char *format, va_list ap) {
    return print_allocated(result, 0, format, ap);
}

EXPORT int __vasprintf_chk(char **result, int flag, const char *format, va_list ap) {
    return print_allocated(result, flag, format, ap);
}

ASF_VARIADIC(snprintf, (char *s, size_t n, const char *format, ...), print_bounded(s, n, 0, format, ap))
ASF_VARIADIC(__snprintf_chk, (char *s, size_t n, int flag, size_t size, const char *format, ...),
             __vsnprintf_chk(s, n, flag, size, format, ap))
ASF_VARIADIC(sprintf, (char *s, const char *format, ...), asf__print(s, ASF__UNLIMITED, 0, format, ap))
ASF_VARIADIC(__sprintf_chk, (char *s, int flag, size_t size, const char *format, ...),
             print_checked(s, size, flag, format, ap))
ASF_VARIADIC(asprintf, (char **result, const char *format, ...), print_allocated(result, 0, format, ap))
ASF_VARIADIC(__asprintf_chk, (char **result, int flag, const char *format, ...),
             print_allocated(result, flag, format, ap))

int __asprintf(char **, const char *, ...) ALIAS(asprintf);
int _IO_sprintf(char *, const char *, ...) ALIAS(sprintf);

#endif
