/* SPDX-License-Identifier: MIT
 *
 * pipe_ring.c - transfers the bytes of a pipe through a ring in shared memory.  Bytes go through the pipe or
 * the ring, in order, and either side may end the ring and use only the pipe from then on.
 *
 * The reader sleeps in read() on the pipe, so signals, hang-up and writers without a ring work as usual.
 * Before it sleeps, the reader sets IN_PIPE in the ring's state word.  The writer publishes by changing the
 * same word, and cannot publish while IN_PIPE is set.  It writes to the pipe instead, which wakes the reader,
 * and then continues in the ring.  So bytes in the pipe are always older than bytes in the ring (PIPE_FIRST).
 * After the ring has ended, they are younger.
 *
 * To end the ring, a side sets ENDED, after which nothing is published, and writes the unclaimed bytes to the
 * pipe.  The writer may write them because the reader has not claimed them.  A reader that ends the ring
 * writes them, because the writer may have exited.  PUSHED means that all these bytes are in the pipe.  Bytes
 * that the reader has claimed count as read.
 *
 * The unclaimed bytes always fit into the pipe.  A process takes an end of a ring only if the pipe's capacity
 * is at least the ring's size plus MOST_OLDER bytes.  The writer continues in the ring only while the pipe
 * holds at most MOST_OLDER bytes.
 */
#define _GNU_SOURCE
#include "interfaces/pipes/pipe_rings.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/sys/syscalls.h"

enum { MAX_RING_WRITE = 32 << 10, MAX_WAKING_WRITE = 16 << 10 };

/* Returns the number of bytes in the pipe, or INT_MAX if the ioctl fails. */
static int pipe_bytes(int fd) {
    int n = 0;
    return asf__raw_syscall(SYS_ioctl, fd, FIONREAD, (long)&n, 0) < 0 ? INT_MAX : n;
}

/* Waits until the other side has set PUSHED.  The other process may be killed before that, so this
 * also checks that it is alive. */
static void await_pushed(const struct asf_pipe_end *e) {
    while (!(asf__ring_state(e->ring) & ASF_RING_PUSHED) && asf__ring_alive(e->ring) &&
           asf__ring_check_peer(e->ring) == 0)
        asf__raw_syscall(SYS_sched_yield, 0, 0, 0, 0);
}

/* --- returning to the pipe ------------------------------------------------------ */

/* Writes all n bytes, even if signals interrupt it. */
static bool push(int fd, const char *p, size_t n) {
    while (n > 0) {
        long r = asf__raw_syscall(SYS_write, fd, (long)p, (long)n, 0);
        if (r < 0 && r != -EINTR)
            return false;
        if (r > 0) {
            p += r;
            n -= (size_t)r;
        }
    }
    return true;
}

static bool has_readers(int fd) {
    struct pollfd p = {.fd = fd};
    const struct timespec now = {0};
    return asf__raw_syscall(SYS_ppoll, (long)&p, 1, (long)&now, 0) == 0 || !(p.revents & POLLERR);
}

/* Ends the ring and writes the unclaimed bytes to the pipe.  Returns false if the reader ended the ring
 * first. */
static bool end_as_writer(struct asf_pipe_end *e) {
    struct asf_ring *r = e->ring;
    uint64_t s = asf__ring_state(r);
    do {
        if (s & ASF_RING_ENDED) {
            await_pushed(e);
            return false;
        }
    } while (!asf__ring_change(r, &s, asf__ring_with_tail(s, asf__ring_claimed(s)) | ASF_RING_ENDED));
    uint32_t n = asf__ring_avail(r, s);
    if (n > 0 && has_readers(e->fd))
        push(e->fd, asf__ring_at(r, asf__ring_claimed(s)), n);
    return true;
}

/* Kills the process.  Continuing would lose bytes, or let them be read in the wrong order, unnoticed. */
static void kill_self_for_lost_bytes(void) {
    static const char message[] =
        "asf: the bytes of a ring could not be written back to its pipe; is /proc mounted?\n";
    asf__raw_syscall(SYS_write, 2, (long)message, sizeof message - 1, 0);
    asf__raw_syscall(SYS_kill, getpid(), SIGKILL, 0, 0);
}

/* Writes n bytes to `fd`, a write end of the pipe, and closes it.  Returns false if `fd` is a negated errno
 * value or the write fails. */
static bool push_and_close(int fd, const char *p, size_t n) {
    bool done = fd >= 0 && push(fd, p, n);
    if (fd >= 0)
        asf__sys.close(fd);
    return done;
}

/* Writes the bytes in a child process, which can close a descriptor first.  Used if this process has no free
 * descriptor.  The child ends without SIGCHLD, and only wait4 with __WCLONE sees it. */
