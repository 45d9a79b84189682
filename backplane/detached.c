/* SPDX-License-Identifier: MIT
 *
 * detached.c - output with regions in use, when a positional call moves the stream to another offset: the
 * output becomes a stream of its own, without a lock or a descriptor.  The module's `put_at` puts it
 * when its regions are given back.
 */
#define _GNU_SOURCE
#include "backplane/engine.h"

#include <errno.h>

/* Empties the window, so that its bytes are read again: the put may have changed them in the file. */
void asf__forget_window(struct asf_cios *c) {
    if (asf__is_putting(c) || c->gate & ASF_MOVED || c->flags & ASF_IN_BACKUP)
        return;
    off64_t at = c->ops->seek(c, -(off64_t)asf__avail(c), SEEK_CUR);
    if (at < 0)
        return;
    c->offset = at;
    asf__empty_windows(c);
}

static ssize_t put_where_it_belongs(struct asf_cios *d, const void *p, size_t n) {
    struct asf_cios *c = d->data;
    ssize_t r = c->ops->put_at(c, p, n, d->place);
    d->place += r > 0 ? r : (off64_t)n; /* bytes that fail are lost; the next bytes keep their offset */
    if (r > 0)
        asf__forget_window(c);
    return r;
}

static const struct asf_module detached = {
    .name = "detached",
    .put = put_where_it_belongs,
};

static int detach_output(struct asf_cios *c) {
    if (!c->ops->put_at || c->flags & ASF_APPENDING || c->buffer == &c->single)
        return -EBUSY;
    off64_t at = asf__go_to_output(c);
    if (at == 0)
        at = c->ops->seek(c, 0, SEEK_CUR);
    struct asf_cios *d = at >= 0 ? asf__cios_new(&detached, -1, O_WRONLY) : NULL;
    if (!d)
        return at < 0 ? (int)at : -ENOMEM;
    asf__table_last(c);
    d->flags |= ASF_PUTTING;
    d->data = c;
    d->place = at;
    d->block = c->block;
    asf__use_buffer(d, c->buffer);
    asf__set_write(d, c->write_ptr);
    d->write_base = c->write_base;
    asf__set_read(d, c->write_base, c->write_base, c->write_base);
    d->queue = c->queue;
    d->left_out = c->left_out;
    c->queue = NULL;
    c->left_out = 0;
    c->buffer = NULL;
    asf__use_buffer(c, NULL);
    d->next = c->detached;
    c->detached = d;
    asf__wake_waiting(c);
    return 0;
}

int asf__put_or_detach(struct asf_cios *c) {
    bool none = c->gate & ASF_MOVED || !c->ops->put_at; /* nothing is pending, or asf__seek puts it */
    int rc = none ? 0 : asf__flush_output(c);
    return rc == ASF_PARTLY ? detach_output(c) : rc;
}

int asf__settle_detached(struct asf_cios *c, struct asf_cios *d) {
    int rc = asf__flush_output(d);
    c->flags |= d->flags & ASF_ERR;
    if (rc == ASF_PARTLY || asf__pending(d) > 0 || d->queue)
        return rc ? rc : ASF_PARTLY;
    struct asf_cios **at = &c->detached;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    asf__cios_free(d);
    return rc;
}

int asf__flush_detached(struct asf_cios *c) {
    int rc = 0;
    for (struct asf_cios *d = c->detached, *next; d; d = next) {
        next = d->next;
        int one = asf__settle_detached(c, d);
        if (rc >= 0)
            rc = one ? one : rc;
    }
    return rc == 0 && asf__end_apart(c) > 0 ? ASF_PARTLY : rc;
}

off64_t asf__end_of_detached(const struct asf_cios *c) {
    off64_t end = asf__end_apart(c);
    for (const struct asf_cios *d = c->detached; d; d = d->next) {
        off64_t at = d->place + (off64_t)asf__waiting(d);
        end = at > end ? at : end;
    }
    return end;
}
