/* SPDX-License-Identifier: MIT
 *
 * print.c - the printf family on streams.  Text is formatted directly into the current buffer; a chunk that
 * does not fit is put with the text before it, and formatting continues after it.  If the window shows no
 * room, text is made in an array.  libc formats the conversions that the formatter refuses.
 */
#include "interfaces/stdio/print/print.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/text/format_plain.h"

int asf__print_result(bool failed, size_t n, int more) {
    if (more < 0 || (failed && n <= INT_MAX))
        return -1;
    if (n + (size_t)more <= INT_MAX)
        return (int)n + more;
    errno = EOVERFLOW;
    return -1;
}

/* --- streams as outputs -------------------------------------------------------------- */

struct stream_output {
    struct asf__output o; /* the first member, since `full` gets its address */
    struct asf_cios *c;
    char *array; /* the memory for text that is not made in the window */
};

bool asf__must_repeat_call(const struct asf__output *o) {
    return o->before == 0 && ASF_LIBC(printf_failing);
}

static bool put_past_window(struct asf__output *o, const char *text, size_t n) {
    struct asf_cios *c = ((struct stream_output *)o)->c;
    c->write_ptr = o->p;
    bool put = asf__put_bytes(c, text, n) == n;
    o->p = c->write_ptr;
    o->end = o->p + asf__room(c);
    return put;
}

/* If the window has no room, put_past_window makes some for the first chunk. */
static __attribute__((noinline)) int print_in_window(struct asf_cios *c, struct asf__format_begun begun,
                                                     struct asf__place first, int fortify, const char *format,
                                                     asf__arguments ap) {
    char *p = c->write_ptr;
    struct stream_output s = {.o = {.p = begun.p ? begun.p : p, .end = p + asf__room(c), .begin = p}, .c = c};
    s.o.full = put_past_window;
    s.o.counts = fortify <= 0;
    const char *left = asf__format_on(&s.o, begun.f, format, ap, first);
    if (asf__unlikely(left && asf__must_repeat_call(&s.o))) {
        asf__go_to(ap, first);
        return asf__libc_print(c, fortify, format, ap);
    }
    c->write_ptr = s.o.p;
    int more = left ? asf__libc_print(c, fortify, left, ap) : 0;
    return asf__print_result(s.o.failed, asf__made(&s.o), more);
}

static bool put_array(struct asf__output *o) {
    struct stream_output *s = (struct stream_output *)o;
    size_t n = (size_t)(s->o.p - s->array);
    s->o.p = s->array;
    return n == 0 || asf__put_bytes(s->c, s->array, n) == n;
}

static int print_in_array(struct stream_output *s, int fortify, const char *format, asf__arguments ap) {
    s->o.p = s->o.begin = s->array;
    s->o.counts = fortify <= 0;
    struct asf__place first = asf__place_in(ap);
    const char *left = asf__format(&s->o, format, ap);
    size_t n = asf__made(&s->o);
    if (left && (asf__must_repeat_call(&s->o) || (s->o.before == 0 && s->c->flags & ASF_UNBUFFERED))) {
        asf__go_to(ap, first); /* so that all of the text is put at once */
        return asf__libc_print(s->c, fortify, format, ap);
    }
    if (!s->o.failed && !put_array(&s->o))
        return -1;
    return asf__print_result(s->o.failed, n, left ? asf__libc_print(s->c, fortify, left, ap) : 0);
}

bool asf__fill_array(struct asf__output *o, const char *text, size_t n, bool (*put)(struct asf__output *)) {
    for (size_t part; n > 0; text += part, n -= part) {
        if (o->p == o->end && !put(o))
            return false;
        part = asf__left(o) < n ? asf__left(o) : n;
        memcpy(o->p, text, part);
        o->p += part;
    }
    return true;
}

static bool put_full_array(struct asf__output *o, const char *text, size_t n) {
    return asf__fill_array(o, text, n, put_array);
}

/* As in libc, BUFSIZ bytes are put at a time, however long the chunks are. */
static __attribute__((noinline)) int print_unbuffered(struct asf_cios *c, int fortify, const char *format,
                                                      asf__arguments ap) {
    char array[BUFSIZ];
    struct stream_output s = {.o = {.end = array + sizeof array, .full = put_full_array}, c, array};
    return print_in_array(&s, fortify, format, ap);
}

