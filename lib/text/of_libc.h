/* SPDX-License-Identifier: MIT
 *
 * of_libc.h - the differences between printf and scanf of glibc and of musl.
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

/* If a comment names two behaviours, the first is glibc's, the second musl's. */
enum {
    /* %qd and %llf, whose length C leaves undefined, are accepted; or refused. */
    ASF__TAKES_ALL_LENGTHS = ASF__OF_GLIBC,
    /* %.3s of a null pointer is ""; or "(nu". */
    ASF__CUTS_NULL = !ASF__OF_GLIBC,
    /* %p of a null pointer is "(nil)"; or "0", and a %p with a precision or a flag is left to libc. */
    ASF__KNOWN_POINTERS = ASF__OF_GLIBC,
    /* %a of a subnormal number begins with 0x0; or with 0x1, and is left to libc. */
    ASF__SCALES_BY_EXPONENT = ASF__OF_GLIBC,
    /* %020ls is padded text; or is left to libc, which counts its padding without putting it.  %lc of 0
     * is a null; or, before musl 1.2.4, nothing. */
    ASF__PADS_WIDE = ASF__OF_GLIBC,
    /* %#g of 999999.5 is "1.e+06", without the zeros that # asks for; or "1.00000e+06". */
    ASF__LOSES_ZEROS = ASF__OF_GLIBC,
    /* Padding that does not fit is put in chunks of this size. */
    ASF__PAD_CHUNK = ASF__OF_GLIBC ? 16 : 256,
    /* The chunks in which a field is put that does not fit into the window.  musl puts the zeros of the
     * width and of the precision separately, "%%" together with the text before it, the digits of a
     * floating-point number in groups of nine, and %ls character by character.  glibc joins the zeros,
     * puts "%%" separately, a floating-point number as one chunk, and %ls by 256 bytes. */
    ASF__PUTS_GROUPS = !ASF__OF_GLIBC,
};

/* Whether the modifier from `length` to the conversion's letter is known, and this library's conversion
 * equals libc's. */
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
    case 'C':
    case 'S':
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
