/* SPDX-License-Identifier: MIT
 *
 * pipe_ring_find.c - finds the ring of a descriptor's pipe.
 *
 * A process that starts the programs at both ends of a pipe keeps a descriptor of the ring.  It names the
 * descriptor in the ASF_OPTIONS of both programs, as ring=PROCESS/DESCRIPTOR/INODE, and they open
 * /proc/PROCESS/fd/DESCRIPTOR.  So no program inherits an additional descriptor, and the kernel frees the
 * ring when all these processes have ended.
 *
 * A process takes an end of the ring only if no other process can use this end of the pipe.  So the ring's
 * control block must name the process for this end.  No other descriptor of the process may be on the same
 * pipe.  And the process must not have passed descriptors to others yet (asf__pipe_before_share).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interfaces/pipes/pipe_rings.h"
#include "lib/sys/syscalls.h"

/* BYTES_BEFORE_SEARCH: bytes that must go through a pipe before its ring is used; for fewer, attaching costs
 * more than it saves. */
enum {
    MAX_ENDS = 8,
    MAX_RINGS = sizeof asf__option_values.ring / sizeof *asf__option_values.ring,
    MAX_FDS = 256,
    BYTES_BEFORE_SEARCH = 16 << 10
};

static struct asf_pipe_end ends[MAX_ENDS];
static int end_count; /* entries ever used; an entry is not reused */
/* For each descriptor, the bytes transferred through its pipe.  BYTES_BEFORE_SEARCH: the search for a ring is
 * over. */
static uint32_t transferred[MAX_FDS];
static unsigned share_count; /* how often this process passed its descriptors to others */
static char search_lock;     /* a lock: one search at a time; other transfers meanwhile use the pipe */
static struct {
    struct asf_ring_offer offer;
    int number;            /* descriptor of our end of the pipe, plus 1; 0: free; CLAIMED: being changed */
} created_pipes[MAX_ENDS]; /* pipes that this process created */
enum { CLAIMED = -1 };

/* --- finding a ring ---------------------------------------------------------------- */

int asf__pipe_other_end(int fd) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return asf__sys.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

static int open_offered_ring(const struct asf_ring_offer *o) {
    char path[48];
    if (o->keeper == getpid())
        return (int)asf__raw_syscall(SYS_fcntl, o->fd, F_DUPFD_CLOEXEC, 3, 0);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", o->keeper, o->fd);
    return asf__sys.open(path, O_RDWR | O_CLOEXEC, 0);
}

static bool is_on_pipe(int fd, uint64_t inode) {
    struct stat64 st;
    return asf__sys.fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && st.st_ino == inode;
}

/* Whether this process has no other descriptor on the pipe. */
static bool is_only_descriptor(int fd, uint64_t inode) {
    DIR *d = opendir("/proc/self/fd");
    bool only = d != NULL;
    for (struct dirent *entry; only && (entry = readdir(d));) {
        int other = entry->d_name[0] == '.' ? fd : (int)strtol(entry->d_name, NULL, 10);
        only = other == fd || !is_on_pipe(other, inode);
    }
    if (d)
        closedir(d);
    return only;
}

/* Whether the pipe has no unusual flags, has capacity for the ring's bytes, and, for a reader, can be opened
 * for writing. */
static bool is_suitable(int fd, enum asf_ring_end end) {
    long flags = asf__raw_syscall(SYS_fcntl, fd, F_GETFL, 0, 0);
    long room = asf__raw_syscall(SYS_fcntl, fd, F_GETPIPE_SZ, 0, 0);
    if (flags & (O_NONBLOCK | O_DIRECT | O_ASYNC) || room < ASF_PIPE_RING + ASF_PIPE_MOST_OLDER)
        return false;
    int other = end == ASF_RING_READER ? asf__pipe_other_end(fd) : 0;
    if (end == ASF_RING_READER && other >= 0)
        asf__sys.close(other);
    return other >= 0;
}

/* Returns 0 if this process may take this end of the ring; -EAGAIN if the creator has not yet named the end's
 * process; or another error. */