/* Printing to line-buffered streams.  Text that fits into the buffer is put up to its last newline, whatever
 * chunks it comes in; so it is collected in an array of LINE_ARRAY_SIZE bytes first.  libc puts a larger
 * chunk as a whole. */
enum { LINE_ARRAY_SIZE = 1024 };

static char *end_in_line(const struct asf_cios *c, char *array) {
    bool putting = c->flags & ASF_PUTTING && c->buf_end > c->write_ptr;
    size_t room = putting ? (size_t)(c->buf_end - c->write_ptr) : 0;
    return array + (room < LINE_ARRAY_SIZE ? room : LINE_ARRAY_SIZE);
}

static bool put_lines(struct asf__output *o, const char *text, size_t n) {
    struct stream_output *s = (struct stream_output *)o;
    if (!put_array(o))
        return false;
    o->end = end_in_line(s->c, s->array);
    if (asf__left(o) >= n) {
        memcpy(o->p, text, n);
        o->p += n;
        return true;
    }
    bool put = asf__put_bytes(s->c, text, n) == n;
    o->end = end_in_line(s->c, s->array);
    return put;
}

static __attribute__((noinline)) int print_lines(struct asf_cios *c, int fortify, const char *format,
                                                 asf__arguments ap) {
    char array[LINE_ARRAY_SIZE];
    struct stream_output s = {.o = {.end = end_in_line(c, array), .full = put_lines}, c, array};
    return print_in_array(&s, fortify, format, ap);
}

/* --- output divided as in newer libcs --------------------------------------------------- */

/* Newer libcs fill the window up to its last byte; the next byte is put by itself, which empties the
 * buffer.  While there is no room, text is made in an array of ARRAY_SIZE bytes. */
enum { ARRAY_SIZE = 128 };

static bool uses_array(const struct stream_output *s) {
    return s->o.end == s->array + ARRAY_SIZE;
}

static void choose_memory(struct stream_output *s) {
    size_t room = asf__room(s->c);
    s->o.p = room ? s->c->write_ptr : s->array;
    s->o.end = s->o.p + (room ? room : ARRAY_SIZE);
}

static bool put_memory(struct stream_output *s) {
    if (uses_array(s))
        return put_array(&s->o);
    s->c->write_ptr = s->o.p;
    return true;
}

static bool put_filling_window(struct asf__output *o, const char *text, size_t n) {
    struct stream_output *s = (struct stream_output *)o;
    for (size_t part;; text += part, n -= part) {
        part = asf__left(o) < n ? asf__left(o) : n;
        memcpy(o->p, text, part);
        o->p += part;
        if (part == n)
            return true;
        bool array = uses_array(s), put = put_memory(s);
        if (!array)
            put = asf__put_char(s->c, (unsigned char)text[part++]) != EOF;
        choose_memory(s);
        if (!put)
            return false;
    }
}

static __attribute__((noinline)) int print_filling_window(struct asf_cios *c, struct asf__format_begun begun,
                                                          struct asf__place first, int fortify,
                                                          const char *format, asf__arguments ap) {
    char array[ARRAY_SIZE];
    struct stream_output s = {.o.full = put_filling_window, .o.counts = fortify <= 0, .c = c, .array = array};
    choose_memory(&s);
    s.o.begin = s.o.p;
    if (begun.p)
        s.o.p = begun.p;
    const char *left = asf__format_on(&s.o, begun.f, format, ap, first);
    if (asf__unlikely(left && asf__must_repeat_call(&s.o))) {
        asf__go_to(ap, first);
        return asf__libc_print(c, fortify, format, ap);
    }
    size_t n = asf__made(&s.o);
    if (!s.o.failed && !put_memory(&s))
        return -1;
    return asf__print_result(s.o.failed, n, left ? asf__libc_print(c, fortify, left, ap) : 0);
}

/* --- the call ------------------------------------------------------------------------- */

