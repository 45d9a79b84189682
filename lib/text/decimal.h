/* SPDX-License-Identifier: MIT
 *
 * decimal.h - doubles as text and back, with nothing lost either way, whatever
 * the program's locale.
 */
#ifndef ASF_LIB_DECIMAL_H
#define ASF_LIB_DECIMAL_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { ASF_DECIMAL = 40 }; /* bytes that hold any of them, and a null */

/* asf__put_double: the number with the fewest digits that strtod reads as this
 * very value, and of those the nearest to it.  A NaN keeps its sign and payload,
 * and becomes quiet.  `to` has room for ASF_DECIMAL bytes; what is after the null
 * may have changed.
 * returns  bytes, without the terminating null. */
size_t asf__put_double(char *to, double value);

/* asf__get_double: the value of a null-terminated word of `length` bytes that is
 * a number as strtod knows them.
 * returns  0; -EBADMSG when it is none; -ERANGE when it is too large. */
int asf__get_double(const char *word, size_t length, double *value);

#pragma GCC visibility pop

#endif
