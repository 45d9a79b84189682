/* SPDX-License-Identifier: MIT
 *
 * print.c - the printf family on streams and descriptors, formatted straight
 * into the current buffer.  What does not fit is formatted once more, into
 * memory of its size.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/print/print.h"

#include <limits.h>
#include <printf.h>
#include <stdlib.h>

#include "backplane/descriptor.h"
#include "lib/text/format_plain.h"
#include "lib/sys/next.h"
#include "lib/sys/syscalls.h"

#ifdef ASF_STATIC
enum { BY_LIBC = false }; /* where libc's formatter cannot be reached nothing is held back */
#else
enum { BY_LIBC = true };
extern int __vfprintf_chk(FILE *, int, const char *, va_list);
extern int __vdprintf_chk(int, int, const char *, va_list);
#endif

enum { SMALL = 1024 };

/* Long output, and tiny buffers: how much of it goes out when depends on the
 * pieces in which libc's formatter hands it over, so libc's does it; and after
 * an error, of which the beginning stays on the stream. */
static bool piecewise(const struct asf_cios *c, long n) {
    if (!BY_LIBC)
        return false;
    if (n < 0 || c->flags & ASF_UNBUFFERED)
        return n < 0 || n > BUFSIZ; /* libc's formatter has so much memory then */
    return c->unprimed || c->block < 128 || n >= (long)c->block;
}

/* Each of several lines may be written for itself, and a line before what follows it and
 * does not fit, which shows but in a file; in long output there may be some. */
static bool by_lines(const struct asf_cios *c, const char *text, long n) {
    if (!BY_LIBC || c->regular || !(c->flags & ASF_LINE_BUF))
        return false;
    const char *line = n < SMALL ? memchr(text, '\n', (size_t)n) : NULL;
    size_t behind = line ? (size_t)(text + n - line) - 1 : 0;
    return n >= SMALL || (behind > 0 && ((size_t)n > asf__room_in_line(c) || memchr(line + 1, '\n', behind)));
}

/* %n is not met behind a write that fails; and the program's own conversions may make
 * more than they say. */
static inline bool is_for_libc_alone(const char *format) {
    return BY_LIBC && (asf__format_custom || asf__may_count(format));
}

static int format_piecewise(struct asf_cios *c, int fortify, const char *format, va_list ap) {
#ifdef ASF_STATIC
    (void)c, (void)fortify, (void)format, (void)ap;
    return -1;
#else
    FILE *f = asf__file(c);
    asf__show_lock(c);
    return fortify > 0 ? ASF_NEXT(__vfprintf_chk)(f, fortify, format, ap) : ASF_NEXT(vfprintf)(f, format, ap);
#endif
}

/* What was made before an error goes out as well. */
static int put_made(struct asf_cios *c, const char *p, int n) {
    int saved = errno;
    size_t length = n < 0 ? strlen(p) : (size_t)n;
    size_t done = length > 0 ? asf__put_bytes(c, p, length) : 0;
    if (n < 0)
        errno = saved;
    return done == length ? n : -1;
}

/* Text that is formatted apart from any window. */
struct text {
    char small[SMALL]; /* as much as has room here */
    char *whole;       /* `small`, or from malloc */
    int n;             /* its length; less than 0: an error, behind what was made */
    int before;        /* errno, which %m prints */
    struct asf__place first;
};

static void make_small(struct text *t, int fortify, const char *format, va_list ap) {
    t->first = asf__place_in(ap);
    t->before = errno;
    t->whole = t->small;
    t->n = asf__print(t->small, sizeof t->small - 1, fortify, format, ap);
}

/* False: there is no memory for it. */
static bool make_whole(struct text *t, int fortify, const char *format, va_list ap) {
    if (t->n < SMALL)
        return true;
    t->whole = malloc((size_t)t->n + 1);
    if (!t->whole)
        return false;
    asf__go_to(ap, t->first);
    t->n = asf__print(t->whole, (size_t)t->n, fortify, format, ap);
    return true;
}

static void drop(struct text *t) {
    if (t->whole != t->small)
        free(t->whole);
}

/* libc's formatter is to make it anew. */
static void begin_anew(const struct text *t, va_list ap) {
    errno = t->before;
    asf__go_to(ap, t->first);
}

static int format_apart(struct asf_cios *c, int fortify, const char *format, va_list ap) {
    struct text t;
    if (asf__ours(c) && is_for_libc_alone(format))
        return format_piecewise(c, fortify, format, ap);
    make_small(&t, fortify, format, ap);
    bool pieces = asf__ours(c) && (piecewise(c, t.n) || by_lines(c, t.small, t.n));
    if (pieces || !make_whole(&t, fortify, format, ap)) {
        if (!BY_LIBC)
            return -1;
        begin_anew(&t, ap);
        return format_piecewise(c, fortify, format, ap);
    }
    int n = put_made(c, t.whole, t.n);
    drop(&t);
    return n;
}

