/* SPDX-License-Identifier: MIT
 *
 * sync.c - put the pending output, and set the descriptor's offset back over unread input (fflush).
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"

#include <errno.h>

int asf__sync(struct asf_cios *c, size_t pushed) {
    int rc = asf__arrive(c);
    if (rc < 0)
        return rc;
    if (!asf__is_putting(c)) /* if putting, asf__flush_output puts the large buffer, too */
        asf__end_bulk(c);
    rc = asf__flush_output(c);
    asf__end_bulk(c);
    int left = rc == 0 ? asf__flush_detached(c) : 0;
    rc = rc != 0 ? rc : asf__trim(c);
    off64_t unread = c->read_end - c->read_ptr + (off64_t)pushed;
    if (rc != 0 || c->ops->memory_is_the_stream)
        return rc;
    if (unread != 0 && !asf__is_putting(c)) {
        asf__publish_others(c);
        off64_t at = c->ops->seek ? c->ops->seek(c, -unread, SEEK_CUR) : -ESPIPE;
        if (asf__failed(at) && at != -ESPIPE)
            return (int)at;
        if (!asf__failed(at))
            c->read_end = c->read_ptr;
    }
    c->offset = -1;
    return left;
}
