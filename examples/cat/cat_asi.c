/* SPDX-License-Identifier: MIT
 *
 * cat_asi.c - cat on the Alloc Stream Interface.  asf_copy copies plain output from stream to stream;
 * cat_format formats the bytes of the input's buffer into the output's buffer.
 */
#include <asf/asf.h>
#include <string.h>

#include "cat.h"
#include "examples/common/program.h"
#include "examples/common/whole_lines.h"

enum { REGION = 128 << 10, PIECE = 4096 };

static const struct cat_format *how;
static struct filter filter = {.failed = cat_failed};

static void copy_formatted(const char *p, size_t n) {
    while (n > 0) {
        size_t piece = n < PIECE ? n : PIECE;
        char *to = output_region(filter.out, piece * CAT_GROWTH + 1);
        output_done(filter.out, to, cat_format(how, p, piece, to));
        p += piece;
        n -= piece;
    }
}

/* A write error ends the program here. */
static int copy_all(struct input *in) {
    int64_t n = asf_copy(in->stream, filter.out, INT64_MAX);
    if (n < 0)
        output_flush(filter.out);
    return n < 0 ? (int)n : 0;
}

static int copy(struct input *in, const char *name) {
    ssize_t length = REGION;
    if (cat_is_output(asf_fileno(in->stream), name))
        return 0;
    if (!cat_formats(how))
        return copy_all(in);
    for (char *region; (region = asf_salloc_some(in->stream, &length)); length = REGION) {
        copy_formatted(region, (size_t)length);
        int error = asf_sfree(in->stream, region);
        if (error)
            return error;
        if (in->waits)
            output_flush(filter.out);
    }
    return (int)length;
}

void cat_file(const char *name, const struct cat_format *format) {
    how = format;
    filter.work = copy;
    filter_file(&filter, name);
}

void cat_end(const char *last, size_t n) {
    if (n > 0) {
        char *region = output_region(filter.out, n);
        memcpy(region, last, n);
        output_done(filter.out, region, n);
    }
    if (filter.out)
        output_close(filter.out);
}
