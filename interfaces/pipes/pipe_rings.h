/* SPDX-License-Identifier: MIT
 *
 * pipe_rings.h - rings for pipes.  A pipe may have a ring if the library started the programs at both ends. A
 * process transfers bytes through the ring only if it alone has its end of the pipe.  Before a call that
 * works on the pipe itself, it ends the ring and uses only the pipe from then on.  pipe_ring.c describes the
 * protocol.  The caller holds no lock.  Functions return a negated errno value on failure.
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
    bool stopped; /* the ring has been stopped; only the pipe is used */
};

/* asf__rings: whether a descriptor of this process may have a ring. */
static inline bool asf__rings(void) {
    return asf__unlikely(asf__options()->rings > 0);
}

/* asf__pipe_read, asf__pipe_write: as read and write, on any descriptor; through its ring if it has one. */
ssize_t asf__pipe_read(int fd, void *buf, size_t n);
ssize_t asf__pipe_write(int fd, const void *buf, size_t n);
/* asf__pipe_has_ring: whether bytes of this descriptor go through a ring now. */
bool asf__pipe_has_ring(int fd);

/* asf__pipe_stop_ring: end the descriptor's ring; its bytes go to the pipe.  Call it before any call that
 * works on the pipe itself.
 * asf__pipe_stop_all_rings: the same for every descriptor. */
void asf__pipe_stop_ring(int fd);
void asf__pipe_stop_all_rings(void);
/* asf__pipe_disable_ring: as asf__pipe_stop_ring, and never use a ring on this descriptor again.  For a
 * program that will watch the pipe repeatedly. */
void asf__pipe_disable_ring(int fd);
/* asf__pipe_before_poll: call it before poll or a similar call on n descriptors.  If that call waits, the
 * program will repeat it, so disable the ring of each descriptor.  If it does not wait, it is probably a
 * single check at the program's start, so only stop each ring. */
struct pollfd;
void asf__pipe_before_poll(struct pollfd *fds, size_t n, bool waits);
/* asf__pipe_before_close: call it before the descriptor is closed. */
void asf__pipe_before_close(int fd);
/* asf__pipe_before_share: call it before other processes get this process's descriptors.  End all rings, and
 * use none from then on. */
void asf__pipe_before_share(void);
/* asf__pipe_after_open: call it with a new descriptor.  If the descriptor is on a pipe, end all rings,
 * because this pipe may have one. */
void asf__pipe_after_open(int fd);

/* asf__pipe_record_created: record that this process created a pipe with a ring, and keeps end `fd`.  The
 * ring's descriptor is closed with `fd`. */
void asf__pipe_record_created(int fd, int ring, uint64_t inode);

/* asf__offer_rings: from now on create rings for popen's pipes, and use the rings named in ASF_OPTIONS for
 * streams on pipes. */
void asf__offer_rings(void);

/* Shared by pipe_ring_find.c and pipe_ring.c.
 * asf__pipe_end_read, asf__pipe_end_write: as read and write, through the ring or the pipe.
 * asf__pipe_end_stop_ring: end the ring; its bytes go to the pipe.
 * asf__pipe_end_before_close: the descriptor will be closed.
 * asf__pipe_other_end: open a write end of the pipe that `fd` reads. */
ssize_t asf__pipe_end_read(struct asf_pipe_end *e, char *p, size_t n);
ssize_t asf__pipe_end_write(struct asf_pipe_end *e, const char *p, size_t n);
void asf__pipe_end_stop_ring(struct asf_pipe_end *e);
void asf__pipe_end_before_close(struct asf_pipe_end *e);
int asf__pipe_other_end(int fd);

#pragma GCC visibility pop

#endif
