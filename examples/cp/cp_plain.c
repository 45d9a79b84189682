/* SPDX-License-Identifier: MIT
 *
 * cp_plain.c - cp on Unix I/O: read into a buffer and write from there.
 */
#include <errno.h>
#include <unistd.h>

#include "cp.h"

static bool write_all(struct cp_file to, const char *p, size_t n) {
    while (n > 0) {
        ssize_t written = write(to.fd, p, n);
        if (written < 0 && errno != EINTR)
            return cp_write_failed(to, errno);
        if (written > 0) {
            p += written;
            n -= (size_t)written;
        }
    }
    return true;
}

bool cp_contents(struct cp_file from, struct cp_file to) {
    static char buffer[65536];
    ssize_t n;
    while ((n = read(from.fd, buffer, sizeof buffer)) > 0)
        if (!write_all(to, buffer, (size_t)n))
            return false;
    return n == 0 || cp_read_failed(from, errno);
}
