/* SPDX-License-Identifier: MIT
 *
 * pipe_ring.h - an end of a pipe with a ring beside it, as its two files share
 * it.  Failures are negated errno values.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#ifndef ASF_STREAMS_PIPE_RING_H
#define ASF_STREAMS_PIPE_RING_H

#include <sys/types.h>

#include "lib/shm/ring.h"

#pragma GCC visibility push(hidden)

struct asf_pipe_end {
    struct asf_ring *ring;
    int fd;
    bool over; /* back to the pipe for good */
};

/* As read() and write(), by ring or pipe. */
ssize_t asf__pipe_end_read(struct asf_pipe_end *e, char *p, size_t n);
ssize_t asf__pipe_end_write(struct asf_pipe_end *e, const char *p, size_t n);
/* Back to the pipe; or gone with the descriptor. */
void asf__pipe_end_leave(struct asf_pipe_end *e);
void asf__pipe_end_lose(struct asf_pipe_end *e);
/* asf__pipe_other_end: open the end for writing of a pipe that is read. */
int asf__pipe_other_end(int fd);

#pragma GCC visibility pop

#endif