/* What the formatter has left is libc's; after an error it is begun anew, by
 * format_apart. */
static int rest_in_place(struct asf_cios *c, size_t room, size_t n, int fortify,
                         struct asf__format_rest *rest, va_list ap) {
    int before = errno, whole = asf__print_rest(c->write_ptr, room, n, fortify, rest, ap);
    if (whole < 0)
        errno = before; /* %m prints it */
    return whole;
}

/* Where the first line ends of what was made in the window of a line-buffered
 * stream, which goes out now. */
static inline const char *line_end(const struct asf_cios *c, size_t n) {
    return asf__unlikely(c->flags & ASF_LINE_BUF) ? memchr(c->write_ptr, '\n', n) : NULL;
}

/* What formatting into the window says beside a length: it is to be done apart, or
 * by libc's formatter; or LINE less than minus the length: the window has a whole
 * line, which is to go out with what is pending. */
enum { APART = -1, PIECEWISE = -2, LINE = -2 };

static int keep_made(struct asf_cios *c, size_t room, size_t n, int fortify, struct asf__format_rest *rest,
                     va_list ap) {
    if (rest->format) {
        if (is_for_libc_alone(rest->all ? rest->format : NULL))
            return PIECEWISE;
        int whole = rest_in_place(c, room - 1, n, fortify, rest, ap);
        if (whole < 0)
            return APART;
        n = (size_t)whole;
    }
    if (n >= room || piecewise(c, (long)n))
        return n < INT_MAX && piecewise(c, (long)n) ? PIECEWISE : APART;
    const char *end = line_end(c, n);
    if (end)
        return end + 1 == c->write_ptr + n ? LINE - (int)n : APART;
    c->write_ptr += n;
    return (int)n;
}

/* What was formatted into the window stays there if it can; otherwise it is done
 * anew, from the first argument. */
static int keep_in_place(struct asf_cios *c, size_t room, size_t n, int fortify,
                         struct asf__format_rest *rest, va_list ap) {
    int r = keep_made(c, room, n, fortify, rest, ap);
    if (r == APART || r == PIECEWISE)
        asf__go_to(ap, rest->first);
    return r;
}

/* What is longer goes out piecewise, where libc's formatter can be reached. */
static inline size_t within_block(const struct asf_cios *c, size_t room) {
    return BY_LIBC && room > c->block ? c->block : room;
}

/* Into a window of any kind. */
static __attribute__((noinline)) int format_in_place(struct asf_cios *c, size_t room, int fortify,
                                                     const char *format, va_list ap) {
    struct asf__format_rest rest;
    if (room == 0)
        room = asf__room_in_line(c);
    if (room < 64 || !asf__ours(c) || c->orientation >= 0 || c->flags & ASF_NO_WRITES)
        return APART;
    room = within_block(c, room < INT_MAX ? room : INT_MAX); /* no more is printed by one call */
    rest.counts = fortify <= 0;
    size_t n = asf__format(c->write_ptr, room - 1, within_block(c, SIZE_MAX), format, ap, &rest);
    return keep_in_place(c, room, n, fortify, &rest, ap);
}

/* Goes on where what is plain in the format ended, or its room. */
static __attribute__((noinline)) int format_rest(struct asf_cios *c, struct asf__format_begun begun,
                                                 struct asf__place first, int fortify, const char *format,
                                                 va_list ap) {
    size_t room = within_block(c, asf__room(c));
    struct asf__format_rest rest = {.format = begun.f, .begun = begun.p, .first = first};
    rest.counts = fortify <= 0;
    size_t n = asf__format_on(c->write_ptr, room - 1, within_block(c, SIZE_MAX), format, ap, &rest);
    return keep_in_place(c, room, n, fortify, &rest, ap);
}

/* The usual case: an ordinary window, and a format that is plain. */
static inline __attribute__((always_inline)) int print_in_place(struct asf_cios *c, int fortify,
                                                                const char *format, va_list ap) {
    enum { ODD = ASF_LINE_BUF | ASF_UNBUFFERED | ASF_NO_WRITES, LEAST = 128 };
    char *p = c->write_ptr;
    size_t room = within_block(c, asf__room(c));
    if (asf__unlikely(room - LEAST > INT_MAX - LEAST || c->flags & ODD || !asf__ours(c) ||
                      c->orientation >= 0 || c->unprimed || !asf__format_begins(format)))
        return format_in_place(c, room, fortify, format, ap);
    struct asf__place first = asf__place_in(ap);
    struct asf__format_begun begun = asf__format_plain(p, p + room - 1, format, ap);
    if (asf__unlikely(*begun.f != '\0'))
        return format_rest(c, begun, first, fortify, format, ap);
    size_t n = (size_t)(begun.p - c->write_ptr);
    c->write_ptr = begun.p;
    return (int)n;
}

static int put_line(struct asf_cios *c, int n) {
    c->write_ptr += n;
    return asf__overflow(c, EOF) == EOF ? -1 : n;
}

