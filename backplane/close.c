/* SPDX-License-Identifier: MIT
 *
 * close.c - close a stream: put its pending output, unless it has regions in use, and close its module.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"

static bool some_have_regions(const struct asf_buffer *list) {
    while (list && list->refs == 0)
        list = list->next;
    return list != NULL;
}

static bool has_regions(const struct asf_cios *c) {
    return c->detached || (c->ops->busy && c->ops->busy(c)) || (c->buffer && c->buffer->refs) ||
           some_have_regions(c->queue) || some_have_regions(c->retired);
}

/* Puts all pending output.  A flush of a large buffer stops at a block that fails: the loop flushes the
 * rest. */
static int put_last(struct asf_cios *c) {
    size_t left = SIZE_MAX;
    int first = asf__is_exclusive(c) ? 0 : asf__arrive(c);
    while (c->bulk.own && asf__pending(c) > 0 && asf__pending(c) < left) {
        left = asf__pending(c);
        int rc = asf__flush_output(c);
        first = first ? first : rc;
    }
    int rc = asf__flush_output(c);
    return first ? first : rc;
}

/* Unlocks the stream for asf__cios_unlink, since the list's lock ranks before a stream's. */
bool asf__cios_close(struct asf_cios *c, int *result) {
    asf__begin_call(c);
    int apart = asf__flush_detached(c);
    bool busy = has_regions(c);
    if (busy)
        asf__flush_output(c);
    asf__end_call(c);
    if (busy)
        return false;
    asf__cios_unlink(c);
    asf__begin_call(c);
    int rc = asf__is_putting(c) && !c->ops->memory_is_the_stream ? put_last(c) : 0;
    if (!asf__is_exclusive(c)) /* if exclusive, no other process needs the descriptor's offset */
        asf__end_bulk(c);
    asf__report(c);
    if (asf__hooks.closing)
        asf__hooks.closing(c);
    int closed = c->ops->close ? c->ops->close(c) : 0;
    asf__end_call(c);
    *result = closed ? closed : rc ? rc : apart;
    return true;
}
