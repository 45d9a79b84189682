/* SPDX-License-Identifier: MIT
 *
 * pipe_rings.h - rings for pipes.  A pipe whose two ends the library started may have a ring.  A process that
 * knows that no other process has its end of the pipe moves bytes through the ring.  Before any call that
 * works on the pipe itself, it returns to the pipe for good.  pipe_ring.c has the protocol.  No lock is held;
 * failures are negated errno values.
 */
#ifndef ASF_INTERFACES_PIPES_PIPE_RINGS_H
#define ASF_INTERFACES_PIPES_PIPE_RINGS_H

#include <sys/types.h>

#include "lib/shm/ring.h"
#include "lib/sys/lock.h"
#include "lib/sys/options.h"

#pragma GCC visibility push(hidden)

/* One end of a pipe that has a ring. */
struct asf_pipe_end {
    struct asf_ring *ring;
    int fd;
    bool over; /* back to the pipe for good */
};

/* asf__rings: whether any descriptor of this process may have a ring. */
static inline bool asf__rings(void) {
    return asf__unlikely(asf__options()->rings > 0);
}

/* asf__pipe_read, asf__pipe_write: as the system calls, on any descriptor; through its ring if it has one. */
ssize_t asf__pipe_read(int fd, void *buf, size_t n);
ssize_t asf__pipe_write(int fd, const void *buf, size_t n);
/* asf__pipe_has_ring: whether bytes of this descriptor go through a ring now. */
bool asf__pipe_has_ring(int fd);

/* asf__pipe_leave: called before a call that works on the pipe itself: end the ring, whose bytes go to the
 * pipe.
 * asf__pipe_leave_all: the same for every descriptor. */
void asf__pipe_leave(int fd);
void asf__pipe_leave_all(void);
/* asf__pipe_refuse: the same, and no ring on this descriptor later: something watches the pipe from now
 * on. */
void asf__pipe_refuse(int fd);
/* asf__pipe_wait: called before a call that waits for n descriptors.  If it waits, asf__pipe_refuse: the
 * program will make that call again.  If it does not wait, as in programs that look once at their start,
 * asf__pipe_leave. */
struct pollfd;
void asf__pipe_wait(struct pollfd *fds, size_t n, bool waits);
/* asf__pipe_lose: called before the descriptor is closed. */
void asf__pipe_lose(int fd);
/* asf__pipe_share: other processes may use this one's descriptors from now on: all rings are ended, and
 * none is used any more. */
void asf__pipe_share(void);
/* asf__pipe_opened: a new descriptor, which may be on a pipe that has a ring: if it is on a pipe, all
 * rings are ended. */
void asf__pipe_opened(int fd);

/* asf__pipe_own: this process has made a pipe with a ring, and keeps the end `fd`.  The ring's descriptor
 * stays open until `fd` is closed. */
void asf__pipe_own(int fd, int ring, uint64_t inode);

/* asf__offer_rings: give popen's pipes rings, and serve streams on pipes through the rings that this
 * process was offered. */
void asf__offer_rings(void);

/* Between pipe_ring_find.c and pipe_ring.c.
 * asf__pipe_end_read, asf__pipe_end_write: as read() and write(), through the ring or the pipe.
 * asf__pipe_end_leave: end the ring; its bytes go to the pipe.
 * asf__pipe_end_lose: the descriptor is about to be closed.
 * asf__pipe_other_end: open the end for writing of the pipe that `fd` reads. */
ssize_t asf__pipe_end_read(struct asf_pipe_end *e, char *p, size_t n);
ssize_t asf__pipe_end_write(struct asf_pipe_end *e, const char *p, size_t n);
void asf__pipe_end_leave(struct asf_pipe_end *e);
void asf__pipe_end_lose(struct asf_pipe_end *e);
int asf__pipe_other_end(int fd);

#pragma GCC visibility pop

#endif
