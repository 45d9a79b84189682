/* SPDX-License-Identifier: MIT
 *
 * compress_files.h - the two commands behind their options: which file is
 * coded into which, and what becomes of them.
 *
 * Example programs, shared part.
 */
#ifndef ASF_EXAMPLES_COMPRESS_FILES_H
#define ASF_EXAMPLES_COMPRESS_FILES_H

#include <stdbool.h>

struct compress_options {
    bool uncompress, to_stdout, force, verbose;
    unsigned max_bits;
};

/* Exit statuses, which may be combined: an error outweighs a file left as it was. */
enum { STATUS_OK = 0, STATUS_ERROR = 1, STATUS_UNCHANGED = 2 };

/* code_file: code one file, into its replacement or to the standard output.
 * Messages go to stderr. */
int code_file(const char *name, const struct compress_options *options);

/* code_stdin: code the standard input to the standard output. */
int code_stdin(const struct compress_options *options);

/* close_stdout: returns the status of writing what is still held back. */
int close_stdout(void);

#endif
