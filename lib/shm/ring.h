/* SPDX-License-Identifier: MIT
 *
 * ring.h - a ring of bytes in memory that two processes share: one writes, one reads.  One word holds
 * the progress of both, and both change it by compare and swap.  Each process holds a robust lock
 * while it has its end, and the other sleeps on that lock's word, so that the kernel wakes it however
 * a process ends.  Failures are negated errno values.
 *
 * The other process may write anything into the shared memory, or truncate it.  So values read there
 * are bounded by values that this process keeps itself, the shared memory has no pointers, and data
 * that only this process may change is in its own page.
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
    int32_t pid[2];      /* the process that has or had each end, and since when: seconds since 1970 */
    int32_t expected[2]; /* for a ring of a pipe: the processes that may take the ends */
    int64_t since[2];
    _Alignas(64) uint64_t state;    /* see below */
    _Alignas(64) uint32_t released; /* the reader no longer needs the bytes before this */
    _Alignas(64) char unused[48];
    struct {
        uint32_t word, unused;
    } lock[2]; /* at the end of the page: the links follow in the next one (asf__robust_obtain) */
};

/* The layout of the file: a page for a segment's label, a page that ends with the control block, the
 * data. */
enum {
    ASF_RING_DATA = 2 * ASF_PAGE_MOST,
    ASF_RING_CONTROL = ASF_RING_DATA - sizeof(struct asf_ring_control)
};

/* Fields of the state: the position up to which the writer has published, the position up to which the
 * reader has claimed (both modulo 2^26), a count of the reader's sleeps, and flags. */
#define ASF_RING_MASK        ((1u << 26) - 1)
#define ASF_RING_SLEEP       (1ull << 52)
#define ASF_RING_SLEEPS      (15ull << 52)
#define ASF_RING_SEEN(end)   (1ull << (56 + (end)))
#define ASF_RING_CLOSED(end) (1ull << (58 + (end)))
/* For a ring of a pipe (interfaces/pipes/pipe_ring.c): */
#define ASF_RING_IN_PIPE    (1ull << 60) /* the reader sleeps in the pipe: write there */
#define ASF_RING_PIPE_FIRST (1ull << 61) /* the pipe may hold bytes older than the ring's */
#define ASF_RING_ENDED      (1ull << 62) /* nothing more is published */
#define ASF_RING_PUSHED     (1ull << 63) /* the bytes that go back to the pipe are there */

/* One end of a ring, in the page after the control block.  The child of a fork finds this page zeroed. */
struct asf_ring {
    char links[64];                   /* the lock's */
    struct asf_ring_control *control; /* NULL: in the child of a fork */
    char *data;                       /* mapped twice in a row */
    uint32_t size;
    enum asf_ring_end end;
    uint32_t at;    /* position after the last asf__ring_publish or _claim */
    int32_t holder; /* the thread whose robust list has the lock */
    int32_t peer;   /* process at the other end, as first seen; 0: none yet; -1: one that does not exist */
    uint64_t peer_start;
    int64_t looked_at; /* time of the last asf__ring_look, nanoseconds */
    bool corrupt;      /* it was truncated, or the control block was overwritten */
    int watch[2];      /* slots of control block and data in the fault table, or -1 */
    bool alone;        /* one processor: a waiting thread yields it */
    uint32_t released; /* writer: the reader's `released` as last read; reader: the value it last stored */
    int64_t waiting_since; /* when the last wait began, in nanoseconds */
    int32_t usual_wait;    /* the average of the last waits, in nanoseconds */
    uint32_t budget;       /* how often to yield the processor, if there is one */
    char **old;            /* earlier mappings of the data */
    size_t olds;
    int in_use; /* for a ring of a pipe (pipe_ring.c) */
    bool dirty; /* likewise: the writer has written to the pipe */
};

/* asf__ring_size: the size of a ring of at least `wanted` bytes; 0: too large. */
uint32_t asf__ring_size(size_t wanted);
/* asf__ring_new: make a ring without a name; returns its descriptor, close-on-exec. */
int asf__ring_new(uint32_t size);
/* asf__ring_format: make a ring in zeroed memory. */
void asf__ring_format(struct asf_ring_control *control, uint32_t size);
/* asf__ring_check: the size of the ring of a descriptor.  -EINVAL: it is no ring. */
int64_t asf__ring_check(int fd);
/* asf__ring_attach: take an end.  -EBUSY: it was taken before. */
int asf__ring_attach(int fd, enum asf_ring_end end, struct asf_ring **ring);
/* asf__ring_detach: release the end and tell the other process.  -EIO: the ring was truncated. */
int asf__ring_detach(struct asf_ring *r);
/* asf__ring_fresh: map the data at a new address.  The old mapping becomes private memory, and nobody
 * overwrites it any more; `keep` copies into it the bytes that are still pointed to. */
