/* SPDX-License-Identifier: MIT
 *
 * buffers.c - buffers that have regions: kept while they have, and for the next
 * region, or let go.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/parts.h"

/* How many buffers for pieces a stream keeps. */
enum { SPARES = 8 };

/* One for pieces is kept for the next: new memory costs more than filling it. */
static void let_go(struct asf_cios *c, struct asf_buffer *b) {
    if (!b->for_pieces || c->spares == SPARES) {
        asf__buffer_free(b);
        return;
    }
    b->next = c->spare;
    c->spare = b;
    c->spares++;
}

struct asf_buffer *asf__buffer_spare(struct asf_cios *c) {
    struct asf_buffer *b = c->spare;
    if (b) {
        c->spare = b->next;
        c->spares--;
    } else if ((b = asf__buffer_new(ASF__PIECE))) {
        b->for_pieces = true;
    }
    return b;
}

void asf__buffer_retire(struct asf_cios *c, struct asf_buffer *b) {
    if (b->refs == 0) {
        let_go(c, b);
    } else {
        b->next = c->retired;
        c->retired = b;
    }
}

void asf__buffer_unused(struct asf_cios *c, struct asf_buffer *b) {
    if (b->refs > 0 || b == c->in)
        return;
    for (struct asf_buffer **at = &c->retired; *at; at = &(*at)->next) {
        if (*at == b) {
            *at = b->next;
            let_go(c, b);
            return;
        }
    }
}
