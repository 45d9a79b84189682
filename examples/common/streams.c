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
#include <string.h>
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
    free(in->text);
    return asf_sclose(in->stream);
}

/* The bytes up to and with the last line end. */
static ssize_t whole_lines(const char *text, ssize_t length, char line_end) {
    const char *last = asf_scan_rfind(text, line_end, (size_t)length);
    return last ? last + 1 - text : 0;
}

/* Of a file, all that is wanted can be had, up to its end; a line that has
 * only begun is given back, and had again in the next region. */
static char *file_lines(struct input *in, ssize_t *length, char line_end) {
    for (ssize_t want = *length;; want *= 2) {
        *length = want;
        in->region = asf_salloc(in->stream, length);
        if (!in->region || *length < want)
            return in->region;
        *length = whole_lines(in->region, *length, line_end);
        if (*length < want)
            in->region = asf_srealloc(in->stream, in->region, length);
        if (!in->region || *length > 0)
            return in->region;
        asf_sfree(in->stream, in->region);
    }
}

static int append_region(struct input *in, char *region, size_t n) {
    if (in->room - in->length < n) {
        in->room = 2 * (in->length + n);
        in->text = realloc(in->text, in->room);
        if (!in->text)
            error(EXIT_FAILURE, errno, "memory exhausted");
    }
    memcpy(in->text + in->length, region, n);
    in->length += n;
    return asf_sfree(in->stream, region);
}

/* Of another input, what is at hand is taken.  A line that has begun cannot be
 * given back, since asking again would not wait for more of it: lines are put
 * together here. */
static char *waiting_lines(struct input *in, ssize_t *length, char line_end) {
    for (ssize_t want = *length; in->taken == 0;) {
        *length = want;
        char *region = asf_salloc_some(in->stream, length);
        if (!region && (*length < 0 || in->length == 0))
            return NULL;
        size_t before = in->length;
        ssize_t lines = region ? whole_lines(region, *length, line_end) : 0;
        int code = region ? append_region(in, region, (size_t)*length) : 0;
        if (code < 0) {
            *length = code;
            return NULL;
        }
        in->taken = !region ? in->length : lines ? before + (size_t)lines : 0;
    }
    *length = (ssize_t)in->taken;
    return in->text;
}

char *input_lines(struct input *in, ssize_t *length, char line_end) {
    return in->waits ? waiting_lines(in, length, line_end) : file_lines(in, length, line_end);
}

int input_done(struct input *in) {
    if (!in->waits)
        return asf_sfree(in->stream, in->region);
    in->length -= in->taken;
    memmove(in->text, in->text + in->taken, in->length);
    in->taken = 0;
    return 0;
}

static _Noreturn void output_failed(ssize_t code) {
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
