/* SPDX-License-Identifier: MIT
 *
 * ring.h - a ring of bytes in memory that two processes share: one writes, one reads.  One word, the state,
 * holds the progress of both, and both change it by compare and swap.  Each process holds a robust lock as
 * long as it has its end.  The other process sleeps on the word of that lock, so that the kernel wakes it
 * however the holder ends.  Functions return a negated errno value on failure.
 *
 * The other process may write anything into the shared memory, or truncate it.  So this code bounds every
 * value it reads there by values of its own.  The shared memory contains no pointers, and data that only this
 * process may change is in a private page.
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
    int32_t pid[2];      /* process that has or had each end; `since`: when it took it, seconds since 1970 */
    int32_t expected[2]; /* for a ring of a pipe: the processes that may take the ends */
    int64_t since[2];
    _Alignas(64) uint64_t state;    /* see below */
    _Alignas(64) uint32_t released; /* position before which the writer may overwrite */
    _Alignas(64) char unused[48];
    struct {
        uint32_t word, unused;
    } lock[2]; /* last in the page: their links follow in the next, private page (asf__robust_obtain) */
};

/* Layout of the file: a page for a segment's label, a page whose last bytes are the control block, the data.
 */
enum {
    ASF_RING_DATA = 2 * ASF_PAGE_MOST,
    ASF_RING_CONTROL = ASF_RING_DATA - sizeof(struct asf_ring_control)
};

/* Fields of the state: the position up to which the writer has published; the position up to which the reader
 * has claimed (both modulo 2^26); a counter of the reader's sleeps; flags. */
#define ASF_RING_MASK        ((1u << 26) - 1)
#define ASF_RING_SLEEP       (1ull << 52)
#define ASF_RING_SLEEPS      (15ull << 52)
#define ASF_RING_SEEN(end)   (1ull << (56 + (end)))
#define ASF_RING_CLOSED(end) (1ull << (58 + (end)))
/* For a ring of a pipe (interfaces/pipes/pipe_ring.c): */
#define ASF_RING_IN_PIPE    (1ull << 60) /* the reader sleeps in read(): write to the pipe */
#define ASF_RING_PIPE_FIRST (1ull << 61) /* the pipe may hold bytes older than the ring's */
#define ASF_RING_ENDED      (1ull << 62) /* the writer publishes nothing more */
#define ASF_RING_PUSHED     (1ull << 63) /* the unread bytes of the ring are back in the pipe */

/* One end of a ring, in the private page after the control block.  The child of a fork finds this page
 * zeroed. */
struct asf_ring {
    char links[64];                   /* links of this end's lock */
    struct asf_ring_control *control; /* NULL: in the child of a fork */
    char *data;                       /* mapped twice in a row */
    uint32_t size;
    enum asf_ring_end end;
    uint32_t at;    /* position after the last asf__ring_publish or _claim */
    int32_t holder; /* the thread whose robust list has this end's lock */
    int32_t peer;   /* process at the other end, as first seen; 0: none yet; -1: invalid or already ended */
    uint64_t peer_start;
    int64_t checked_at;    /* time of the last asf__ring_check_peer, nanoseconds */
    bool corrupt;          /* it was truncated, or the control block was overwritten */
    int watch[2];          /* slots of control block and data in the fault table, or -1 */
    bool alone;            /* one processor: a waiting thread yields instead of spinning */
    uint32_t released;     /* writer: `released` as last read; reader: as last stored */
    int64_t waiting_since; /* start of the current wait, nanoseconds */
    int32_t usual_wait;    /* running average of recent waits, nanoseconds */
    uint32_t budget;       /* with one processor: yields before sleeping */
    char **old;            /* earlier mappings of the data */
    size_t old_count;
    int in_use; /* for a ring of a pipe (pipe_ring.c): 1 while a call uses the ring */
    bool dirty; /* for a ring of a pipe: the writer may have written to the pipe since its last publish */
};

/* asf__ring_size: the smallest ring size of at least `wanted` bytes; 0: too large. */
uint32_t asf__ring_size(size_t wanted);
/* asf__ring_new: create a ring in a memfd.  Returns its descriptor, close-on-exec, or a negated errno value.
 */
int asf__ring_new(uint32_t size);
/* asf__ring_format: initialize the control block of a ring in zeroed memory. */
void asf__ring_format(struct asf_ring_control *control, uint32_t size);
/* asf__ring_check: the data size of a descriptor's ring.  -EINVAL: the file is no ring. */
int64_t asf__ring_check(int fd);
/* asf__ring_attach: map the ring and take an end.  -EBUSY: the end has been taken before. */
int asf__ring_attach(int fd, enum asf_ring_end end, struct asf_ring **ring);
/* asf__ring_detach: release the end, announce that, and unmap.  -EIO: the ring was truncated. */
int asf__ring_detach(struct asf_ring *r);
/* asf__ring_remap: map the data at a new address.  Calls keep(arg, copy), which copies the bytes that regions
 * still point to.  The copy then replaces the old mapping: it is private, so the writer cannot change it. */
int asf__ring_remap(struct asf_ring *r, void (*keep)(void *arg, char *copy), void *arg);

/* asf__ring_corrupt: whether the ring was truncated or overwritten. */
static inline bool asf__ring_corrupt(const struct asf_ring *r) {
    return __atomic_load_n(&r->corrupt, __ATOMIC_RELAXED); /* a signal handler may set it at any moment */
}

