/* SPDX-License-Identifier: MIT
 *
 * ring.h - a ring of bytes in memory that two processes share: one writes, one
 * reads.  What each has done stands in one word that both change by compare
 * and swap; each holds a robust lock for as long as it has its end, and the
 * other sleeps on that lock's word, so that the kernel wakes it when a process
 * ends, however it ends.  Failures are negated errno values.
 *
 * The other side may write anything into the memory that is shared, or truncate it:
 * what is found there is bounded by what this process knows by itself, no pointer is
 * there, and what nobody but this process may say stands in its own page.
 */
#ifndef ASF_LIB_RING_H
#define ASF_LIB_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <asf/shm.h>

#include "lib/sys/machine.h"

#pragma GCC visibility push(hidden)

enum asf_ring_end { ASF_RING_READER, ASF_RING_WRITER };

enum { ASF_RING_LEAST = 8192, ASF_RING_MOST = 1 << 25, ASF_RING_USUAL = 2 << 20 };

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): a cache line for each side */
struct asf_ring_control {
    uint64_t magic;
    uint64_t size;       /* bytes of data, a power of two */
    int32_t pid[2];      /* who has or had each end, and since when: seconds since 1970 */
    int32_t expected[2]; /* of a ring beside a pipe: who may take each end */
    int64_t since[2];
    _Alignas(64) uint64_t state;    /* see below */
    _Alignas(64) uint32_t released; /* the reader is done with all before this */
    _Alignas(64) char unused[48];
    struct {
        uint32_t word, unused;
    } lock[2]; /* at the end of the page: their links are behind it (asf__robust_obtain) */
};

/* Where things stand in the file: a page for a segment's label, a page that the control
 * block ends, the data. */
enum {
    ASF_RING_DATA = 2 * ASF_PAGE_MOST,
    ASF_RING_CONTROL = ASF_RING_DATA - sizeof(struct asf_ring_control)
};

/* The state: how far the writer has published, how far the reader has claimed
 * (both modulo 2^26), a count of the reader's sleeps, and flags. */
#define ASF_RING_MASK        ((1u << 26) - 1)
#define ASF_RING_SLEEP       (1ull << 52)
#define ASF_RING_SLEEPS      (15ull << 52)
#define ASF_RING_SEEN(end)   (1ull << (56 + (end)))
#define ASF_RING_CLOSED(end) (1ull << (58 + (end)))
/* Of a ring beside a pipe (interfaces/pipes/pipe_ring.c): */
#define ASF_RING_IN_PIPE    (1ull << 60) /* the reader sleeps in the pipe: write there */
#define ASF_RING_PIPE_FIRST (1ull << 61) /* the pipe may hold bytes older than the ring's */
#define ASF_RING_ENDED      (1ull << 62) /* nothing more is published */
#define ASF_RING_PUSHED     (1ull << 63) /* what was to go back to the pipe is there */

/* One end, in the page after the control block's, which the child of a fork finds zeroed. */
struct asf_ring {
    char links[64];                   /* the lock's */
    struct asf_ring_control *control; /* NULL: the parent's, not this process's */
    char *data;                       /* mapped twice in a row */
    uint32_t size;
    enum asf_ring_end end;
    uint32_t at;    /* by asf__ring_publish or _claim: how far */
    int32_t holder; /* the thread in whose list the lock is */
    int32_t peer;   /* who has the other end, as seen first; 0: nobody yet; -1: nobody that there is */
    uint64_t peer_start;
    int64_t looked_at; /* when it was last looked after: nanoseconds */
    bool corrupt;      /* a page of it was gone, or the control block was written over */
    int watch[2];      /* of control block and data in the fault table, or -1 */
    bool alone;        /* one processor: waiting is better spent giving it away */
    uint32_t released; /* the writer's: how far the reader was seen to be; the reader's: what it has told */
    int64_t waiting_since; /* when the last wait began, and how long they have lately been: nanoseconds */
    int32_t usual_wait;
    uint32_t budget; /* turns to give away on one processor */
    char **old;      /* where the data was mapped before (asf__ring_fresh) */
    size_t olds;
    int in_use; /* of a ring beside a pipe */
    bool dirty; /* likewise, the writer's: it has written to the pipe */
};

/* asf__ring_size: the size that serves for one that is asked for; 0: none. */
uint32_t asf__ring_size(size_t wanted);
/* asf__ring_new: a ring without a name; returns its descriptor, close-on-exec. */
int asf__ring_new(uint32_t size);
/* asf__ring_format: begin a ring in zeroed memory. */
void asf__ring_format(struct asf_ring_control *control, uint32_t size);
/* asf__ring_check: the size of the ring that a descriptor is on.  -EINVAL: none. */
int64_t asf__ring_check(int fd);
/* asf__ring_attach: take an end.  -EBUSY: it was taken before. */
int asf__ring_attach(int fd, enum asf_ring_end end, struct asf_ring **ring);
/* asf__ring_detach: give the end back; the other is told.  -EIO: the ring was truncated. */
int asf__ring_detach(struct asf_ring *r);
/* asf__ring_fresh: map the data anew, where the old mapping's bytes are not
 * written over any more: `keep` copies into it what is still pointed to. */
int asf__ring_fresh(struct asf_ring *r, void (*keep)(void *arg, char *copy), void *arg);

/* asf__ring_corrupt: nothing there can be relied on any more. */
static inline bool asf__ring_corrupt(const struct asf_ring *r) {
    return __atomic_load_n(&r->corrupt, __ATOMIC_RELAXED); /* by a handler, in the midst */
}

