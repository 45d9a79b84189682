/* SPDX-License-Identifier: MIT
 *
 * file_update.c - a regular file that the ASI reads and writes.  The first read after a write or seek is
 * small, and the next ones grow, so that a program which alternates reads and writes moves few bytes.
 */
#define _GNU_SOURCE
#include "streams/modules.h"

enum { FIRST = 4 << 10, LARGEST = 256 << 10 };

/* Returns the size of the last read; 0 after a write or a seek. */
static size_t last(const struct asf_cios *c) {
    return (size_t)(uintptr_t)c->data;
}

static ssize_t update_get(struct asf_cios *c, void *buf, size_t n) {
    size_t most = last(c) == 0 ? FIRST : last(c) < LARGEST ? 2 * last(c) : LARGEST;
    c->data = (void *)(uintptr_t)most;
    return asf__fd_get(c, buf, n < most ? n : most);
}

static ssize_t update_put(struct asf_cios *c, const void *buf, size_t n) {
    c->data = NULL;
    return asf__fd_put(c, buf, n);
}

static int64_t update_seek(struct asf_cios *c, int64_t offset, int whence) {
    c->data = NULL;
    return asf__fd_seek(c, offset, whence);
}

const struct asf_module asf__places_update = {
    .name = "update",
    .get = update_get,
    .put = update_put,
    .seek = update_seek,
    ASF__POSITIONAL_OPS,
};
