/* SPDX-License-Identifier: MIT
 *
 * check.c - the invariants of a stream between two calls.
 */
#define _GNU_SOURCE
#include "backplane/window.h"

#ifndef NDEBUG
#include <assert.h>

static void check_read_window(const struct asf_cios *c) {
    bool backup = c->flags & ASF_IN_BACKUP && c->backup_base; /* else the flag means the wide backup */
    assert(c->read_base <= c->read_ptr && c->read_ptr <= c->read_end);
    assert(!backup || c->save_base <= c->save_end);
    assert(!backup || !c->buffer || c->read_base < c->buf_base || c->read_base >= c->buf_end);
    if (!backup && c->read_base)
        assert(c->buf_base <= c->read_base && c->read_end <= c->buf_end);
}

static void check_write_window(const struct asf_cios *c) {
    assert(c->write_base <= c->write_ptr);
    if (c->write_base)
        assert(c->buf_base <= c->write_base && c->write_ptr <= c->buf_end && c->write_end <= c->buf_end);
    if (c->write_end > c->write_ptr) { /* putc stores bytes here without any other check */
        assert(asf__is_putting(c));
        assert(!(c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED | ASF_NO_WRITES)));
        assert(c->orientation <= 0);
    }
}

void asf__check(const struct asf_cios *c) {
    if (c->buffer && c->buffer->truncated)
        return; /* the fault handler has moved read_end */
    if (c->use == ASF_IN_SYSTEM_CALL || c->ops->asks_for_offset_each_time || c->ops->memory_is_the_stream)
        return; /* a callback or a handler is in the middle of another call */
    check_read_window(c);
    check_write_window(c);
    assert(!asf__is_putting(c) || c->read_ptr == c->read_end || c->orientation > 0);
    assert((c->buffer != NULL) == (c->buf_base != NULL) ||
           !(c->flags & ASF_LINKED)); /* not of a closed stream */
    assert(c->buffer || c->read_ptr == c->read_end || c->flags & ASF_IN_BACKUP);
    assert(c->mapped == (c->buffer && c->buffer->mapped));
    assert(!(c->gate & ASF_MOVED) || (c->read_ptr == c->read_end && !(asf__is_putting(c) && c->buffer)));
    assert(!c->buffer || c->buffer->kept <= c->buffer->end - c->buffer->first);
    for (const struct asf_buffer *b = c->retired; b; b = b->next)
        assert(b->refs > 0 && b != c->buffer);
    for (const struct asf_buffer *b = c->queue; b; b = b->next)
        assert(b->base <= b->from && b->from <= b->to && b->to <= b->base + b->size);
}
#endif
