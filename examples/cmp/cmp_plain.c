/* SPDX-License-Identifier: MIT
 *
 * cmp_plain.c - cmp on Unix I/O: read blocks of both files into buffers.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmp.h"

enum { BUFFER = 65536 };

size_t cmp_difference(const char *a, const char *b, size_t n) {
    size_t i = 0;
    if (memcmp(a, b, n) == 0)
        return n;
    while (a[i] == b[i])
        i++;
    return i;
}

size_t cmp_newlines(const char *p, size_t n) {
    size_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    return lines;
}

/* Read n bytes, fewer only at the end of the file. */
static size_t read_block(const struct cmp_file *file, char *buffer, size_t n) {
    size_t had = 0;
    while (had < n) {
        ssize_t more = read(file->fd, buffer + had, n - had);
        if (more < 0)
            cmp_failed(file, errno);
        if (more == 0)
            break;
        had += (size_t)more;
    }
    return had;
}

static void skip(struct cmp_file *file, char *buffer) {
    while (file->skip > 0) {
        size_t n = read_block(file, buffer, file->skip < BUFFER ? (size_t)file->skip : BUFFER);
        file->skip = n ? file->skip - (off_t)n : 0;
    }
}

void cmp_files(struct cmp_file files[2]) {
    static char buffers[2][BUFFER];
    size_t had[2], both;
    skip(&files[0], buffers[0]);
    skip(&files[1], buffers[1]);
    do {
        size_t want = cmp_want(BUFFER);
        had[0] = read_block(&files[0], buffers[0], want);
        had[1] = read_block(&files[1], buffers[1], want);
        both = had[0] < had[1] ? had[0] : had[1];
        if (!cmp_blocks(buffers[0], buffers[1], both))
            break;
        if (had[0] != had[1])
            cmp_ended(had[1] < had[0]);
    } while (both > 0 && had[0] == had[1]);
    for (int which = 0; which < 2; which++)
        if (close(files[which].fd) != 0)
            cmp_failed(&files[which], errno);
}
