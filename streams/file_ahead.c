/* SPDX-License-Identifier: MIT
 *
 * file_ahead.c - a regular file of the ASI, read only, through read(): by read-ahead that
 * grows with what is read in sequence.
 */
#define _GNU_SOURCE
#include "streams/modules.h"

/* A new page takes the kernel as long as 30 KB to copy: a larger buffer, from which bytes
 * come a tenth faster, is for files in which that is won back. */
enum { PAGE = 4096, AHEAD = 64 << 10, SHORT = 1 << 20, LONG = 16 << 20 };

/* `data` is the size of the last read since a seek, as long as that is small: another seek may follow. */
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

/* A buffer of another size is replaced; without memory for that it stays. */
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
    .trim = asf__map_trim, /* of windows from before the kernel would not map */
    .lost = asf__map_lost,
};