/* Sequentially consistent, as all that a side that is about to sleep looks at after it has said
 * so, and the other changes before it looks whether somebody sleeps. */
static inline uint64_t asf__ring_state(const struct asf_ring *r) {
    return __atomic_load_n(&r->control->state, __ATOMIC_SEQ_CST);
}
static inline uint32_t asf__ring_tail(uint64_t state) {
    return (uint32_t)state & ASF_RING_MASK;
}
static inline uint32_t asf__ring_claimed(uint64_t state) {
    return (uint32_t)(state >> 26) & ASF_RING_MASK;
}
/* Bytes published and not yet claimed; of a forged state never more than fit. */
static inline uint32_t asf__ring_avail(const struct asf_ring *r, uint64_t state) {
    uint32_t n = (asf__ring_tail(state) - asf__ring_claimed(state)) & ASF_RING_MASK;
    return n <= r->size ? n : r->size;
}
static inline uint32_t asf__ring_room_behind(const struct asf_ring *r, uint64_t state, uint32_t released) {
    uint32_t used = (asf__ring_tail(state) - released) & ASF_RING_MASK;
    return used <= r->size ? r->size - used : 0;
}
static inline uint32_t asf__ring_room(const struct asf_ring *r, uint64_t state) {
    return asf__ring_room_behind(r, state, __atomic_load_n(&r->control->released, __ATOMIC_SEQ_CST));
}
/* The writer's: room for `need` bytes by what it saw of the reader last time,
 * since each look takes the reader's cache line away from it; else as above. */
static inline uint32_t asf__ring_room_for(struct asf_ring *r, uint64_t state, uint32_t need) {
    uint32_t room = asf__ring_room_behind(r, state, r->released);
    if (room >= need)
        return room;
    r->released = __atomic_load_n(&r->control->released, __ATOMIC_ACQUIRE);
    return asf__ring_room_behind(r, state, r->released);
}
static inline char *asf__ring_at(const struct asf_ring *r, uint32_t position) {
    return r->data + (position & (r->size - 1));
}
/* From *state to `to`, unless it has changed meanwhile; *state then is what it is. */
static inline bool asf__ring_change(struct asf_ring *r, uint64_t *state, uint64_t to) {
    return __atomic_compare_exchange_n(&r->control->state, state, to, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_ACQUIRE);
}
static inline uint64_t asf__ring_with_tail(uint64_t state, uint32_t tail) {
    return (state & ~(uint64_t)ASF_RING_MASK) | (tail & ASF_RING_MASK);
}
static inline uint64_t asf__ring_with_claimed(uint64_t state, uint32_t claimed) {
    return (state & ~((uint64_t)ASF_RING_MASK << 26)) | (uint64_t)(claimed & ASF_RING_MASK) << 26;
}

/* asf__ring_publish: n bytes more are there to be read. */
void asf__ring_publish(struct asf_ring *r, uint32_t n);
/* asf__ring_claim: the next n bytes, which are there, are this reader's. */
void asf__ring_claim(struct asf_ring *r, uint32_t n);
/* asf__ring_release: all before this position may be written over. */
void asf__ring_release(struct asf_ring *r, uint32_t position);
/* asf__ring_wait: wait until `need` bytes are there, or room for them.
 * returns  0, also at the end of file, with fewer bytes; -EINTR; -EPIPE (the
 *          reader has gone); -EOWNERDEAD (the writer has ended without closing);
 *          -EIO (the ring has been truncated or written over). */
int asf__ring_wait(struct asf_ring *r, uint32_t need);
/* asf__ring_spin: the part of it that makes no system call, or on one
 * processor gives it away.  Returns whether waiting is over. */
bool asf__ring_spin(struct asf_ring *r, uint32_t need);
/* asf__ring_waited: the wait that spin began, in vain, has ended. */
void asf__ring_waited(struct asf_ring *r);
/* asf__ring_sleep: the other part, once.  0: look again; -EINTR; and as asf__ring_look. */
int asf__ring_sleep(struct asf_ring *r, uint32_t need);
/* asf__ring_alive: false when the process that had the other end has ended, as far as
 * its lock tells. */
bool asf__ring_alive(struct asf_ring *r);
/* asf__ring_look: now and then, what no word in shared memory can hide.  -EOWNERDEAD: the
 * process at the other end has ended; -EIO: the ring has been truncated or written over. */
int asf__ring_look(struct asf_ring *r);
/* asf__ring_get_up: end this side's own sleep, in which a handler or another
 * thread has changed the state. */
void asf__ring_get_up(struct asf_ring *r);
/* asf__ring_wake: wake the other side if it sleeps. */
void asf__ring_wake(struct asf_ring *r);

/* --- beside a pipe (ring_offer.c) ------------------------------------------------- */

/* Such a ring has so many bytes, and the pipe room for these and so many more. */
enum { ASF_PIPE_RING = 512 << 10, ASF_PIPE_MOST_OLDER = 64 << 10, ASF_PIPE_ROOM = 1 << 20 };
enum { ASF_RING_OPTION = 64 };

/* asf__ring_offer: make a ring for the pipe, and what ASF_OPTIONS must have for
 * who is to find it (ASF_RING_OPTION bytes).  Returns the ring's descriptor,
 * which must stay open until they have. */
int asf__ring_offer(int pipe, char *option, size_t room);
/* asf__ring_expect: the process that may take an end. */
void asf__ring_expect(int ring, enum asf_ring_end end, pid_t process);

#pragma GCC visibility pop

#endif
