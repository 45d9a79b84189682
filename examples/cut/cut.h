/* SPDX-License-Identifier: MIT
 *
 * cut.h - shared by the two forms of cut.
 */
#ifndef ASF_EXAMPLES_CUT_H
#define ASF_EXAMPLES_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of bytes or fields, numbered from 1.  UINT64_MAX as `high`: up to the line's end. */
struct cut_range {
    uint64_t low, high;
};

struct cut_options {
    const struct cut_range *ranges; /* sorted and disjoint; a range with `low` UINT64_MAX ends the array */
    bool fields;                    /* the ranges count fields; false: bytes */
    bool only_delimited;            /* omit lines without a delimiter (-s) */
    char delimiter, line_end;
    const char *output_delimiter; /* NULL: none, if bytes are cut */
    size_t output_delimiter_length;
    int threads; /* threads for a file; 0: one for each usable processor; -1: do not divide the file */
};

/* cut_one_record: whether the delimiter is the line end.  Then a file is one record, and its fields are its
 * lines.  The last line end separates no fields. */
static inline bool cut_one_record(const struct cut_options *options) {
    return options->fields && options->delimiter == options->line_end;
}

/* cut_has_fields: whether a record without a delimiter is cut as a record with one field.  If not, it is
 * printed whole, or omitted with -s.  True only for a file that is one record and has a final line end; with
 * -s, the first field must be selected, too. */
static inline bool cut_has_fields(const struct cut_options *options, bool line_end_follows) {
    return cut_one_record(options) && line_end_follows &&
           !(options->only_delimited && options->ranges[0].low > 1);
}

/* cut_failed: complain about an input.  returns  false. */
bool cut_failed(const char *name, int error);

/* Each form of cut defines these.  cut_file cuts a file, or standard input for "-".  cut_end writes pending
 * output. */
void cut_file(const char *name, const struct cut_options *options);
void cut_end(void);

#endif
