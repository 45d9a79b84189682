/* SPDX-License-Identifier: MIT
 *
 * pipe_ring.h - rings beside pipes.  A pipe whose two ends are started by the
 * library may have a ring beside it: a process that is known to be alone with
 * one end of the pipe then moves bytes through the ring, and goes back to the
 * pipe, once and for all, before anything that works on the pipe itself.
 * streams/pipe_ring.c has the protocol.  No lock is held; failures are negated
 * errno values.
 * Layer: backplane.  May include: lib, include/asf.
 */
#ifndef ASF_BACKPLANE_PIPE_RING_H
#define ASF_BACKPLANE_PIPE_RING_H

#include <sys/types.h>

#include "lib/sys/lock.h"
#include "lib/sys/options.h"

#pragma GCC visibility push(hidden)

/* asf__rings: whether any descriptor of this process may have a ring. */
static inline bool asf__rings(void) {
    return asf__unlikely(asf__options()->rings > 0);
}

/* asf__pipe_read, asf__pipe_write: as the system calls, on any descriptor; by
 * its ring if it has one. */
ssize_t asf__pipe_read(int fd, void *buf, size_t n);
ssize_t asf__pipe_write(int fd, const void *buf, size_t n);
/* asf__pipe_has_ring: whether they go by one now. */
bool asf__pipe_has_ring(int fd);

/* asf__pipe_leave: before a call that works on the pipe itself: what is in the
 * ring goes there.  asf__pipe_leave_all: the same for every descriptor. */
void asf__pipe_leave(int fd);
void asf__pipe_leave_all(void);
/* asf__pipe_refuse: the same, and never a ring on this descriptor: something
 * watches the pipe from now on. */
void asf__pipe_refuse(int fd);
/* asf__pipe_lose: the descriptor is about to be closed. */
void asf__pipe_lose(int fd);
/* asf__pipe_share: other processes may use this one's descriptors from now on:
 * rings are left, and none is taken any more. */
void asf__pipe_share(void);
/* asf__pipe_opened: a new descriptor may be on a pipe that has a ring here. */
void asf__pipe_opened(int fd);

/* asf__pipe_own: this process has made a pipe with a ring, and keeps the end
 * `fd`; the ring's descriptor stays open as long as that. */
void asf__pipe_own(int fd, int ring, uint64_t inode);

#pragma GCC visibility pop

#endif