static int may_attach(int ring, enum asf_ring_end end) {
    struct asf_ring_control c;
    if (asf__ring_check(ring) != ASF_PIPE_RING ||
        asf__sys.pread(ring, &c, sizeof c, ASF_RING_CONTROL) != (ssize_t)sizeof c)
        return -EINVAL;
    if (c.state & (ASF_RING_SEEN(end) | ASF_RING_ENDED))
        return -EBUSY;
    return c.expected[end] == getpid() ? 0 : c.expected[end] ? -EPERM : -EAGAIN;
}

static int attach_end(int fd, enum asf_ring_end end, int ring) {
    struct asf_ring *r = NULL;
    int rc = may_attach(ring, end);
    if (rc == 0)
        rc = asf__ring_attach(ring, end, &r);
    if (rc < 0)
        return rc;
    r->dirty = true;
    ends[end_count] = (struct asf_pipe_end){.fd = fd, .ring = r};
    __atomic_store_n(&end_count, end_count + 1, __ATOMIC_SEQ_CST); /* before the caller reads `share_count` */
    return 0;
}

static int try_offer(const struct asf_ring_offer *o, int fd, enum asf_ring_end end) {
    if (!is_on_pipe(fd, o->inode))
        return -ENOENT;
    if (end_count == MAX_ENDS || !is_suitable(fd, end) || !is_only_descriptor(fd, o->inode))
        return -EINVAL;
    int ring = open_offered_ring(o);
    if (ring < 0)
        return ring;
    int rc = attach_end(fd, end, ring);
    asf__sys.close(ring);
    return rc;
}

static void search_ring(int fd, enum asf_ring_end end) {
    const struct asf_options *o = asf__options();
    int rc = -ENOENT;
    for (int i = 0; rc == -ENOENT && i < MAX_ENDS; i++)
        rc = __atomic_load_n(&created_pipes[i].number, __ATOMIC_ACQUIRE) == fd + 1
                 ? try_offer(&created_pipes[i].offer, fd, end)
                 : -ENOENT;
    for (int i = 0; rc == -ENOENT && i < o->ring_count && i < MAX_RINGS; i++)
        rc = try_offer(&o->ring[i], fd, end);
    if (rc == -EAGAIN)
        transferred[fd] = 0;
}

static struct asf_pipe_end *find_end(int fd) {
    for (int i = 0; i < __atomic_load_n(&end_count, __ATOMIC_ACQUIRE); i++)
        if (ends[i].fd == fd && !ends[i].stopped)
            return &ends[i];
    return NULL;
}

bool asf__pipe_has_ring(int fd) {
    return find_end(fd) != NULL;
}

/* Returns the ring's end for a transfer of n bytes, or NULL if the transfer must use the pipe. */
static struct asf_pipe_end *find_ring_end(int fd, size_t n, enum asf_ring_end end) {
    struct asf_pipe_end *e = find_end(fd);
    if (e)
        return e->ring->control && e->ring->end == end ? e : NULL;
    if (fd < 0 || fd >= MAX_FDS || transferred[fd] >= BYTES_BEFORE_SEARCH)
        return NULL;
    transferred[fd] += n < BYTES_BEFORE_SEARCH ? (uint32_t)n : BYTES_BEFORE_SEARCH;
    if (transferred[fd] < BYTES_BEFORE_SEARCH || __atomic_test_and_set(&search_lock, __ATOMIC_ACQUIRE))
        return NULL;
    unsigned before = __atomic_load_n(&share_count, __ATOMIC_ACQUIRE);
    search_ring(fd, end);
    __atomic_clear(&search_lock, __ATOMIC_RELEASE);
    if (before !=
        __atomic_load_n(
            &share_count,
            __ATOMIC_SEQ_CST)) /* another thread passed the descriptors to a new process meanwhile */
        asf__pipe_stop_ring(fd);
    return find_end(fd);
}

/* --- using a ring ------------------------------------------------------------------- */

static void stop_ring(struct asf_pipe_end *e) {
    asf__pipe_end_stop_ring(e);
    e->stopped = true;
}

/* Only one call may use the ring at a time.  If a second thread or a signal handler enters meanwhile, it ends
 * the ring. */
