/* SPDX-License-Identifier: MIT
 *
 * whole_lines.c - standard streams, and regions of whole lines, for the programs on the Alloc Stream
 * Interface.
 */
#include "examples/common/whole_lines.h"

#include <asf/lines.h>
#include <asf/scan.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/common/program.h"

struct asf_cios *stream_on(int fd, int flags, int *error) {
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own >= 0)
        return asf_sopen_fd(own, flags, error);
    *error = -errno;
    return NULL;
}

int input_open(struct input *in, const char *name) {
    struct stat st;
    int error = 0;
    *in = (struct input){0};
    in->stream =
        is_stdin(name) ? stream_on(STDIN_FILENO, O_RDONLY, &error) : asf_sopen(name, O_RDONLY, 0, &error);
    if (in->stream)
        in->waits = fstat(asf_fileno(in->stream), &st) != 0 || !S_ISREG(st.st_mode);
    return error;
}

int input_close(struct input *in) {
    return asf_sclose(in->stream);
}

/* Returns the number of bytes up to and including the last line end; `length` if there is no line end. */
static ssize_t whole_lines(const char *text, ssize_t length, char line_end) {
    const char *last = asf_scan_rfind(text, line_end, (size_t)length);
    return last ? last + 1 - text : length;
}

/* Wait for the first line.  If it is shorter than *length, give it back and allocate it again, together with
 * the lines that are buffered after it. */
char *input_lines(struct input *in, ssize_t *length, char line_end) {
    ssize_t want = *length, n = SSIZE_MAX;
    char *text = asf_salloc_until(in->stream, line_end, &n);
    if (text && n < want && text[n - 1] == line_end) {
        n = 0;
        asf_sfree(in->stream, asf_srealloc(in->stream, text, &n));
        n = want;
        text = asf_salloc_some(in->stream, &n);
    }
    *length = text ? whole_lines(text, n, line_end) : n;
    if (text && *length < n)
        text = asf_srealloc(in->stream, text, length);
    return in->region = text;
}

int input_done(struct input *in) {
    return asf_sfree(in->stream, in->region);
}

/* After EPIPE the program still runs only if the writing thread blocked SIGPIPE: raise the signal here. */
_Noreturn void output_failed(ssize_t code) {
    if (code == -EPIPE)
        raise(SIGPIPE);
    error(0, (int)-code, "write error");
    exit(EXIT_FAILURE);
}

struct asf_cios *output_open(void) {
    int code = -EBADF, flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags >= 0)
        flags = (flags & ~O_ACCMODE) | O_WRONLY;
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

static void tell(const struct filter *f, const char *name, int error) {
    if (error == 0)
        return;
    if (f->out)
        output_flush(f->out);
    f->failed(name, -error);
}

void filter_file(struct filter *f, const char *name) {
    struct input in;
    int error = input_open(&in, name);
    if (error) {
        tell(f, name, error);
        return;
    }
    if (!f->out)
        f->out = output_open();
    tell(f, name, f->work(&in, name));
    tell(f, name, input_close(&in));
}
