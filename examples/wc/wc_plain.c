/* SPDX-License-Identifier: MIT
 *
 * wc_plain.c - wc on Unix I/O: read into a buffer and count there.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "examples/common/program.h"
#include "wc.h"

static bool count_descriptor(int fd, const char *name, struct wc_text *text) {
    char buffer[16384];
    ssize_t n;
    off_t over = wc_size(fd, text);
    if (over < 0)
        return true;
    if (over > 0)
        lseek(fd, over, SEEK_CUR);
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        text->counts.bytes += (size_t)n;
        wc_text(text, buffer, (size_t)n);
    }
    if (n < 0)
        wc_failed(name, errno);
    return true;
}

bool wc_file(const char *name, struct wc_text *text) {
    if (is_stdin(name))
        return count_descriptor(STDIN_FILENO, name, text);
    int fd = open(name, O_RDONLY);
    if (fd < 0)
        return wc_failed(name, errno);
    count_descriptor(fd, name, text);
    if (close(fd) != 0)
        wc_failed(name, errno);
    return true;
}