int asf__ring_fresh(struct asf_ring *r, void (*keep)(void *arg, char *copy), void *arg);

/* asf__ring_corrupt: the ring's contents are not reliable any more. */
static inline bool asf__ring_corrupt(const struct asf_ring *r) {
    return __atomic_load_n(&r->corrupt, __ATOMIC_RELAXED); /* a signal handler may set it at any moment */
}

/* Reads the state, sequentially consistent: a side that is about to sleep first says so and then reads the
 * state; the other side first changes the state and then looks whether anybody sleeps. */
static inline uint64_t asf__ring_state(const struct asf_ring *r) {
    return __atomic_load_n(&r->control->state, __ATOMIC_SEQ_CST);
}
static inline uint32_t asf__ring_tail(uint64_t state) {
    return (uint32_t)state & ASF_RING_MASK;
}
static inline uint32_t asf__ring_claimed(uint64_t state) {
    return (uint32_t)(state >> 26) & ASF_RING_MASK;
}
/* Bytes published and not yet claimed; never more than the ring's size, even if the state is forged. */
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
/* Returns the room for the writer, by the last known `released`.  Reads `released` anew only if that room is
 * less than `need`, since each read takes the cache line away from the reader. */
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
/* Changes the state from *state to `to`.  False: it has changed meanwhile, and *state is its present
 * value. */
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

/* asf__ring_publish: let the reader read n more bytes. */
void asf__ring_publish(struct asf_ring *r, uint32_t n);
/* asf__ring_claim: claim the next n bytes, which must be there, for this reader. */
void asf__ring_claim(struct asf_ring *r, uint32_t n);
/* asf__ring_release: let the writer overwrite the bytes before this position. */
void asf__ring_release(struct asf_ring *r, uint32_t position);
/* asf__ring_wait: wait until `need` bytes are there, or room for them.
 * returns  0, also at the end of file, with fewer bytes; -EINTR; -EPIPE (the
 *          reader has closed or ended); -EOWNERDEAD (the writer has ended without
 *          closing); -EIO (the ring was truncated or overwritten). */
int asf__ring_wait(struct asf_ring *r, uint32_t need);
/* asf__ring_spin: the first part of a wait, without sleeping: it makes no system call, or yields the
 * processor if there is only one.  Returns whether the wait is over. */
bool asf__ring_spin(struct asf_ring *r, uint32_t need);
/* asf__ring_waited: the wait has ended that asf__ring_spin began without success. */
void asf__ring_waited(struct asf_ring *r);
/* asf__ring_sleep: the second part of a wait: sleep once.  Returns 0: look again; -EINTR; or an error
 * as asf__ring_look. */
int asf__ring_sleep(struct asf_ring *r, uint32_t need);
/* asf__ring_alive: false when the other process has ended, according to its lock. */
bool asf__ring_alive(struct asf_ring *r);
/* asf__ring_look: a check, four times a second at most, that shared memory cannot deceive.
 * -EOWNERDEAD: the other process has ended; -EIO: the ring was truncated or overwritten. */
int asf__ring_look(struct asf_ring *r);
/* asf__ring_get_up: end this side's own sleep, after a handler or another thread has changed the state
 * during it. */
void asf__ring_get_up(struct asf_ring *r);
/* asf__ring_wake: wake the other side if it sleeps. */
void asf__ring_wake(struct asf_ring *r);

/* --- rings of pipes (ring_offer.c) --------------------------------------------------- */

/* Bytes: the size of such a ring; the most bytes in the pipe that are older than the ring's; the
 * pipe's size, which has room for both. */
enum { ASF_PIPE_RING = 512 << 10, ASF_PIPE_MOST_OLDER = 64 << 10, ASF_PIPE_ROOM = 1 << 20 };
enum { ASF_RING_OPTION = 64 };

/* asf__ring_offer: make a ring for the pipe.  `option`, of ASF_RING_OPTION bytes, receives the text
 * for ASF_OPTIONS in the processes that use the ring.  Returns the ring's descriptor, which must stay
 * open until they have found it. */
int asf__ring_offer(int pipe, char *option, size_t room);
/* asf__ring_expect: set the process that may take an end. */
void asf__ring_expect(int ring, enum asf_ring_end end, pid_t process);

#pragma GCC visibility pop

#endif