static bool push_by_child(struct asf_pipe_end *e, const char *p, size_t n) {
    int status = -1;
    long child = asf__raw_syscall(SYS_clone, 0, 0, 0, 0);
    if (child == 0) {
        asf__raw_syscall(SYS_close, e->fd == STDIN_FILENO ? STDOUT_FILENO : STDIN_FILENO, 0, 0, 0);
        asf__raw_syscall(SYS_exit_group, !push_and_close(asf__pipe_other_end(e->fd), p, n), 0, 0, 0);
    }
    while (child > 0 && asf__raw_syscall(SYS_wait4, child, (long)&status, __WCLONE, 0) == -EINTR)
        ;
    return child > 0 && status == 0;
}

/* Ends the ring and writes the unclaimed bytes to the pipe, by a write end that the reader opens in /proc. */
static bool end_as_reader(struct asf_pipe_end *e) {
    struct asf_ring *r = e->ring;
    uint64_t s = asf__ring_state(r);
    do {
        if (s & ASF_RING_ENDED)
            return false;
    } while (!asf__ring_change(r, &s, asf__ring_with_claimed(s, asf__ring_tail(s)) | ASF_RING_ENDED));
    uint32_t n = asf__ring_avail(r, s);
    if (n == 0)
        return true;
    const char *p = asf__ring_at(r, asf__ring_claimed(s));
    int fd = asf__pipe_other_end(e->fd);
    if (fd < 0 ? !push_by_child(e, p, n) : !push_and_close(fd, p, n))
        kill_self_for_lost_bytes();
    return true;
}

/* Blocks signals: a handler that wrote to the pipe meanwhile would wait forever for this function. */
void asf__pipe_end_stop_ring(struct asf_pipe_end *e) {
    struct asf_ring *r = e->ring;
    uint64_t before, all = ~0ull;
    if (!r || !r->control)
        return;
    asf__raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof all);
    if (r->end == ASF_RING_WRITER ? end_as_writer(e) : end_as_reader(e)) {
        __atomic_fetch_or(&r->control->state, ASF_RING_PUSHED, __ATOMIC_SEQ_CST);
        asf__ring_wake(r);
        asf__ring_wake_self(r);
    }
    asf__raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
}

/* Called before the descriptor is closed.  If the reader closes its end, the unclaimed bytes are lost, as
 * with a pipe. */
void asf__pipe_end_before_close(struct asf_pipe_end *e) {
    struct asf_ring *r = e->ring;
    if (!r || !r->control || r->end == ASF_RING_WRITER)
        return;
    __atomic_fetch_or(&r->control->state, ASF_RING_ENDED | ASF_RING_PUSHED, __ATOMIC_SEQ_CST);
    asf__ring_wake(r);
}

/* --- writing ------------------------------------------------------------------------ */

/* Wakes the reader, which sleeps in a read of the pipe, by a write to the pipe.  `s` is the ring's state with
 * the count of the reader's sleeps.  Then clears IN_PIPE, so that the next bytes go through the ring.  If the
 * count has changed, the reader sleeps again, and IN_PIPE remains set. */
static ssize_t write_to_sleeper(struct asf_pipe_end *e, uint64_t s, const char *p, size_t n) {
    struct asf_ring *r = e->ring;
    uint64_t sleep = s & ASF_RING_SLEEPS, to;
    ssize_t done = asf__write(e->fd, p, n < MAX_WAKING_WRITE ? n : MAX_WAKING_WRITE);
    if (done <= 0)
        return done;
    s = asf__ring_state(r);
    do {
        if (s & ASF_RING_ENDED || (s & ASF_RING_IN_PIPE && (s & ASF_RING_SLEEPS) != sleep))
            return done;
        to = (s & ~ASF_RING_IN_PIPE) | ASF_RING_PIPE_FIRST;
    } while (!asf__ring_change(r, &s, to));
    return done;
}

/* Copies n bytes into the ring and publishes them.  Returns 0 if the state has changed; then the caller tries
 * again. */
static size_t write_to_ring(struct asf_pipe_end *e, uint64_t s, const char *p, size_t n) {
    struct asf_ring *r = e->ring;
    uint32_t tail = asf__ring_tail(s);
    memcpy(asf__ring_at(r, tail), p, n);
    do {
        if (s & (ASF_RING_ENDED | ASF_RING_IN_PIPE) || asf__ring_tail(s) != tail)
            return 0;
    } while (!asf__ring_change(
        r, &s, asf__ring_with_tail(s, tail + (uint32_t)n) | (r->dirty ? ASF_RING_PIPE_FIRST : 0)));
    r->dirty = false;
    return n;
}

/* Waits for room for `need` bytes in the ring.  May return 0 before there is room; then the caller tries
 * again.  Ends the ring if the reader has died. */
static ssize_t await_room(struct asf_pipe_end *e, uint32_t need) {
    if (asf__ring_spin(e->ring, need))
        return 0;
    int rc = asf__ring_sleep(e->ring, need);
    asf__ring_waited(e->ring);
    if (rc == -EINTR)
        return rc;
    if (rc < 0)
        asf__pipe_end_stop_ring(e);
    return 0;
}

