/* SPDX-License-Identifier: MIT
 *
 * ring_offer.c - creates a ring for a pipe between two processes that are about to be started.  They open it
 * by interfaces/pipes/pipe_ring_find.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "lib/shm/ring.h"
#include "lib/sys/syscalls.h"
#include "lib/text/format.h"

int asf__ring_offer(int pipe, char *option, size_t room) {
    struct stat64 st;
    int rc = asf__sys.fstat(pipe, &st);
    if (rc == 0)
        rc = (int)asf__raw_syscall(SYS_fcntl, pipe, F_SETPIPE_SZ, ASF_PIPE_ROOM, 0);
    int ring = rc < 0 ? rc : asf__ring_new(ASF_PIPE_RING);
    if (ring < 0)
        return ring;
    ring = asf__out_of_the_way(ring);
    asf__format_text(option, room, "ring=%d/%d/%llu", (int)getpid(), ring, (unsigned long long)st.st_ino);
    return ring;
}

void asf__ring_expect(int ring, enum asf_ring_end end, pid_t process) {
    int32_t pid = process;
    size_t at = ASF_RING_CONTROL + offsetof(struct asf_ring_control, expected) + end * sizeof pid;
    asf__raw_syscall(SYS_pwrite64, ring, (long)&pid, sizeof pid, (long)at);
}
