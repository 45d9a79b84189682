/* SPDX-License-Identifier: MIT
 *
 * whole_lines.h - shared by the programs on the Alloc Stream Interface: the standard streams, regions of
 * whole lines, output errors, and a loop body for filters of several files.
 */
#ifndef ASF_EXAMPLES_WHOLE_LINES_H
#define ASF_EXAMPLES_WHOLE_LINES_H

#include <asf/asf.h>
#include <stdbool.h>

/* stream_on: open a stream on a duplicate of a descriptor, which stays open when the stream is closed.
 * returns  the stream, or NULL with a negated errno value in *error. */
struct asf_cios *stream_on(int fd, int flags, int *error);

struct input {
    struct asf_cios *stream;
    bool waits;   /* not a regular file: a read may wait for a writer */
    char *region; /* the region that input_lines returned */
};

/* input_open: open a file, or standard input for "-".  Several operands may be "-".
 * input_close: close the stream.
 * return  0 or a negated errno value. */
int input_open(struct input *in, const char *name);
int input_close(struct input *in);

/* input_lines: allocate the next whole lines as a region.  The file's last line may lack its line end.
 *   length   in: bytes wanted; a longer line is returned whole.  out: as salloc.
 * returns  as salloc.
 * input_done: give the region back. */
char *input_lines(struct input *in, ssize_t *length, char line_end);
int input_done(struct input *in);

/* output_open: open a stream on standard output.  This function and the following ones end the program with
 * a message if output fails. */
struct asf_cios *output_open(void);

/* output_region: as salloc.  output_done: write the first `used` bytes of the region, and give it back. */
char *output_region(struct asf_cios *out, size_t length);
void output_done(struct asf_cios *out, char *region, size_t used);

/* output_failed: report a write error, a negated errno value, and end the program. */
_Noreturn void output_failed(ssize_t code);

/* output_flush: write pending output.  output_close: write pending output, and close the stream. */
void output_flush(struct asf_cios *out);
void output_close(struct asf_cios *out);

/* A program that reads each of its files and writes to standard output. */
struct filter {
    struct asf_cios *out; /* opened after the first file that can be opened; NULL before */
    /* processes one file; returns 0 or a negated errno value */
    int (*work)(struct input *in, const char *name);
    bool (*failed)(const char *name, int error); /* report an errno value */
};

/* filter_file: open a file, process it and close it.  Earlier output is written before an error is
 * reported. */
void filter_file(struct filter *f, const char *name);

#endif
