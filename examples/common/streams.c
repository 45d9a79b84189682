/* SPDX-License-Identifier: MIT
 *
 * streams.c - standard streams and regions of whole lines for the programs on
 * the Alloc Stream Interface.
 */
#include "examples/common/streams.h"

#include <asf/scan.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/common/program.h"

static struct asf_cios *standard_input;

int input_open(struct input *in, const char *name) {
    struct stat st;
    int error = 0;
    if (is_stdin(name) && !standard_input)
        standard_input = asf_sopen_fd(STDIN_FILENO, O_RDONLY, &error);
    in->stream = is_stdin(name) ? standard_input : asf_sopen(name, O_RDONLY, 0, &error);
    if (in->stream)
        in->waits = fstat(asf_fileno(in->stream), &st) != 0 || !S_ISREG(st.st_mode);
    return error;
}

int input_close(struct input *in) {
    return in->stream == standard_input ? 0 : asf_sclose(in->stream);
}

/* The bytes up to and with the last line end. */
static ssize_t whole_lines(const char *region, ssize_t length, char line_end) {
    const char *last = asf_scan_rfind(region, line_end, (size_t)length);
    return last ? last + 1 - region : 0;
}

/* A file is asked for all of the length, which it has unless it ends.  Another
 * input is asked for what is at hand, and when that holds no line end for one
 * byte more, which waits until there is more at hand or the input ends. */
char *input_lines(struct input *in, ssize_t *length, char line_end) {
    bool all = !in->waits;
    for (ssize_t least = *length, want = least;;) {
        ssize_t had = want;
        char *region = all ? asf_salloc(in->stream, &had) : asf_salloc_some(in->stream, &had);
        *length = had;
        if (!region || (all && had < want))
            return region;
        *length = whole_lines(region, had, line_end);
        if (*length < had)
            region = asf_srealloc(in->stream, region, length);
        if (!region || *length > 0)
            return region;
        asf_sfree(in->stream, region);
        if (in->waits)
            all = !all;
        want = in->waits && all ? had + 1 : 2 * had > least ? 2 * had : least;
    }
}

static _Noreturn void output_failed(ssize_t code) {
    error(0, (int)-code, "write error");
    exit(EXIT_FAILURE);
}

struct asf_cios *output_open(void) {
    int code = -EBADF, flags = fcntl(STDOUT_FILENO, F_GETFL);
    struct asf_cios *out = flags < 0 ? NULL : asf_sopen_fd(STDOUT_FILENO, flags, &code);
    if (!out)
        output_failed(code);
    return out;
}

char *output_region(struct asf_cios *out, size_t length) {
    ssize_t size = (ssize_t)length;
    char *region = asf_salloc(out, &size);
    if (!region)
        output_failed(size);
    return region;
}

void output_done(struct asf_cios *out, char *region, size_t used) {
    ssize_t size = (ssize_t)used;
    region = asf_srealloc(out, region, &size);
    if (!region)
        output_failed(size);
    int code = asf_sfree(out, region);
    if (code < 0)
        output_failed(code);
}

void output_flush(struct asf_cios *out) {
    int code = asf_sflush(out);
    if (code < 0)
        output_failed(code);
}

void output_close(struct asf_cios *out) {
    int code = asf_sclose(out);
    if (code < 0)
        output_failed(code);
}
