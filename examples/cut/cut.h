/* SPDX-License-Identifier: MIT
 *
 * cut.h - what the two forms of cut share.
 */
#ifndef ASF_EXAMPLES_CUT_H
#define ASF_EXAMPLES_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes or fields, counted from 1; `high` is UINT64_MAX for the rest. */
struct cut_range {
    uint64_t low, high;
};

struct cut_options {
    const struct cut_range *ranges; /* in order and apart; after the last one whose low is UINT64_MAX */
    bool fields;                    /* the ranges are of fields, else of bytes */
    bool only_delimited;            /* no lines without a delimiter */
    char delimiter, line_end;
    const char *output_delimiter; /* NULL for bytes unless given */
    size_t output_delimiter_length;
    int threads; /* for a file, 0: as many as the process may use; -1: without parts */
};

/* cut_one_record: whether the delimiter is the line end too, so that a file is
 * one record whose fields are its lines; its last line end parts nothing. */
static inline bool cut_one_record(const struct cut_options *options) {
    return options->fields && options->delimiter == options->line_end;
}

/* cut_has_fields: whether a record with no delimiter in it counts as one with
 * its first field alone: never where delimiters and line ends differ; a record
 * that is a file does when a line end follows it, unless -s is given and the
 * first field is not asked for. */
static inline bool cut_has_fields(const struct cut_options *options, bool line_end_follows) {
    return cut_one_record(options) && line_end_follows &&
           !(options->only_delimited && options->ranges[0].low > 1);
}

/* cut_failed: complain about an input.  returns  false. */
bool cut_failed(const char *name, int error);

/* The functions that a form of cut has of its own: cut a file, or standard
 * input for "-"; write what is still to be written. */
void cut_file(const char *name, const struct cut_options *options);
void cut_end(void);

#endif
