/* SPDX-License-Identifier: MIT
 *
 * wc.h - shared by the two forms of wc.
 */
#ifndef ASF_EXAMPLES_WC_H
#define ASF_EXAMPLES_WC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <wchar.h>

struct wc_counts {
    uint64_t lines, words, chars, bytes;
    uint64_t length; /* the longest line's length in columns */
};

/* The counts of a text, with the state from the end of one block to the next. */
struct wc_text {
    struct wc_counts counts;
    bool in_word;
    uint64_t column;
    mbstate_t state; /* the state of a character that continues in the next block */
    bool cut;        /* a character continues in the next block */
};

/* The kinds of text that wc must find to print its counts.  Each depth includes those before it. */
enum wc_depth {
    WC_BYTES,      /* no text, only its size */
    WC_LINES,      /* newlines */
    WC_WORDS,      /* words and columns, in a locale whose characters are single bytes */
    WC_CHARACTERS, /* characters, in a locale whose characters may have several bytes */
};
enum wc_depth wc_depth(void);

/* wc_columns: whether to find the length of the longest line. */
bool wc_columns(void);

/* wc_threads: the number of threads of -j; 0: one for each usable processor; -1: no -j. */
int wc_threads(void);

/* wc_text: count a block, one byte or character at a time, to the depth of wc_depth.  It does not count
 * bytes. */
void wc_text(struct wc_text *text, const char *block, size_t n);

/* wc_end: call after the last block: counts an incomplete character at the end. */
void wc_end(struct wc_text *text);

/* wc_add: add the counts of a file, or of a part of one, to a total. */
void wc_add(struct wc_counts *total, const struct wc_counts *counts);

/* wc_size: if only bytes are counted, count by the file's size.  If the size may be wrong, leave out the last
 * block, which must be read.
 * returns  the number of counted bytes, to skip; -1 if nothing needs to be read. */
off_t wc_size(int fd, struct wc_text *text);

/* wc_failed: complain about an input.  returns  false. */
bool wc_failed(const char *name, int error);

/* wc_file: count a file, or standard input for "-".  Each form of wc defines this function.
 * returns  whether to print the counts: the file was opened.  It reports errors by wc_failed. */
bool wc_file(const char *name, struct wc_text *text);

#endif
