/* SPDX-License-Identifier: MIT
 *
 * format_numbered.c - printf's numbered arguments (%1$d).  All arguments are taken first.  Then each
 * conversion gets its own argument in memory.
 */
#define _GNU_SOURCE
#include <string.h>

#include "lib/text/format_spec.h"

enum { ARGUMENTS = 9 }; /* so that an argument's number is one digit */

enum kind { UNKNOWN, GENERAL, FLOATING, LONG_FLOATING };

/* An argument as va_arg finds it in memory.  Arguments of smaller types are at the beginning of the
 * union. */
union argument {
    long general;
    double floating;
    long double long_floating;
};

/* Returns the kind of a conversion's argument; UNKNOWN: the conversion is left to libc, for example
 * because its width is an argument.  `f` is after the dollar sign. */
static enum kind kind_of(const char *f, asf__arguments ap) {
    struct asf__spec s = {.precision = -1};
    struct asf__place before = asf__place_in(ap), after;
    const char *letter = asf__parse_spec(f, &s, ap);
    after = asf__place_in(ap);
    if (!letter || before.general != after.general || before.in_memory != after.in_memory)
        return UNKNOWN;
    switch (*letter) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
    case 'c':
    case 's':
    case 'p':
    case 'C':
    case 'S':
        return GENERAL;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return s.length == LENGTH_LONG_LONG ? LONG_FLOATING : FLOATING;
    default:
        return UNKNOWN;
    }
}

/* Finds the kinds of all arguments.  Returns the number of arguments; 0: the format is left to libc. */
static size_t find_kinds(const char *f, enum kind *kinds, asf__arguments ap) {
    size_t n = 0;
    while (*(f = strchrnul(f, '%')) != '\0') {
        if (f[1] == '%') {
            f += 2;
            continue;
        }
        size_t i = (size_t)(f[1] - '1');
        enum kind kind = i < ARGUMENTS && f[2] == '$' ? kind_of(f + 3, ap) : UNKNOWN;
        if (kind == UNKNOWN || (kinds[i] != UNKNOWN && kinds[i] != kind))
            return 0;
        kinds[i] = kind;
        n = i < n ? n : i + 1;
        f += 3;
    }
    return n;
}

/* Takes the arguments.  Returns false if one has no conversion, so that its kind is unknown. */
static bool take_arguments(union argument *arguments, const enum kind *kinds, size_t n, asf__arguments ap) {
    for (size_t i = 0; i < n; i++) {
        if (kinds[i] == UNKNOWN)
            return false;
        if (kinds[i] == GENERAL)
            arguments[i].general = asf__next_of(ap, long);
        else if (kinds[i] == FLOATING)
            arguments[i].floating = asf__next_of(ap, double);
        else
            arguments[i].long_floating = asf__next_of(ap, long double);
    }
    return true;
}

bool asf__format_numbered(struct asf__output *o, const char *format, asf__arguments ap) {
    enum kind kinds[ARGUMENTS] = {UNKNOWN};
    union argument arguments[ARGUMENTS];
    size_t n = find_kinds(format, kinds, ap);
    if (n == 0 || !take_arguments(arguments, kinds, n, ap))
        return false;
    for (const char *f = format; *f != '\0';) {
        const char *percent = strchrnul(f, '%');
        asf__put(o, f, (size_t)(percent - f));
        if (*percent == '\0')
            return true;
        f = percent + 1;
        if (*f != '%') {
            asf__go_to(ap, asf__place_behind(&arguments[*f - '1']));
            f += 2;
        }
        f = asf__convert(o, f, ap);
        if (!f)
            return false;
    }
    return true;
}