static bool enter_ring(struct asf_pipe_end *e) {
    if (!__atomic_exchange_n(&e->ring->in_use, 1, __ATOMIC_ACQUIRE))
        return true;
    stop_ring(e);
    return false;
}

static void exit_ring(struct asf_pipe_end *e) {
    __atomic_store_n(&e->ring->in_use, 0, __ATOMIC_RELEASE);
}

ssize_t asf__pipe_read(int fd, void *buf, size_t n) {
    struct asf_pipe_end *e = find_ring_end(fd, n, ASF_RING_READER);
    if (!e || n == 0 || !enter_ring(e))
        return asf__read(fd, buf, n);
    ssize_t r = asf__pipe_end_read(e, buf, n);
    exit_ring(e);
    return r;
}

ssize_t asf__pipe_write(int fd, const void *buf, size_t n) {
    struct asf_pipe_end *e = find_ring_end(fd, n, ASF_RING_WRITER);
    if (!e || n == 0 || !enter_ring(e))
        return asf__write(fd, buf, n);
    ssize_t r = asf__pipe_end_write(e, buf, n);
    exit_ring(e);
    return r;
}

/* --- ending the use of rings ---------------------------------------------------------- */

void asf__pipe_stop_ring(int fd) {
    struct asf_pipe_end *e = find_end(fd);
    if (e)
        stop_ring(e);
}

void asf__pipe_disable_ring(int fd) {
    if (fd >= 0 && fd < MAX_FDS)
        transferred[fd] = BYTES_BEFORE_SEARCH;
    asf__pipe_stop_ring(fd);
}

void asf__pipe_before_poll(struct pollfd *fds, size_t n, bool waits) {
    for (size_t i = 0; asf__rings() && i < n; i++)
        (waits ? asf__pipe_disable_ring : asf__pipe_stop_ring)(fds[i].fd);
}

void asf__pipe_stop_all_rings(void) {
    for (int i = 0; i < __atomic_load_n(&end_count, __ATOMIC_SEQ_CST); i++)
        if (!ends[i].stopped)
            stop_ring(&ends[i]);
}

/* Claims entry i of `created_pipes` by setting its number to CLAIMED.  Returns false if its number was not
 * `number`. */
static bool claim_created(int i, int number) {
    return __atomic_compare_exchange_n(&created_pipes[i].number, &number, CLAIMED, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

void asf__pipe_before_close(int fd) {
    struct asf_pipe_end *e = find_end(fd);
    if (!asf__rings())
        return;
    if (e) {
        asf__pipe_end_before_close(e);
        e->stopped = true;
    }
    for (int i = 0; i < MAX_ENDS; i++)
        if (fd >= 0 && claim_created(i, fd + 1)) {
            asf__sys.close(created_pipes[i].offer.fd);
            __atomic_store_n(&created_pipes[i].number, 0, __ATOMIC_RELEASE);
        }
    if (fd >= 0 && fd < MAX_FDS)
        transferred[fd] = BYTES_BEFORE_SEARCH;
}

void asf__pipe_before_share(void) {
    if (!asf__rings())
        return;
    __atomic_add_fetch(&share_count, 1, __ATOMIC_SEQ_CST);
    asf__pipe_stop_all_rings();
    memset(transferred, 0xff, sizeof transferred);
}

void asf__pipe_after_open(int fd) {
    struct stat64 st;
    if (asf__rings() && fd >= 0 && asf__sys.fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
        asf__pipe_stop_all_rings();
}

/* --- pipes that this process created ------------------------------------------------------ */

void asf__pipe_record_created(int fd, int ring, uint64_t inode) {
    int i = fd >= 0 && fd < MAX_FDS ? 0 : MAX_ENDS;
    while (i < MAX_ENDS && !claim_created(i, 0))
        i++;
    if (i == MAX_ENDS) {
        asf__sys.close(ring);
        return;
    }
    created_pipes[i].offer = (struct asf_ring_offer){getpid(), ring, inode};
    __atomic_store_n(&created_pipes[i].number, fd + 1, __ATOMIC_RELEASE);
    transferred[fd] = 0;
    asf__option_values.rings = 1;
}
