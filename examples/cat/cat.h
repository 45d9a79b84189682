/* SPDX-License-Identifier: MIT
 *
 * cat.h - shared by the two forms of cat.
 */
#ifndef ASF_EXAMPLES_CAT_H
#define ASF_EXAMPLES_CAT_H

#include <stdbool.h>
#include <stddef.h>

/* The options that change the output. */
struct cat_format {
    bool number, number_nonblank, squeeze, ends, tabs, nonprinting;
};

/* cat_formats: whether any option changes the output. */
bool cat_formats(const struct cat_format *format);

/* cat_format: format a block into `out`.  The calls are for consecutive blocks of the output: line numbers
 * and unfinished lines continue from call to call.
 *   out      room for n * CAT_GROWTH + 1 bytes
 * returns  the number of bytes written. */
enum { CAT_GROWTH = 24 };
size_t cat_format(const struct cat_format *format, const char *block, size_t n, char *out);

/* cat_held: whether cat_format has withheld a carriage return at the end of the last block.  With -E it
 * becomes ^M before a newline.  At the end of the input it is written unchanged. */
bool cat_held(void);

/* cat_failed: complain about an input.  returns  false. */
bool cat_failed(const char *name, int error);

/* cat_is_output: complain, and return true, if the input is standard output's file and has bytes to read: the
 * copy would never end. */
bool cat_is_output(int fd, const char *name);

/* Each form of cat defines these.  cat_file copies one operand to standard output.  cat_end writes the last
 * few bytes and ends the output. */
void cat_file(const char *name, const struct cat_format *format);
void cat_end(const char *last, size_t n);

#endif