static int go_on(struct asf_cios *c, int n, int fortify, const char *format, va_list ap) {
    if (n < LINE)
        return put_line(c, LINE - n);
    if (n == PIECEWISE)
        return format_piecewise(c, fortify, format, ap);
    return n == APART ? format_apart(c, fortify, format, ap) : n;
}

static int format_on(struct asf_cios *c, int fortify, const char *format, va_list ap) {
    if (!asf__bytes(c))
        return -1;
    if (c->flags & ASF_NO_WRITES)
        return asf__error(c, -EBADF);
    int before = errno; /* what %m prints */
    bool closed = asf__ours(c) && asf__choose(c);
    errno = before;
    int n = go_on(c, print_in_place(c, fortify, format, ap), fortify, format, ap);
    if (closed)
        errno = EBADF;
    return n;
}

/* `made`: what formatting into the window without the lock has said. */
static __attribute__((noinline)) int format_locked(struct asf_cios *c, int made, const char *format,
                                                   va_list ap, int fortify) {
    asf__enter(c);
    asf__count(c);
    int r = made == APART ? format_on(c, fortify, format, ap) : go_on(c, made, fortify, format, ap);
    asf__leave(c);
    return r;
}

int asf__vfprintf(struct asf_cios *c, const char *format, va_list ap, int fortify) {
    int made = APART;
    if (asf__alone()) {
        made = print_in_place(c, fortify, format, ap);
        if (asf__likely(made >= 0))
            return made;
    }
    return format_locked(c, made, format, ap, fortify);
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

ASF_VARIADIC(fprintf, (FILE * f, const char *format, ...), asf__vfprintf(asf__cios(f), format, ap, 0))
ASF_VARIADIC(printf, (const char *format, ...), asf__vfprintf(asf__cios(stdout), format, ap, 0))
ASF_VARIADIC(__fprintf_chk, (FILE * f, int flag, const char *format, ...),
             asf__vfprintf(asf__cios(f), format, ap, flag))
ASF_VARIADIC(__printf_chk, (int flag, const char *format, ...),
             asf__vfprintf(asf__cios(stdout), format, ap, flag))

int _IO_fprintf(FILE *, const char *, ...) ALIAS(fprintf);
int _IO_printf(const char *, ...) ALIAS(printf);

/* --- to a descriptor -------------------------------------------------------------- */

/* More than goes out at once, and what ends in an error, of which the beginning
 * goes out: in libc's portions. */
static bool is_for_libc(int n) {
    return BY_LIBC && (n < 0 || n > BUFSIZ / 2);
}

static int print_fd_by_libc(int fd, int fortify, const char *format, va_list ap) {
#ifdef ASF_STATIC
    (void)fd, (void)fortify, (void)format, (void)ap;
    return -1;
#else
    return fortify > 0 ? ASF_NEXT(__vdprintf_chk)(fd, fortify, format, ap)
                       : ASF_NEXT(vdprintf)(fd, format, ap);
#endif
}

/* Its writes are not noticed. */
static void before_libc_writes(int fd) {
    struct stat64 st;
    asf__settle_output();
    asf__unkeep(fd, true);
    asf__forget_offset(fd);
    if (asf__some_ahead() && asf__sys.fstat(fd, &st) == 0)
        asf__settle_readers(st.st_dev, st.st_ino, NULL);
}

/* Nothing to write is refused, too, where there is no descriptor. */
static bool write_out(int fd, const char *p, size_t n) {
    int rc = n > 0 ? asf__write_as_program(fd, p, n) : (int)asf__sys.lseek(fd, 0, SEEK_CUR);
    bool failed = rc < 0 && (n > 0 || rc == -EBADF);
    errno = failed ? -rc : errno;
    return !failed;
}

static int print_fd(int fd, int fortify, const char *format, va_list ap) {
    struct text t;
    if (asf__may_count(format) && asf__sys.lseek(fd, 0, SEEK_CUR) == -EBADF) {
        errno = EBADF; /* before %n is met */
        return -1;
    }
    make_small(&t, fortify, format, ap);
    if (is_for_libc(t.n) || !make_whole(&t, fortify, format, ap)) {
        if (!BY_LIBC)
            return -1;
        before_libc_writes(fd);
        begin_anew(&t, ap);
        return print_fd_by_libc(fd, fortify, format, ap);
    }
    bool written = write_out(fd, t.whole, t.n < 0 ? strlen(t.whole) : (size_t)t.n);
    drop(&t);
    return written ? t.n : -1;
}

EXPORT int vdprintf(int fd, const char *format, va_list ap) {
    return print_fd(fd, 0, format, ap);
}

EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list ap) {
    return print_fd(fd, flag, format, ap);
}

ASF_VARIADIC(dprintf, (int fd, const char *format, ...), print_fd(fd, 0, format, ap))
ASF_VARIADIC(__dprintf_chk, (int fd, int flag, const char *format, ...), print_fd(fd, flag, format, ap))

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
