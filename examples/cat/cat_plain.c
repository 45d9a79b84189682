/* SPDX-License-Identifier: MIT
 *
 * cat_plain.c - cat on Unix I/O: read into a buffer and write from there.
 */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cat.h"
#include "examples/common/program.h"

enum { BUFFER = 65536, PIECE = 4096 };

static void write_all(const char *p, size_t n) {
    while (n > 0) {
        ssize_t written = write(STDOUT_FILENO, p, n);
        if (written < 0 && errno != EINTR)
            error(EXIT_FAILURE, errno, "write error");
        if (written > 0) {
            p += written;
            n -= (size_t)written;
        }
    }
}

static void write_formatted(const struct cat_format *format, const char *p, size_t n) {
    static char out[PIECE * CAT_GROWTH + 1];
    while (n > 0) {
        size_t piece = n < PIECE ? n : PIECE;
        write_all(out, cat_format(format, p, piece, out));
        p += piece;
        n -= piece;
    }
}

static void copy(int fd, const char *name, const struct cat_format *format) {
    static char buffer[BUFFER];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        if (cat_formats(format))
            write_formatted(format, buffer, (size_t)n);
        else
            write_all(buffer, (size_t)n);
    }
    if (n < 0)
        cat_failed(name, errno);
}

void cat_file(const char *name, const struct cat_format *format) {
    int fd = is_stdin(name) ? STDIN_FILENO : open(name, O_RDONLY);
    if (fd < 0) {
        cat_failed(name, errno);
        return;
    }
    if (!cat_is_output(fd, name))
        copy(fd, name, format);
    if (!is_stdin(name) && close(fd) != 0)
        cat_failed(name, errno);
}

void cat_end(const char *last, size_t n) {
    write_all(last, n);
}