/* Reads the state, sequentially consistent.  A side that will sleep first sets its wait bit and then reads
 * the state.  The other side first changes the state and then reads the wait bit. */
static inline uint64_t asf__ring_state(const struct asf_ring *r) {
    return __atomic_load_n(&r->control->state, __ATOMIC_SEQ_CST);
}
static inline uint32_t asf__ring_tail(uint64_t state) {
    return (uint32_t)state & ASF_RING_MASK;
}
static inline uint32_t asf__ring_claimed(uint64_t state) {
    return (uint32_t)(state >> 26) & ASF_RING_MASK;
}
/* Returns the bytes published and not yet claimed, at most the ring's size even if the state is forged. */
static inline uint32_t asf__ring_avail(const struct asf_ring *r, uint64_t state) {
    uint32_t n = (asf__ring_tail(state) - asf__ring_claimed(state)) & ASF_RING_MASK;
    return n <= r->size ? n : r->size;
}
static inline uint32_t asf__ring_room_after(const struct asf_ring *r, uint64_t state, uint32_t released) {
    uint32_t used = (asf__ring_tail(state) - released) & ASF_RING_MASK;
    return used <= r->size ? r->size - used : 0;
}
static inline uint32_t asf__ring_room(const struct asf_ring *r, uint64_t state) {
    return asf__ring_room_after(r, state, __atomic_load_n(&r->control->released, __ATOMIC_SEQ_CST));
}
/* Returns the writer's room after the last known `released`.  Reads `released` again only if that is less
 * than `need`, since each read takes the cache line from the reader's processor. */
static inline uint32_t asf__ring_room_for(struct asf_ring *r, uint64_t state, uint32_t need) {
    uint32_t room = asf__ring_room_after(r, state, r->released);
    if (room >= need)
        return room;
    r->released = __atomic_load_n(&r->control->released, __ATOMIC_ACQUIRE);
    return asf__ring_room_after(r, state, r->released);
}
static inline char *asf__ring_at(const struct asf_ring *r, uint32_t position) {
    return r->data + (position & (r->size - 1));
}
/* Changes the state from *state to `to`.  Returns false if another change came first, and sets *state to it.
 */
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

/* asf__ring_publish: make the writer's next n bytes readable. */
void asf__ring_publish(struct asf_ring *r, uint32_t n);
/* asf__ring_claim: claim the reader's next n bytes, which must be published. */
void asf__ring_claim(struct asf_ring *r, uint32_t n);
/* asf__ring_release: permit the writer to overwrite the bytes before `position`. */
void asf__ring_release(struct asf_ring *r, uint32_t position);
/* asf__ring_wait: wait until `need` bytes are readable, or writable.
 * returns  0, also at end of file with fewer bytes; -EINTR; -EPIPE (the reader has
 *          closed its end or died); -EOWNERDEAD (the writer died without closing);
 *          -EIO (the ring was truncated or overwritten). */
int asf__ring_wait(struct asf_ring *r, uint32_t need);
/* asf__ring_spin: the first phase of a wait: spins, or with one processor yields it.  Returns whether the
 * condition holds. */
bool asf__ring_spin(struct asf_ring *r, uint32_t need);
/* asf__ring_waited: record the length of a wait that asf__ring_spin began. */
void asf__ring_waited(struct asf_ring *r);
/* asf__ring_sleep: the second phase of a wait: sleep once.  Returns 0 (check the condition again), -EINTR, or
 * an error of asf__ring_check_peer. */
int asf__ring_sleep(struct asf_ring *r, uint32_t need);
/* asf__ring_alive: false if the other process has ended, judging by its lock and then by its process id. */
bool asf__ring_alive(struct asf_ring *r);
/* asf__ring_check_peer: check the other process and the magic, at most four times a second.  /proc shows
 * whether the process exists; shared memory cannot forge that.
 * returns  0; -EOWNERDEAD: the other process has ended; -EIO: the ring was
 *          truncated or overwritten. */
int asf__ring_check_peer(struct asf_ring *r);
/* asf__ring_wake_self: end this side's own sleep, after a signal handler or another thread has changed the
 * state. */
void asf__ring_wake_self(struct asf_ring *r);
/* asf__ring_wake: wake the other side if it sleeps. */
void asf__ring_wake(struct asf_ring *r);

/* --- rings of pipes (ring_offer.c) --------------------------------------------------- */

/* In bytes: the size of a pipe's ring; the most bytes in the pipe that are older than the ring's; the pipe's
 * capacity, which holds both. */
enum { ASF_PIPE_RING = 512 << 10, ASF_PIPE_MOST_OLDER = 64 << 10, ASF_PIPE_ROOM = 1 << 20 };
enum { ASF_RING_OPTION = 64 };

/* asf__ring_offer: create a ring for the pipe.  `option`, of ASF_RING_OPTION bytes, receives the text to add
 * to ASF_OPTIONS of the processes that use the ring.  Returns the ring's descriptor, which must stay open
 * until they have opened it. */
int asf__ring_offer(int pipe, char *option, size_t room);
/* asf__ring_expect: set the process that may take an end. */
void asf__ring_expect(int ring, enum asf_ring_end end, pid_t process);

#pragma GCC visibility pop

#endif
