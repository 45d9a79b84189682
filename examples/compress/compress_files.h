/* SPDX-License-Identifier: MIT
 *
 * compress_files.h - codes files, and replaces them by the result.
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

/* Exit statuses, combined by |.  If the result has STATUS_ERROR, the program exits with STATUS_ERROR. */
enum { STATUS_OK = 0, STATUS_ERROR = 1, STATUS_UNCHANGED = 2 };

/* code_file: code one file, into its replacement or to the standard output.
 * Messages go to stderr. */
int code_file(const char *name, const struct compress_options *options);

/* code_stdin: code the standard input to the standard output. */
int code_stdin(const struct compress_options *options);

/* close_stdout: write pending output, and return the exit status. */
int close_stdout(void);

#endif
