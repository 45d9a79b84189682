/* SPDX-License-Identifier: MIT
 *
 * whole_lines.h - what the programs on the Alloc Stream Interface share: the
 * standard streams, regions of whole lines, errors of output, file after file.
 */
#ifndef ASF_EXAMPLES_WHOLE_LINES_H
#define ASF_EXAMPLES_WHOLE_LINES_H

#include <asf/asf.h>
#include <stdbool.h>

/* stream_on: a stream on an open file that stays open when the stream is
 * closed.  returns  the stream, or NULL with a negated errno value in *error. */
struct asf_cios *stream_on(int fd, int flags, int *error);

struct input {
    struct asf_cios *stream;
    bool waits;   /* not a regular file: data comes when its writer likes */
    char *region; /* that input_lines has given out */
};

/* input_open: open a file, or standard input for "-", which may be named more
 * than once; input_close closes it.
 * return  0 or the negated errno value. */
int input_open(struct input *in, const char *name);
int input_close(struct input *in);

/* input_lines: the next whole lines; the last of the file may lack its end.
 *   length   in: bytes wanted; a longer line makes it more.  out: as salloc.
 * returns  as salloc.  Give them back with input_done, in place of sfree. */
char *input_lines(struct input *in, ssize_t *length, char line_end);
int input_done(struct input *in);

/* output_open: a stream on standard output.  This and the following end the
 * program with a message when output fails. */
struct asf_cios *output_open(void);

/* output_region: as salloc; output_done: give the region back with `used`
 * bytes in it. */
char *output_region(struct asf_cios *out, size_t length);
void output_done(struct asf_cios *out, char *region, size_t used);

/* output_failed: end the program for a negated errno value of a write. */
_Noreturn void output_failed(ssize_t code);

/* output_flush: write all that is done; output_close: and close the stream. */
void output_flush(struct asf_cios *out);
void output_close(struct asf_cios *out);

/* A program that turns each of its files into output. */
struct filter {
    struct asf_cios *out; /* opened with the first file that can be; NULL before */
    /* All of one file.  returns  0 or a negated errno value. */
    int (*work)(struct input *in, const char *name);
    bool (*failed)(const char *name, int error); /* says so: an errno value */
};

/* filter_file: open, work and close; what fails is told after the output that
 * came before it. */
void filter_file(struct filter *f, const char *name);

#endif
