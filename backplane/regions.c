/* SPDX-License-Identifier: MIT
 *
 * regions.c - the slow side of the paper's Figure 4: regions that the current buffer
 * cannot serve, and those given back that are not in it.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/regions.h"

#include <errno.h>

/* Bytes that were pushed back are in no buffer that may have regions. */
static ssize_t input(struct asf_cios *c, size_t want) {
    bool pushed_back = c->flags & ASF_IN_BACKUP && asf__avail(c) > 0;
    return pushed_back ? asf__fill_buffer(c, want) : asf__fill(c, want);
}

void *asf__salloc_slow(struct asf_cios *c, ssize_t *length, bool some) {
    c->stats.calls++;
    c->stats.slow++;
    if (*length <= 0)
        return asf__no_region(length, -EINVAL);
    size_t want = (size_t)*length;
    int rc = c->failed;
    c->failed = 0;
    if (rc < 0)
        return asf__no_region(length, rc);
    if (asf__is_putting(c) || c->flags & ASF_NO_READS) {
        rc = asf__drain(c, want);
        return rc < 0 ? asf__no_region(length, rc) : asf__grant(c, &c->write_ptr, want);
    }
    ssize_t n = input(c, some ? 1 : want);
    if (n <= 0)
        return asf__no_region(length, n);
    if ((size_t)n < want)
        *length = n;
    return asf__grant(c, &c->read_ptr, (size_t)*length);
}

static int lost(struct asf_cios *c, const struct asf_buffer *b, const char *p) {
    return asf__unlikely(b->truncated) && c->ops->lost ? c->ops->lost(c, b, p) : 0;
}

/* What a person or a peer waits for is put at once. */
static int sfree_current(struct asf_cios *c, const char *p) {
    struct asf_buffer *b = c->buffer;
    int rc = lost(c, b, p);
    b->refs--;
    bool show = b->refs == 0 && asf__is_putting(c) && c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED);
    return show ? asf__flush_output(c) : rc;
}

static int sfree_queued(struct asf_cios *c, struct asf_buffer *b) {
    if (--b->refs > 0 || b != c->queue)
        return 0;
    int rc = asf__flush_queue(c);
    return rc == -EBUSY ? 0 : rc;
}

static struct asf_buffer *find(struct asf_buffer *list, const char *p) {
    while (list && !(asf__within(list, p) && list->refs > 0))
        list = list->next;
    return list;
}

int asf__sfree_slow(struct asf_cios *c, char *p) {
    struct asf_buffer *b = c->buffer;
    if (asf__within(b, p) && b->refs > 0)
        return sfree_current(c, p);
    if ((b = find(c->queue, p)))
        return sfree_queued(c, b);
    if (!(b = find(c->retired, p)))
        return -EINVAL;
    int rc = lost(c, b, p);
    asf__release_buffer(c, b);
    return rc;
}
