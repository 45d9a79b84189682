/* SPDX-License-Identifier: MIT
 *
 * wc.h - what the two forms of wc share.
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
    uint64_t length; /* of the longest line, in columns */
};

/* A count that goes on from block to block. */
struct wc_text {
    struct wc_counts counts;
    bool in_word;
    uint64_t column;
    mbstate_t state; /* of a character that a block has cut in two */
    bool cut;        /* there is one */
};

/* How closely the text must be looked at for what is to be printed. */
enum wc_depth {
    WC_BYTES,      /* bytes alone */
    WC_LINES,      /* and newlines */
    WC_WORDS,      /* and words and columns, in a locale whose characters are bytes */
    WC_CHARACTERS, /* and characters, where they may have several bytes */
};
enum wc_depth wc_depth(void);

/* wc_columns: whether the length of the longest line is asked for. */
bool wc_columns(void);

/* wc_threads: how many -j asks for, 0 for as many as the process may use; -1 without it. */
int wc_threads(void);

/* wc_text: count a block a byte or character at a time, to the depth that is
 * needed; all but the bytes. */
void wc_text(struct wc_text *text, const char *block, size_t n);

/* wc_end: count what is left when the last block has been: the beginning of a
 * character. */
void wc_end(struct wc_text *text);

/* wc_add: add what was counted of one file, or part of it. */
void wc_add(struct wc_counts *total, const struct wc_counts *counts);

/* wc_size: as many bytes of an open file as are known without reading: all,
 * or all but the last block where the size may be an estimate.
 * returns  the bytes to pass over, or -1 when nothing need be read. */
off_t wc_size(int fd, struct wc_text *text);

/* wc_failed: complain about an input.  returns  false. */
bool wc_failed(const char *name, int error);

/* wc_file: count a file, or standard input for "-".  The one function
 * that a form of wc has of its own.
 * returns  whether the file could be opened, and its counts be printed; errors
 *          are told by wc_failed. */
bool wc_file(const char *name, struct wc_text *text);

#endif
