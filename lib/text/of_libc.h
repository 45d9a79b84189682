/* SPDX-License-Identifier: MIT
 *
 * of_libc.h - what printf and scanf do differently in each libc.
 */
#ifndef ASF_LIB_OF_LIBC_H
#define ASF_LIB_OF_LIBC_H

#include <stdbool.h>
#include <string.h>

#ifdef __GLIBC__
#define ASF__OF_GLIBC 1
#else
#define ASF__OF_GLIBC 0
#endif

/* ASF__TAKES_ALL_LENGTHS: a length modifier that C leaves undefined, such as in %qd and %llf, is taken; else
 * the format is refused. ASF__CUTS_NULL: %.3s of a null pointer is "(nu", not "". ASF__KNOWN_POINTERS: %p of
 * a null pointer is "(nil)", not "0", and a precision is that of %x; else libc makes what has one, or a flag.
 * ASF__SCALES_BY_EXPONENT: %a of a subnormal number begins with 0x0, with the least exponent; else with 0x1,
 * and libc makes it. ASF__ENCODES: %ls and %lc are made here; else libc makes them. ASF__LOSES_ZEROS: %#g of
 * 999999.5 is "1.e+06", without the zeros that # asks for. */
enum {
    ASF__TAKES_ALL_LENGTHS = ASF__OF_GLIBC,
    ASF__CUTS_NULL = !ASF__OF_GLIBC,
    ASF__KNOWN_POINTERS = ASF__OF_GLIBC,
    ASF__SCALES_BY_EXPONENT = ASF__OF_GLIBC,
    ASF__ENCODES = ASF__OF_GLIBC,
    ASF__LOSES_ZEROS = ASF__OF_GLIBC,
};

/* Whether the modifier from `length` to the conversion's letter is known, and this library makes of the
 * conversion what libc does. */
static inline bool asf__knows_length(const char *length, const char *letter) {
    if (ASF__TAKES_ALL_LENGTHS)
        return true;
    const bool none = length == letter;
    switch (*letter) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
    case 'n':
        return none || strchr("hljzt", *length);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return none || (letter == length + 1 && (*length == 'l' || *length == 'L'));
    case 'c':
    case 's':
        return none || (letter == length + 1 && *length == 'l');
    case 'p':
    case '[':
    case 'm':
    case '%':
        return none;
    default:
        return false;
    }
}

#endif
