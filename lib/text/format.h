/* SPDX-License-Identifier: MIT
 *
 * format.h - printf's conversions, straight into the caller's memory.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_FORMAT_H
#define ASF_LIB_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#pragma GCC visibility push(hidden)

/* Where va_arg is among the arguments. */
struct asf__place {
    unsigned general, floating;
    void *in_memory;
};

/* What is left to libc: a format and its arguments. */
struct asf__format_rest {
    const char *format; /* NULL: nothing */
    va_list ap;
    bool all;    /* all, for it has %n or %1$d, or no argument is used up yet */
    bool counts; /* set by the caller: %n may store without a check */
    /* Of the formatter itself: the end of what it made so far, and where the first
     * argument is. */
    char *begun;
    struct asf__place first;
};

/* asf__format: format into p[0..room) as printf would: d i u x X o c s C S p m n
 * f F e E g G a A with every flag, width, precision and length modifier they have,
 * and up to nine numbered arguments; wide characters in UTF-8 and ASCII.
 * returns  the number of bytes that there are, or would be if there was room;
 *          no null is put behind them.  It may be larger than INT_MAX.
 * most     from here on it does not matter how long the text would be.
 * Where the format has something else, or the locale, the rounding mode or an
 * error makes a difference, it stops, and `rest` says where libc is to go on.
 * It uses no memory but its stack and p.  `ap` is behind what was taken, as it is
 * when libc's returns, which programs look at; but where something is left, or
 * arguments are numbered, it is as it was. */
size_t asf__format(char *p, size_t room, size_t most, const char *format, va_list ap,
                   struct asf__format_rest *rest);
/* asf__may_count: whether a format may have a %n; numbered arguments pass for one. */
bool asf__may_count(const char *format);

/* The same for wide characters. */
struct asf__wide_format_rest {
    const wchar_t *format;
    va_list ap;
    bool all;
};

/* asf__format_wide: the same as wprintf would, and also for %ls, %lc and, in
 * UTF-8 and ASCII, for %s.
 * returns  the characters made, of which there are as many as have room: at the
 *          first part that does not fit it stops as it does for the others. */
size_t asf__format_wide(wchar_t *p, size_t room, const wchar_t *format, va_list ap,
                        struct asf__wide_format_rest *rest);

/* asf__format_custom: the program has registered conversions of its own. */
extern bool asf__format_custom;

#pragma GCC visibility pop

#endif
