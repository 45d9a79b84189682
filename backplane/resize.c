/* SPDX-License-Identifier: MIT
 *
 * resize.c - change the length of the region that was allocated last (srealloc).
 */
#define _GNU_SOURCE
#include "backplane/engine.h"

#include <errno.h>
#include <stdlib.h>

/* Gives the region back and allocates it again with the other length.  If that fails and the buffer is
 * still current, the region is as before.  If an earlier call met the end of the input, the region keeps
 * its length; if that call met an error, this call returns the error. */
static void *regrow_input(struct asf_cios *c, struct asf_region *r, ssize_t *newlen) {
    char *p = r->p;
    size_t old = r->n;
    struct asf_buffer *b = c->buffer;
    int cut = b->mapped && c->ops->lost ? c->ops->lost(c, b, p, old) : 0;
    if (cut < 0)
        return asf__no_region(newlen, cut);
    if (asf__avail(c) == 0 && c->stopped) {
        *newlen = c->stopped > 0 ? (ssize_t)old : asf__take_stop(c);
        return *newlen < 0 ? NULL : p;
    }
    asf__take_back(c, r);
    c->read_ptr = p;
    void *q = asf__u_salloc(c, newlen, false);
    if (!q && c->buffer == b && c->read_ptr == p)
        asf__grant_again(c, &c->read_ptr, old);
    return q;
}

/* Moves the region into a buffer half as large again as wanted, so that many small extensions copy each
 * byte only a few times. */
static void *regrow_output(struct asf_cios *c, struct asf_region *r, ssize_t *newlen) {
    char *p = r->p;
    size_t old = r->n, want = (size_t)*newlen;
    char *kept = malloc(old);
    if (!kept)
        return asf__no_region(newlen, -ENOMEM);
    memcpy(kept, p, old);
    asf__take_back(c, r);
    c->write_ptr = p;
    int rc = asf__drain(c, want + want / 2);
    char *q = rc < 0 && rc != -ENOMEM ? asf__no_region(newlen, rc) : asf__u_salloc(c, newlen, false);
    if (q)
        memcpy(q, kept, old);
    else if (c->buffer && c->write_ptr == p) /* the region is still in its buffer, unchanged */
        asf__grant_again(c, &c->write_ptr, old);
    free(kept);
    return q;
}

/* Changes the region's length within the window. */
static void *resize_in_window(struct asf_cios *c, struct asf_region *r, size_t n) {
    if (asf__is_putting(c)) {
        c->write_ptr = r->p + n;
        asf__show_room(c);
    } else {
        c->read_ptr = r->p + n;
    }
    r->n = n;
    return r->p;
}

/* Changes an output region's length to 0, and gives the region an address of its own, since the next
 * region will begin at the old one. */
static void *empty_output(struct asf_cios *c, struct asf_region *r, ssize_t *newlen) {
    struct asf_buffer *b = asf__buffer_new(1);
    if (!b)
        return asf__no_region(newlen, -ENOMEM);
    c->write_ptr = r->p;
    asf__show_room(c);
    asf__take_back(c, r);
    asf__hand_out_apart(c, b, 0);
    asf__wake_waiting(c);
    return b->base;
}

void *asf__resize(struct asf_cios *c, struct asf_region *r, ssize_t *newlen) {
    const char *end = asf__is_putting(c) ? c->buf_end : c->read_end;
    size_t n = (size_t)*newlen;
    if (n == 0 && asf__is_putting(c))
        return empty_output(c, r, newlen);
    if (n <= r->n || (end > r->p && n <= (size_t)(end - r->p)))
        return resize_in_window(c, r, n);
    return asf__is_putting(c) ? regrow_output(c, r, newlen) : regrow_input(c, r, newlen);
}
