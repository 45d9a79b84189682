/* SPDX-License-Identifier: MIT
 *
 * descriptor_calls.h - reading from a descriptor, inline: at each level that a system
 * call returns through, the processor guesses wrong where to.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#ifndef ASF_STREAMS_DESCRIPTOR_CALLS_H
#define ASF_STREAMS_DESCRIPTOR_CALLS_H

#include "backplane/gather.h"
#include "lib/sys/cleanup.h"
#include "lib/sys/fresh_memory.h"
#include "lib/sys/syscalls.h"
#include "streams/buffer.h"

/* A stream on which no call is to be cancelled: opened so, or used by libc for
 * a message of its own. */
static inline int asf__hold_cancellation(const struct asf_cios *c) {
    int before = -1;
    if (asf__unlikely(c->flags2 & ASF_NOT_CANCELLED))
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void asf__release_cancellation(int before) {
    if (asf__unlikely(before >= 0))
        pthread_setcancelstate(before, &before);
}

/* ASF__CANCELLED_IN: the value of a call in which a thread may be cancelled; the
 * stream is unlocked then. */
#define ASF__CANCELLED_IN(c, call)                                                                           \
    (__extension__({                                                                                         \
        int before_ = asf__hold_cancellation(c);                                                             \
        ssize_t got_ = ASF_CLEANUP(asf__cancelled, c, call);                                                 \
        asf__release_cancellation(before_);                                                                  \
        got_;                                                                                                \
    }))

/* asf__got: the end of a read that has returned r. */
static inline ssize_t asf__got(struct asf_cios *c, ssize_t r) {
    c->stats.syscalls++;
    if (r > 0) {
        c->stats.in += (uint64_t)r;
        if (c->offset >= 0)
            c->offset += r;
    }
    return r;
}

/* asf__fd_get_deferred: asf__fd_get behind a seek that was put off. */
ssize_t asf__fd_get_deferred(struct asf_cios *c, void *buf, size_t n);

/* asf__fd_get_here: asf__fd_get.  A wait for a pipe or a terminal shows others what
 * we hold back. */
static inline ssize_t asf__fd_get_here(struct asf_cios *c, void *buf, size_t n) {
    if (asf__unlikely(c->deferred))
        return asf__fd_get_deferred(c, buf, n);
    asf__before_io();
    if (c->regular)
        asf__settle_writers(c);
    else
        asf__before_wait();
    asf__before_large_read(c->fd, buf, n);
    return asf__got(c, asf__likely(__libc_single_threaded) ? asf__read(c->fd, buf, n)
                                                           : ASF__CANCELLED_IN(c, asf__read(c->fd, buf, n)));
}

#endif
