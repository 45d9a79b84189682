/* SPDX-License-Identifier: MIT
 *
 * joined.h - Unix I/O on a descriptor whose stream is used by the ASI, too.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#ifndef ASF_INTERFACES_UNIX_JOINED_H
#define ASF_INTERFACES_UNIX_JOINED_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* asf__joined: the stream that calls on this descriptor go to, or NULL. */
static inline struct asf_cios *asf__joined(int fd) {
    struct asf_cios *c = asf__likely(!asf__some_joined) ? NULL : asf__fd_stream(fd);
    while (c && !c->joined)
        c = c->fd_next;
    return c;
}

ssize_t asf__joined_read(struct asf_cios *c, void *p, size_t n);
off64_t asf__joined_seek(struct asf_cios *c, off64_t offset, int whence);
/* asf__joined_release: the kernel's offset and data are the stream's: what is
 * pending is put, what was read ahead is given back. */
void asf__joined_release(struct asf_cios *c);

#pragma GCC visibility pop

#endif
