/* SPDX-License-Identifier: MIT
 *
 * decimal.h - doubles as text and back without loss, in any locale.
 */
#ifndef ASF_LIB_DECIMAL_H
#define ASF_LIB_DECIMAL_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { ASF_DECIMAL = 40 }; /* bytes that hold any of these texts and a null */

/* asf__put_double: write the shortest text that strtod reads as exactly this value; of several, the nearest.
 * A NaN keeps its sign and payload, and becomes quiet.  `to` has room for ASF_DECIMAL bytes; bytes after the
 * null may change.
 * returns  the number of bytes, without the terminating null. */
size_t asf__put_double(char *to, double value);

/* asf__put_shortest: write the same digits without the null, as std::to_chars does: with an exponent if that
 * is shorter, a whole number with all its digits, a NaN without its payload.
 * returns  the number of bytes. */
size_t asf__put_shortest(char *to, double value);

/* asf__get_double: read a null-terminated word of `length` bytes as a number, as strtod does.
 * returns  0; -EBADMSG: the word is not a number; -ERANGE: the number is too large. */
int asf__get_double(const char *word, size_t length, double *value);

#pragma GCC visibility pop

#endif
