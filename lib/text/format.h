/* SPDX-License-Identifier: MIT
 *
 * format.h - printf's conversions, directly into the caller's memory.
 */
#ifndef ASF_LIB_FORMAT_H
#define ASF_LIB_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "lib/sys/machine.h"

#pragma GCC visibility push(hidden)

/* The output of a formatter: memory from p to `end`.  The caller sets all members except `before` and
 * `failed`, which are 0. */
struct asf__output {
    char *p, *end;
    char *begin;   /* `before` does not include the text from here to p */
    size_t before; /* bytes made before `begin`, or lost */
    /* Called with a chunk that does not fit: takes the text from `begin` to p and the chunk, and sets p
     * and `end` again.  Returns false on an error, which ends formatting.  NULL: text that does not fit
     * is lost, but counted. */
    bool (*full)(struct asf__output *o, const char *text, size_t n);
    int error;   /* errno when formatting began, for %m; only the formatter sets it */
    bool counts; /* %n is permitted without libc's check of the format */
    bool failed; /* `full` has failed, or more bytes were made than an int counts */
};

/* asf__made: returns the number of bytes made, including lost ones.  It may be larger than INT_MAX. */
static inline size_t asf__made(const struct asf__output *o) {
    return o->before + (size_t)(o->p - o->begin);
}

/* asf__format: format into `o`, which is empty, as printf would: d i u x X o c s C S p m n f F e E g G a A
 * with every flag, width, precision and length modifier they have, and up to nine numbered arguments; wide
 * characters in UTF-8 and ASCII.  Puts no null at the end.
 * returns  NULL: done; or the format with which libc must continue: at another conversion, or where the
 *          locale, the rounding mode or an error makes a difference.  This is the whole format,
 *          with nothing made or passed to `full`, if libc cannot continue in the middle.  It uses no
 *          memory except its stack and the output.  `ap` is after the arguments taken, as when libc's
 *          functions return, since programs examine it; with numbered arguments `ap` is unchanged. */
const char *asf__format(struct asf__output *o, const char *format, asf__arguments ap);
/* asf__format_text: the library's own snprintf, with the same conversions.  It calls no function of
 * stdio, which may be this library's.  `size` is the size of `to`, 1 or more. */
int asf__format_text(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* asf__may_count: whether a format may have a %n or numbered arguments. */
bool asf__may_count(const char *format);

/* As struct asf__output, for wide characters.  Without `full`, text that does not fit is left to libc. */
struct asf__wide_output {
    wchar_t *p, *end, *begin;
    size_t before;
    bool (*full)(struct asf__wide_output *o, const wchar_t *text, size_t n);
    const wchar_t *format; /* used by the formatter only */
    bool failed;
};

static inline size_t asf__wide_made(const struct asf__wide_output *o) {
    return o->before + (size_t)(o->p - o->begin);
}

/* asf__format_wide: the same for wprintf, also for %ls, %lc and, in UTF-8 and ASCII, for %s. */
const wchar_t *asf__format_wide(struct asf__wide_output *o, const wchar_t *format, asf__arguments ap);

/* asf__format_custom: whether the program has registered its own conversions. */
extern bool asf__format_custom;

#pragma GCC visibility pop

#endif
