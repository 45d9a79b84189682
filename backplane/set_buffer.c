/* SPDX-License-Identifier: MIT
 *
 * set_buffer.c - the buffer that the program chooses for a stream (setvbuf).
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"

int asf__set_buffer(struct asf_cios *c, char *p, size_t n) {
    int rc = asf__whole(asf__sync(c, 0));
    if (rc < 0 || asf__module_fills(c) || asf__module_drains(c)) /* the buffer is the module's own memory */
        return rc;
    asf__drop_large(c);
    c->bulk.state = ASF_BULK_NEVER;
    if (n == 0)
        c->flags |= ASF_UNBUFFERED;
    else
        c->flags &= ~ASF_UNBUFFERED;
    struct asf_buffer *before = c->buffer;
    if (before == &c->single)
        c->buffer = NULL;
    struct asf_buffer *b = asf__single_buffer(c, n ? p : c->shortbuf, n ? n : 1);
    if (b)
        asf__use_buffer(c, b);
    else
        c->buffer = before;
    return 0;
}
