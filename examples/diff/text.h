/* SPDX-License-Identifier: MIT
 *
 * text.h - diff's input and output: whole files in memory, and text to standard output.  diff_plain.c
 * implements these functions with stdio, diff_asi.c with the Alloc Stream Interface.
 */
#ifndef ASF_EXAMPLES_TEXT_H
#define ASF_EXAMPLES_TEXT_H

#include <stddef.h>

struct text {
    const char *data;
    size_t size;
    void *source; /* the stream or the memory that text_free frees */
};

/* text_read: read a whole file.
 *   fd    open for reading; text_read takes it over
 *   size  the expected size, or 0
 * returns  0 or an errno value.  The caller calls text_free in either case. */
int text_read(struct text *text, int fd, size_t size);

/* text_free: returns 0, or an errno value if the file was truncated while it was in use. */
int text_free(struct text *text);

/* text_write: write bytes to standard output.  text_flush: write buffered bytes now.  text_end: end the
 * output.  Errors end the program with a message. */
void text_write(const char *bytes, size_t n);
void text_flush(void);
void text_end(void);

#endif
