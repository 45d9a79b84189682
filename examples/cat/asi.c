/* SPDX-License-Identifier: MIT
 *
 * asi.c - cat on the Alloc Stream Interface: from stream to stream by
 * asf_copy; formatted, from the input's own buffer into the output's.
 */
#include <asf/asf.h>
#include <string.h>

#include "cat.h"
#include "examples/common/program.h"
#include "examples/common/streams.h"

enum { REGION = 128 << 10, PIECE = 4096 };

static struct asf_cios *out;

static void copy_formatted(const struct cat_format *format, const char *p, size_t n) {
    while (n > 0) {
        size_t piece = n < PIECE ? n : PIECE;
        char *to = output_region(out, piece * CAT_GROWTH + 1);
        output_done(out, to, cat_format(format, p, piece, to));
        p += piece;
        n -= piece;
    }
}

/* A write error ends the program here. */
static int copy_all(struct input *in) {
    int64_t n = asf_copy(in->stream, out, INT64_MAX);
    if (n < 0)
        output_flush(out);
    return n < 0 ? (int)n : 0;
}

/* returns  0 at the end of the file, or a negated errno value. */
static int copy(struct input *in, const struct cat_format *format) {
    ssize_t length = REGION;
    if (!cat_formats(format))
        return copy_all(in);
    for (char *region; (region = asf_salloc_some(in->stream, &length)); length = REGION) {
        copy_formatted(format, region, (size_t)length);
        int error = asf_sfree(in->stream, region);
        if (error)
            return error;
        if (in->waits)
            output_flush(out);
    }
    return (int)length;
}

/* Output comes before the message that follows it. */
static void failed(const char *name, int error) {
    if (out)
        output_flush(out);
    cat_failed(name, -error);
}

void cat_file(const char *name, const struct cat_format *format) {
    struct input in;
    int error = input_open(&in, name);
    if (error) {
        failed(name, error);
        return;
    }
    if (!out)
        out = output_open();
    error = cat_is_output(asf_fileno(in.stream), name) ? 0 : copy(&in, format);
    if (error)
        failed(name, error);
    error = input_close(&in);
    if (error)
        failed(name, error);
}

void cat_end(const char *last, size_t n) {
    if (n > 0) {
        char *region = output_region(out, n);
        memcpy(region, last, n);
        output_done(out, region, n);
    }
    if (out)
        output_close(out);
}
