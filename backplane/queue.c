/* SPDX-License-Identifier: MIT
 *
 * queue.c - output with regions in use: the queue of buffers that wait until their regions are given back.
 */
#define _GNU_SOURCE
#include "backplane/put.h"

int asf__put_up_to_region(struct asf_cios *c, struct asf_buffer *b, char **from, const char *to) {
    for (;;) {
        struct asf_region *r = asf__first_region(b);
        const char *end = r ? r->p : to;
        int error = 0;
        *from += asf__put_or_lose(c, *from, (size_t)(end - *from), &error);
        if (error || !r)
            return error;
        if (r->state == ASF_KEPT)
            return ASF_PARTLY;
        r->state = ASF_FREED;
        c->left_out -= r->n;
        *from += r->n;
        if (b == c->buffer) /* the thread may be cancelled in the next put */
            asf__note_put_up_to(c, *from);
    }
}

int asf__flush_queue(struct asf_cios *c) {
    int rc = 0;
    while (rc == 0 && c->queue) {
        struct asf_buffer *b = c->queue;
        rc = asf__put_up_to_region(c, b, &b->from, b->to);
        if (b->from < b->to)
            continue;
        c->queue = b->next;
        asf__retire_buffer(c, b);
    }
    return rc;
}

void asf__queue_output(struct asf_cios *c) {
    struct asf_buffer **at = &c->queue, *b = c->buffer;
    asf__table_last(c);
    while (*at)
        at = &(*at)->next;
    b->from = c->write_base;
    b->to = c->write_ptr;
    b->next = NULL;
    *at = b;
    c->buffer = NULL;
}
