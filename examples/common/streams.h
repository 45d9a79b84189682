/* SPDX-License-Identifier: MIT
 *
 * streams.h - what the programs on the Alloc Stream Interface share: the
 * standard streams, regions of whole lines, errors of output.
 */
#ifndef ASF_EXAMPLES_STREAMS_H
#define ASF_EXAMPLES_STREAMS_H

#include <asf/asf.h>
#include <stdbool.h>

struct input {
    struct asf_cios *stream;
    bool waits; /* not a regular file: data comes when its writer likes */
};

/* input_open: open a file, or standard input for "-".
 * returns  0 or the negated errno value. */
int input_open(struct input *in, const char *name);

/* input_close: close it.  Standard input is left open: it may be named twice.
 * returns  0 or the negated errno value. */
int input_close(struct input *in);

/* input_lines: a region that ends where a line ends, or at the end of the
 * file; what follows the last line end is left in the stream.
 *   length   in: bytes wanted; a longer line makes it more.  out: as salloc.
 * returns  as salloc. */
char *input_lines(struct input *in, ssize_t *length, char line_end);

/* output_open: a stream on standard output.  This and the following end the
 * program with a message when output fails. */
struct asf_cios *output_open(void);

/* output_region: as salloc; output_done: give the region back with `used`
 * bytes in it. */
char *output_region(struct asf_cios *out, size_t length);
void output_done(struct asf_cios *out, char *region, size_t used);

/* output_flush: write all that is done; output_close: and close the stream. */
void output_flush(struct asf_cios *out);
void output_close(struct asf_cios *out);

#endif
