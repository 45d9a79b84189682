/* SPDX-License-Identifier: MIT
 *
 * file_ahead.c - a regular file that the ASI only reads, through read(): the reads grow while the program
 * reads in sequence.
 */
#define _GNU_SOURCE
#include "streams/modules.h"

/* A new page takes the kernel as long as copying 30 KB.  A larger buffer delivers bytes a tenth faster,
 * so it is used only after SHORT or LONG bytes of a file, where it wins the pages' cost back. */
enum { PAGE = 4096, AHEAD = 64 << 10, SHORT = 1 << 20, LONG = 16 << 20 };

/* Returns the size of the next read.  After a seek c->data has the size: one page at first, then fourfold
 * each time, since another seek may follow soon. */
static size_t ahead(struct asf_cios *c) {
    size_t last = (size_t)(uintptr_t)c->data;
    if (c->advice == ASF_RANDOM)
        return PAGE;
    if (last > 0) {
        c->data = last < AHEAD ? (void *)(uintptr_t)(4 * last) : NULL;
        return last;
    }
    if (c->stats.in < SHORT)
        return AHEAD;
    return c->stats.in < LONG ? 2 * AHEAD : 4 * AHEAD;
}

static off64_t ahead_seek(struct asf_cios *c, off64_t offset, int whence) {
    c->data = (void *)(uintptr_t)PAGE;
    return asf__fd_seek(c, offset, whence);
}

/* Replaces or enlarges a buffer of the wrong size; keeps the old one if memory is short. */
static void fit_buffer(struct asf_cios *c, size_t size) {
    bool small = c->buffer && c->buffer->size < c->block, large = c->buffer && c->buffer->size > 2 * size;
    if ((small || large) && asf__avail(c) == 0)
        asf__use_buffer(c, NULL);
    else if (small && asf__avail(c) < c->block / 2)
        asf__enlarge_buffer(c, c->block);
}

static ssize_t ahead_fill(struct asf_cios *c, size_t want) {
    c->block = ahead(c);
    fit_buffer(c, want > c->block ? want : c->block);
    asf__read_ahead(c);
    ssize_t n = asf__fill_buffer(c, want);
    asf__filled(c);
    return n;
}

const struct asf_module asf__file_ahead = {
    .name = "read",
    .get = asf__fd_get,
    .seek = ahead_seek,
    .fill = ahead_fill,
    ASF__POSITIONAL_OPS,
    .trim = asf__map_trim, /* for windows that the map module made before this one took over */
    .lost = asf__map_lost,
};
