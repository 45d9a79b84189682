/* SPDX-License-Identifier: MIT
 *
 * put.c - the descriptor's offset before output, and after output that failed.
 */
#define _GNU_SOURCE
#include "backplane/put.h"

/* Moves the descriptor from read_end to write_base, before the first byte is put.  When appending, the
 * kernel moves it. */
int asf__go_to_output(struct asf_cios *c) {
    if (c->flags & ASF_APPENDING) {
        c->offset = -1;
    } else if (c->read_end != c->write_base) {
        off64_t at = c->ops->seek ? c->ops->seek(c, c->write_base - c->read_end, SEEK_CUR) : -ESPIPE;
        if (asf__failed(at))
            return (int)at;
        c->offset = at;
        asf__set_read(c, c->write_base, c->write_base, c->write_base);
    }
    return 0;
}

bool asf__pass_over(struct asf_cios *c, size_t n) {
    if (n == 0 || !c->ops->put_at || c->flags & ASF_APPENDING)
        return true;
    off64_t at = c->ops->seek(c, (off64_t)n, SEEK_CUR);
    if (at >= 0 && c->offset >= 0)
        c->offset = at;
    return at >= 0;
}
