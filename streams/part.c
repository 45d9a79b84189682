/* SPDX-License-Identifier: MIT
 *
 * part.c - a range of a file as a stream of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "lib/sys/syscalls.h"
#include "streams/modules.h"

enum { BLOCK = 128 << 10 };

struct part {
    int fd;
    bool own;
    int64_t begin, end, at; /* offsets in the file */
    const int *stop;
};

static ssize_t count(struct asf_cios *c, ssize_t r) {
    c->stats.syscalls++;
    if (r > 0)
        c->stats.in += (uint64_t)r;
    return r;
}

static ssize_t part_get(struct asf_cios *c, void *buf, size_t n) {
    struct part *s = c->data;
    const int64_t left = s->end - s->at;
    if (s->stop && __atomic_load_n(s->stop, __ATOMIC_RELAXED) != 0)
        return -ECANCELED;
    if (s->end < 0)
        return count(c, asf__sys.read(s->fd, buf, n));
    if (left <= 0)
        return 0;
    ssize_t r = count(c, asf__sys.pread(s->fd, buf, left < (int64_t)n ? (size_t)left : n, s->at));
    if (r > 0)
        s->at += r;
    return r == 0 ? -EIO : r; /* the file was truncated */
}

static int64_t part_seek(struct asf_cios *c, int64_t offset, int whence) {
    struct part *s = c->data;
    int64_t to;
    if (s->end < 0)
        return -ESPIPE;
    const int64_t base = whence == SEEK_SET ? s->begin : whence == SEEK_CUR ? s->at : s->end;
    if (__builtin_add_overflow(base, offset, &to) || to < s->begin)
        return -EINVAL;
    s->at = to;
    return to - s->begin;
}

static int part_close(struct asf_cios *c) {
    struct part *s = c->data;
    int rc = s->own ? asf__close(s->fd) : 0;
    free(s);
    return rc;
}

struct asf_cios *asf__open_range(int fd, bool own, int64_t begin, int64_t end, const int *stop) {
    static const struct asf_module module = {.name = "part",
                                             .get = part_get,
                                             .seek = part_seek,
                                             .close = part_close,
                                             .asks_for_offset_each_time = true};
    struct part *s = malloc(sizeof *s);
    struct asf_cios *c = s ? asf__open_module(&module, s, O_RDONLY) : NULL;
    if (!c) {
        free(s);
        return NULL;
    }
    *s = (struct part){.fd = fd, .own = own, .begin = begin, .end = end, .at = begin, .stop = stop};
    c->why = "part of a file";
    c->block = BLOCK;
    return c;
}