/* Whether the next bytes may go into the ring.  The reader must have attached and be alive.  If the writer
 * has written to the pipe, the pipe must hold at most MOST_OLDER bytes. */
static bool may_use_ring(struct asf_pipe_end *e, uint64_t s) {
    if (s & ASF_RING_ENDED || !(s & ASF_RING_SEEN(ASF_RING_READER)))
        return false;
    if (asf__unlikely(!asf__ring_alive(e->ring))) {
        asf__pipe_end_stop_ring(e);
        return false;
    }
    return !e->ring->dirty || pipe_bytes(e->fd) <= ASF_PIPE_MOST_OLDER;
}

static ssize_t write_to_pipe(struct asf_pipe_end *e, const char *p, size_t n) {
    if (asf__ring_state(e->ring) & ASF_RING_ENDED)
        await_pushed(e);
    e->ring->dirty = true;
    return asf__write(e->fd, p, n);
}

/* Writes some bytes, to the pipe or to the ring.  Returns 0 if the caller must try again. */
static ssize_t write_some(struct asf_pipe_end *e, const char *p, size_t n) {
    struct asf_ring *r = e->ring;
    uint64_t s = asf__ring_state(r);
    if (!may_use_ring(e, s))
        return write_to_pipe(e, p, n);
    if (s & ASF_RING_IN_PIPE)
        return write_to_sleeper(e, s, p, n);
    uint32_t need = n < PIPE_BUF ? (uint32_t)n : PIPE_BUF, room = asf__ring_room_for(r, s, need);
    if (room < need)
        return await_room(e, need);
    size_t chunk = n < room ? n : room;
    return (ssize_t)write_to_ring(e, s, p, chunk < MAX_RING_WRITE ? chunk : MAX_RING_WRITE);
}

ssize_t asf__pipe_end_write(struct asf_pipe_end *e, const char *p, size_t n) {
    size_t done = 0;
    while (done < n) {
        ssize_t r = write_some(e, p + done, n - done);
        if (r < 0)
            return done ? (ssize_t)done : r;
        done += (size_t)r;
    }
    return (ssize_t)done;
}

/* --- reading -------------------------------------------------------------------------- */

static ssize_t sleep_in_pipe(struct asf_pipe_end *e, void *buf, size_t n) {
    struct asf_ring *r = e->ring;
    uint64_t s;
    ssize_t got = asf__read(e->fd, buf, n);
    asf__ring_waited(r);
    s = asf__ring_state(r);
    while (!asf__ring_change(r, &s, (s & ~ASF_RING_IN_PIPE) | (got > 0 ? ASF_RING_PIPE_FIRST : 0)))
        ;
    return got;
}

/* Reads up to n bytes from the ring.  Returns 0 if the state has changed; then the caller tries again. */
static size_t read_from_ring(struct asf_pipe_end *e, uint64_t s, char *p, size_t n) {
    struct asf_ring *r = e->ring;
    uint32_t at = asf__ring_claimed(s), there = asf__ring_avail(r, s);
    if (n > there)
        n = there;
    if (!asf__ring_change(r, &s, asf__ring_with_claimed(s, at + (uint32_t)n)))
        return 0;
    memcpy(p, asf__ring_at(r, at), n);
    at += (uint32_t)n;
    if (n == there || ((at - r->released) & ASF_RING_MASK) >=
                          r->size / 8) { /* rarely, because the writer reads this word */
        asf__ring_release(r, at);
    }
    return n;
}

/* While PIPE_FIRST is set, the reader reads the pipe before the ring.  If the pipe is empty, clears
 * PIPE_FIRST and returns true, unless the state has changed meanwhile. */
static bool pipe_is_empty(struct asf_pipe_end *e, uint64_t s) {
    return pipe_bytes(e->fd) == 0 && asf__ring_change(e->ring, &s, s & ~ASF_RING_PIPE_FIRST);
}

ssize_t asf__pipe_end_read(struct asf_pipe_end *e, char *p, size_t n) {
    struct asf_ring *r = e->ring;
    for (;;) {
        uint64_t s = asf__ring_state(r), to;
        bool writer = s & ASF_RING_SEEN(ASF_RING_WRITER);
        if (writer && s & ASF_RING_PIPE_FIRST) {
            if (pipe_bytes(e->fd) > 0)
                return asf__read(e->fd, p, n);
            pipe_is_empty(e, s);
            continue;
        }
        if (asf__ring_avail(r, s) > 0) {
            size_t got = read_from_ring(e, s, p, n);
            if (got > 0)
                return (ssize_t)got;
            continue;
        }
        if (s & ASF_RING_ENDED)
            return asf__read(e->fd, p, n);
        if (writer && asf__ring_spin(r, 1))
            continue;
        to = (s & ~ASF_RING_SLEEPS) | ((s + ASF_RING_SLEEP) & ASF_RING_SLEEPS) | ASF_RING_IN_PIPE;
        if (asf__ring_change(r, &s, to))
            return sleep_in_pipe(e, p, n);
    }
}
