/* SPDX-License-Identifier: MIT
 *
 * cat.h - what the two forms of cat share.
 */
#ifndef ASF_EXAMPLES_CAT_H
#define ASF_EXAMPLES_CAT_H

#include <stdbool.h>
#include <stddef.h>

/* What is done to the bytes on their way. */
struct cat_format {
    bool number, number_nonblank, squeeze, ends, tabs, nonprinting;
};

/* cat_formats: whether anything is done to them. */
bool cat_formats(const struct cat_format *format);

/* cat_format: write a block to `out` as the options want it.  What must be
 * known of the blocks before is kept from call to call.
 *   out      room for n * CAT_GROWTH + 1 bytes
 * returns  the bytes written there. */
enum { CAT_GROWTH = 24 };
size_t cat_format(const struct cat_format *format, const char *block, size_t n, char *out);

/* cat_held: whether the last block ended with a carriage return that waits for
 * what follows; it is written as it is when nothing does. */
bool cat_held(void);

/* cat_failed: complain about an input.  returns  false. */
bool cat_failed(const char *name, int error);

/* cat_is_output: complain, and return true, when an open file is the one that
 * standard output goes to, and would be copied for ever. */
bool cat_is_output(int fd, const char *name);

/* The functions that a form of cat has of its own: copy one operand to
 * standard output; and write the last few bytes and end the output. */
void cat_file(const char *name, const struct cat_format *format);
void cat_end(const char *last, size_t n);

#endif
