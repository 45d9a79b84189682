/* SPDX-License-Identifier: MIT
 *
 * pipe_rings.h - rings beside pipes.  A pipe whose two ends are started by the
 * library may have a ring beside it: a process that is known to be alone with
 * one end of the pipe then moves bytes through the ring, and goes back to the
 * pipe, once and for all, before anything that works on the pipe itself.
 * pipe_ring.c has the protocol.  No lock is held; failures are negated errno values.
 */
#ifndef ASF_INTERFACES_PIPES_PIPE_RINGS_H
#define ASF_INTERFACES_PIPES_PIPE_RINGS_H

#include <sys/types.h>

#include "lib/shm/ring.h"
#include "lib/sys/lock.h"
#include "lib/sys/options.h"

#pragma GCC visibility push(hidden)

/* An end of a pipe with a ring beside it. */
struct asf_pipe_end {
    struct asf_ring *ring;
    int fd;
    bool over; /* back to the pipe for good */
};

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
/* asf__pipe_wait: before a call that waits for n descriptors: they are refused, since it will be
 * made again; or if it only looks, as some programs do when they start, left. */
struct pollfd;
void asf__pipe_wait(struct pollfd *fds, size_t n, bool waits);
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

/* asf__offer_rings: to the children of popen; and serve streams on pipes by those that this
 * process was offered. */
void asf__offer_rings(void);

/* Between the two files: as read() and write(), by ring or pipe; back to the pipe; or gone
 * with the descriptor; the end for writing of a pipe that is read, opened. */
ssize_t asf__pipe_end_read(struct asf_pipe_end *e, char *p, size_t n);
ssize_t asf__pipe_end_write(struct asf_pipe_end *e, const char *p, size_t n);
void asf__pipe_end_leave(struct asf_pipe_end *e);
void asf__pipe_end_lose(struct asf_pipe_end *e);
int asf__pipe_other_end(int fd);

#pragma GCC visibility pop

#endif
