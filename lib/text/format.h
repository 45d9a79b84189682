/* SPDX-License-Identifier: MIT
 *
 * format.h - printf's conversions, straight into the caller's memory.
 */
#ifndef ASF_LIB_FORMAT_H
#define ASF_LIB_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "lib/sys/machine.h"

#pragma GCC visibility push(hidden)

/* Where text is made: in memory, from p on.  The caller sets all but `before` and `failed`,
 * which are 0. */
struct asf__output {
    char *p, *end;
    char *begin;   /* the text from here to p is not counted in `before` */
    size_t before; /* bytes made before that, or lost */
    /* Takes a chunk that does not fit, and all that was made before it: it sets p and `end`
     * anew.  False: an error, and formatting ends.  NULL: what does not fit is lost, but
     * counted. */
    bool (*full)(struct asf__output *o, const char *text, size_t n);
    int error;   /* errno as formatting began; of the formatter itself */
    bool counts; /* %n may store without a check */
    bool failed; /* `full` has failed, or more bytes were made than an int counts */
};

/* asf__made: how many bytes there are, or would be if there was room.  It may be larger
 * than INT_MAX. */
static inline size_t asf__made(const struct asf__output *o) {
    return o->before + (size_t)(o->p - o->begin);
}

/* asf__format: format into `o`, which has nothing yet, as printf would: d i u x X o c s C S
 * p m n f F e E g G a A with every flag, width, precision and length modifier they have, and
 * up to nine numbered arguments; wide characters in UTF-8 and ASCII.  No null is put after.
 * returns  NULL; or the format that libc is to go on with: where there is something else, or
 *          the locale, the rounding mode or an error makes a difference.  That is all of it,
 *          and nothing was made or handed to `full`, where libc cannot go on from the middle.
 * It uses no memory but its stack and the output.  `ap` is after what was taken, as it is
 * when libc's returns, which programs look at; where arguments are numbered, it is as it was. */
const char *asf__format(struct asf__output *o, const char *format, asf__arguments ap);
/* asf__format_text: the library's own snprintf, by the same conversions: it calls no function of stdio, which
 * may be this library's.  `size`: of `to`, 1 or more. */
int asf__format_text(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* asf__may_count: whether a format may have a %n; numbered arguments pass for one. */
bool asf__may_count(const char *format);

/* The same for wide characters; without `full`, what does not fit is left to libc. */
struct asf__wide_output {
    wchar_t *p, *end, *begin;
    size_t before;
    bool (*full)(struct asf__wide_output *o, const wchar_t *text, size_t n);
    const wchar_t *format; /* of the formatter itself */
    bool failed;
};

static inline size_t asf__wide_made(const struct asf__wide_output *o) {
    return o->before + (size_t)(o->p - o->begin);
}

/* asf__format_wide: the same as wprintf would, and also for %ls, %lc and, in
 * UTF-8 and ASCII, for %s. */
const wchar_t *asf__format_wide(struct asf__wide_output *o, const wchar_t *format, asf__arguments ap);

/* asf__format_custom: the program has registered conversions of its own. */
extern bool asf__format_custom;

#pragma GCC visibility pop

#endif
