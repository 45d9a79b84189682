/* SPDX-License-Identifier: MIT
 *
 * text.h - what diff asks of an I/O library: whole files in memory, and an
 * output.  diff_plain.c does it with stdio, diff_asi.c with the Alloc Stream Interface.
 */
#ifndef ASF_EXAMPLES_TEXT_H
#define ASF_EXAMPLES_TEXT_H

#include <stddef.h>

struct text {
    const char *data;
    size_t size;
    void *source; /* for text_free: what data belongs to */
};

/* text_read: the contents of a file.
 *   fd    open for reading; it belongs to the text from now on
 *   size  what its size is likely to be, or 0
 * returns  0 or an errno value; the text is to be freed in either case. */
int text_read(struct text *text, int fd, size_t size);

/* text_free: returns 0, or an errno value when the file was truncated while
 * it was in use. */
int text_free(struct text *text);

/* text_write: bytes to the standard output; text_flush: all of them, now;
 * text_end: and no more.  Errors end the program with a message. */
void text_write(const char *bytes, size_t n);
void text_flush(void);
void text_end(void);

#endif