/* Formats into the window as much of the format as the plain formatter knows, if the window has MIN_ROOM
 * bytes of room.  In the result `p` is the end of the text, or NULL if nothing was formatted; `f` is the rest
 * of the format. */
static inline __attribute__((always_inline)) struct asf__format_begun
begin_in_window(const struct asf_cios *c, const char *format, asf__arguments ap) {
    enum { MIN_ROOM = 128 };
    size_t room = asf__room(c);
    if (asf__unlikely(room - MIN_ROOM > INT_MAX - MIN_ROOM || !asf__format_begins(format)))
        return (struct asf__format_begun){NULL, format};
    return asf__format_plain(c->write_ptr, c->write_ptr + room, format, ap);
}

static int print_by_buffering(struct asf_cios *c, struct asf__format_begun begun, struct asf__place first,
                              int fortify, const char *format, asf__arguments ap) {
    if (!begun.p) {
        if (!asf__orient_to_bytes(c))
            return -1;
        if (c->flags & ASF_NO_WRITES)
            return asf__error(c, asf__reported_error(c, -EBADF, ASF_NO_WRITES));
        if (c->flags & ASF_UNBUFFERED)
            return print_unbuffered(c, fortify, format, ap);
        if (c->flags & ASF_LINE_BUF && !ASF_LIBC(printf_fills_buffer))
            return print_lines(c, fortify, format, ap);
    }
    return ASF_LIBC(printf_fills_buffer) ? print_filling_window(c, begun, first, fortify, format, ap)
                                         : print_in_window(c, begun, first, fortify, format, ap);
}

static __attribute__((noinline)) int print_stream_rest(struct asf_cios *c, bool locked,
                                                       struct asf__format_begun begun,
                                                       struct asf__place first, int fortify,
                                                       const char *format, asf__arguments ap) {
    if (!locked) {
        asf__enter(c);
        asf__count(c);
    }
    int n = print_by_buffering(c, begun, first, fortify, format, ap);
    if (!locked)
        asf__leave(c);
    return n;
}

static int print_stream(struct asf_cios *c, const char *format, asf__arguments ap, int fortify) {
    const bool locked = !asf__alone();
    int n;
    if (locked) {
        asf__enter(c);
        asf__count(c);
    }
    struct asf__place first = asf__place_in(ap);
    struct asf__format_begun begun = begin_in_window(c, format, ap);
    if (asf__likely(begun.p && *begun.f == '\0')) {
        n = (int)(begun.p - c->write_ptr);
        c->write_ptr = begun.p;
    } else {
        n = print_stream_rest(c, locked, begun, first, fortify, format, ap);
    }
    if (locked)
        asf__leave(c);
    return n;
}

EXPORT int vfprintf(FILE *f, const char *format, va_list ap) {
    return print_stream(asf__cios(f), format, ASF_ARGUMENTS(ap), 0);
}

EXPORT int vprintf(const char *format, va_list ap) {
    return print_stream(asf__cios(stdout), format, ASF_ARGUMENTS(ap), 0);
}

EXPORT int __vfprintf_chk(FILE *f, int flag, const char *format, va_list ap) {
    return print_stream(asf__cios(f), format, ASF_ARGUMENTS(ap), flag);
}

EXPORT int __vprintf_chk(int flag, const char *format, va_list ap) {
    return print_stream(asf__cios(stdout), format, ASF_ARGUMENTS(ap), flag);
}

ASF_VARIADIC(fprintf, (FILE * f, const char *format, ...), print_stream(asf__cios(f), format, ap, 0))
ASF_VARIADIC(printf, (const char *format, ...), print_stream(asf__cios(stdout), format, ap, 0))
ASF_VARIADIC(__fprintf_chk, (FILE * f, int flag, const char *format, ...),
             print_stream(asf__cios(f), format, ap, flag))
ASF_VARIADIC(__printf_chk, (int flag, const char *format, ...),
             print_stream(asf__cios(stdout), format, ap, flag))

GLIBC_NAME(int _IO_fprintf(FILE *, const char *, ...), fprintf)
GLIBC_NAME(int _IO_printf(const char *, ...), printf)
GLIBC_NAME(int _IO_vfprintf(FILE *, const char *, va_list), vfprintf)
