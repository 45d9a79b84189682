/* SPDX-License-Identifier: MIT
 *
 * ring.c - rings in shared memory: creating, mapping and waiting.
 *
 * Waking a thread on another processor takes some 95 us.  Meanwhile the other side fills or empties the whole
 * ring and must wait as well.  So a side whose recent waits were short spins about as long before it sleeps;
 * one whose waits were long sleeps almost at once.  A reader wakes the writer when half the ring is free.
 */
#define _GNU_SOURCE
#include "lib/shm/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/shm/memfd.h"
#include "lib/shm/robust.h"
#include "lib/shm/segment.h"
#include "lib/sys/clock.h"
#include "lib/sys/fault.h"
#include "lib/sys/lock.h"
#include "lib/sys/syscalls.h"

#define MAGIC 0x32676e7220465341u /* "ASF rng2" */

enum {
    /* Times in nanoseconds.  MOST_SPIN: a limit of 300 us took up to 1.1 times the CPU time of pipes; with 10
     * us a pipeline took longer. */
    MOST_SPIN = 40000,
    LEAST_SPIN = 500,
    SPIN_ALONE = 20000,
    MOST_YIELDS = 4,
    CHECK_INTERVAL = 250000000,
    PAGE = ASF_PAGE_MOST
};

_Static_assert(sizeof(struct asf_ring_control) - offsetof(struct asf_ring_control, lock) ==
                       ASF_ROBUST_LINKS &&
                   sizeof((struct asf_ring *)0)->links >= ASF_ROBUST_END,
               "the locks' links are in this process's own page");

/* --- making ------------------------------------------------------------------------ */

uint32_t asf__ring_size(size_t wanted) {
    uint32_t size = ASF_RING_LEAST;
    if (wanted > ASF_RING_MOST)
        return 0;
    while (size < wanted || size < asf__page()) /* at least a page, since the data is mapped twice in a row */
        size *= 2;
    return size;
}

void asf__ring_format(struct asf_ring_control *control, uint32_t size) {
    control->size = size;
    __atomic_store_n(&control->magic, MAGIC, __ATOMIC_RELEASE);
}

int asf__ring_new(uint32_t size) {
    if (asf__exceeds_file_limit(ASF_RING_DATA + (size_t)size))
        return -EFBIG;
    int fd = asf__memfd("asf-ring");
    if (fd < 0)
        return fd;
    long rc = asf__raw_syscall(SYS_ftruncate, fd, ASF_RING_DATA + (long)size, 0, 0);
    struct asf_ring_control first = {0};
    asf__ring_format(&first, size);
    if (rc == 0)
        rc = asf__raw_syscall(SYS_pwrite64, fd, (long)&first, sizeof first, ASF_RING_CONTROL);
    if (rc >= 0)
        rc = asf__raw_syscall(SYS_fchmod, fd, 0600, 0, 0);
    if (rc >= 0)
        rc = asf__memfd_seal(fd);
    if (rc == 0)
        return fd;
    asf__sys.close(fd);
    return (int)rc;
}

/* --- mapping ------------------------------------------------------------------------ */

int64_t asf__ring_check(int fd) {
    struct asf_ring_control first;
    struct stat64 st;
    int rc = asf__sys.fstat(fd, &st);
    if (rc < 0)
        return rc;
    if (!S_ISREG(st.st_mode) ||
        asf__sys.pread(fd, &first, sizeof first, ASF_RING_CONTROL) != (ssize_t)sizeof first ||
        first.magic != MAGIC)
        return -EINVAL;
    bool fits = first.size >= ASF_RING_LEAST && first.size <= ASF_RING_MOST &&
                (first.size & (first.size - 1)) == 0 && st.st_size >= (off64_t)(ASF_RING_DATA + first.size);
    return fits ? (int64_t)first.size : -EINVAL;
}

static int map_at(char *at, int fd, off64_t from, size_t n) {
    int saved = errno;
    void *p = mmap64(at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, from);
    int rc = p == MAP_FAILED ? -errno : 0;
    errno = saved;
    return rc;
}

static char *reserve_addresses(size_t n) {
    int saved = errno;
    void *p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

/* Maps the data twice in a row, so that a region across the end of the ring is contiguous. */
static int map_twice(char *at, int fd, uint32_t size) {
    int rc = map_at(at, fd, ASF_RING_DATA, size);
    return rc < 0 ? rc : map_at(at + size, fd, ASF_RING_DATA, size);
}

/* Maps the control block's page, a page of this process's own, and the data. */
static int map_all(int fd, uint32_t size, struct asf_ring **ring) {
    size_t all = 2 * (size_t)PAGE + 2 * (size_t)size;
    char *p = reserve_addresses(all), *own = p + PAGE;
    if (!p)
        return -ENOMEM;
    int rc = mprotect(own, PAGE, PROT_READ | PROT_WRITE) == 0 && madvise(own, PAGE, MADV_WIPEONFORK) == 0
                 ? map_at(p, fd, ASF_RING_DATA - PAGE, PAGE)
                 : -ENOMEM;
    if (rc == 0)
        rc = map_twice(own + PAGE, fd, size);
    if (rc < 0) {
        asf__sys.unmap(p, all);
        return rc;
    }
    *ring = (struct asf_ring *)(void *)own;
    (*ring)->control = (struct asf_ring_control *)(void *)own - 1;
    (*ring)->data = own + PAGE;
    (*ring)->size = size;
    return 0;
}

static char *control_page(struct asf_ring *r) {
    return (char *)r - PAGE;
}

static void unmap_all(struct asf_ring *r) {
    asf__sys.unmap(r->data, 2 * (size_t)r->size);
    asf__sys.unmap(control_page(r), 2 * (size_t)PAGE);
}

/* Watches a mapping for faults: without that a truncation would end the process by SIGBUS. */
static int watch(struct asf_ring *r, char *base, size_t size) {
    return asf__watch(base, size, &r->corrupt, NULL, INT_MAX);
}

static void unwatch(struct asf_ring *r) {
    for (int i = 0; i < 2; i++)
        if (r->watch[i] >= 0)
            asf__unwatch(r->watch[i]);
}

static int guard_ring(struct asf_ring *r, int fd) {
    r->watch[0] = r->watch[1] = -1;
    if (asf__memfd_sealed(fd))
        return 0;
    if (!asf__can_catch_faults())
        return -ENOMEM;
    r->watch[0] = watch(r, control_page(r), PAGE);
    r->watch[1] = watch(r, r->data, 2 * (size_t)r->size);
    return r->watch[0] < 0 || r->watch[1] < 0 ? -ENOMEM : 0;
}

/* Maps the data again at a new address, twice in a row, and watches it.  Returns NULL if that fails. */
static char *second_view(struct asf_ring *r, int *slot) {
    size_t twice = 2 * (size_t)r->size;
    char *view = mmap(NULL, twice, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (view == MAP_FAILED)
        return NULL;
    for (size_t at = 0; at < twice; at += r->size) {
        if (mremap(r->data + at, 0, r->size, MREMAP_MAYMOVE | MREMAP_FIXED, view + at) == MAP_FAILED) {
            munmap(view, twice);
            return NULL;
        }
    }
    *slot = r->watch[1] < 0 ? -1 : watch(r, view, twice);
    if (r->watch[1] < 0 || *slot >= 0)
        return view;
    munmap(view, twice);
    return NULL;
}

static void swap_views(struct asf_ring *r, char *view, int slot) {
    if (slot >= 0)
        asf__unwatch(r->watch[1]);
    r->old[r->old_count++] = r->data;
    r->data = view;
    r->watch[1] = slot;
}

int asf__ring_remap(struct asf_ring *r, void (*keep)(void *arg, char *copy), void *arg) {
    size_t twice = 2 * (size_t)r->size;
    int saved = errno, slot = -1;
    char **old = reallocarray(r->old, r->old_count + 1, sizeof *old);
    if (!old)
        return -ENOMEM;
    r->old = old;
    char *copy =
        mmap(NULL, twice, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *view = copy != MAP_FAILED ? second_view(r, &slot) : NULL;
    if (!view) {
        if (copy != MAP_FAILED)
            munmap(copy, twice);
        errno = saved;
        return -ENOMEM;
    }
    keep(arg, copy);
    bool moved = mremap(copy, twice, twice, MREMAP_MAYMOVE | MREMAP_FIXED, r->data) != MAP_FAILED;
    if (moved) {
        swap_views(r, view, slot);
    } else {
        if (slot >= 0)
            asf__unwatch(slot);
        munmap(copy, twice);
        munmap(view, twice);
    }
    errno = saved;
    return moved ? 0 : -ENOMEM;
}

/* --- taking and releasing an end -------------------------------------------------------- */

static uint32_t *own_word(struct asf_ring *r) {
    return &r->control->lock[r->end].word;
}

static uint32_t *other_word(struct asf_ring *r) {
    return &r->control->lock[!r->end].word;
}

/* A process had this end before and has ended.  Restores the lock to the state in which the kernel left it.
 */
static int refuse_end(uint32_t *word) {
    asf__robust_release(word);
    __atomic_fetch_or(word, FUTEX_OWNER_DIED, __ATOMIC_SEQ_CST);
    asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0);
    return -EBUSY;
}

static int obtain(struct asf_ring *r) {
    int rc = asf__robust_obtain(own_word(r), false);
    if (rc < 0 && rc != -EOWNERDEAD)
        return rc;
    r->holder = (int32_t)asf__raw_syscall(SYS_gettid, 0, 0, 0, 0);
    return 0;
}

/* Takes the end's lock before it marks the end as taken.  If this process died with the mark but without the
 * lock, the kernel would not wake the other side. */
static int take_end(struct asf_ring *r) {
    struct asf_ring_control *c = r->control;
    struct timespec now;
    uint64_t seen = ASF_RING_SEEN(r->end);
    if (asf__ring_state(r) & seen)
        return -EBUSY;
    int rc = obtain(r);
    if (rc < 0)
        return rc;
    clock_gettime(CLOCK_REALTIME, &now);
    c->pid[r->end] = getpid();
    c->since[r->end] = now.tv_sec;
    return __atomic_fetch_or(&c->state, seen, __ATOMIC_SEQ_CST) & seen ? refuse_end(own_word(r)) : 0;
}

/* Copies the other end's process id and start time from the control block, once: they may be forged later. */
static void read_peer(struct asf_ring *r) {
    const struct asf_ring_control *c = r->control;
    if (r->peer != 0 || !(asf__ring_state(r) & ASF_RING_SEEN(!r->end)))
        return;
    int32_t pid = __atomic_load_n(&c->pid[!r->end], __ATOMIC_RELAXED);
    int64_t since = __atomic_load_n(&c->since[!r->end], __ATOMIC_RELAXED);
    r->peer_start = pid > 0 && !asf__process_ended(pid, since) ? asf__process_start(pid) : 0;
    r->peer = r->peer_start ? pid : -1;
}

int asf__ring_attach(int fd, enum asf_ring_end end, struct asf_ring **ring) {
    struct asf_ring *r = NULL;
    int64_t size = asf__ring_check(fd);
    int rc = size < 0 ? (int)size : map_all(fd, (uint32_t)size, &r);
    if (rc < 0)
        return rc;
    r->end = end;
    r->alone = asf__processors() == 1;
    r->budget = MOST_YIELDS;
    r->usual_wait = MOST_SPIN / 4;
    rc = guard_ring(r, fd);
    if (rc == 0)
        rc = take_end(r);
    if (rc < 0) {
        unwatch(r);
        unmap_all(r);
        return rc;
    }
    read_peer(r);
    *ring = r;
    return 0;
}

/* Whether the thread that took the lock has ended.  Then the kernel no longer reads its robust list. */
static bool holder_ended(const struct asf_ring *r) {
    return asf__raw_syscall(SYS_tgkill, getpid(), r->holder, 0, 0) == -ESRCH;
}

/* Marks this end as closed.  If the ring is corrupt, it clears the magic instead, so that the other side gets
 * an error and not an end of file. */
static void announce_end(struct asf_ring *r) {
    if (asf__ring_corrupt(r))
        __atomic_store_n(&r->control->magic, 0, __ATOMIC_SEQ_CST);
    else
        __atomic_fetch_or(&r->control->state, ASF_RING_CLOSED(r->end), __ATOMIC_SEQ_CST);
    asf__ring_wake(r);
}

/* If another, live thread took the lock, the kernel reads the lock's page when that thread ends; so the page
 * stays mapped. */
int asf__ring_detach(struct asf_ring *r) {
    if (!r->control) /* in the child of a fork, where regions may still point into the ring */
        return 0;
    announce_end(r);
    for (size_t i = 0; i < r->old_count; i++)
        asf__sys.unmap(r->old[i], 2 * (size_t)r->size);
    free(r->old);
    bool given_back = asf__robust_release(own_word(r)) == 0;
    int rc = asf__ring_corrupt(r) ? -EIO : 0;
    unwatch(r);
    if (given_back || holder_ended(r))
        unmap_all(r);
    else
        asf__sys.unmap(r->data, 2 * (size_t)r->size);
    return rc;
}

/* --- transferring bytes ----------------------------------------------------------------------- */

void asf__ring_wake(struct asf_ring *r) {
    if (asf__unlikely(__atomic_load_n(own_word(r), __ATOMIC_SEQ_CST) & FUTEX_WAITERS))
        asf__robust_pass(own_word(r));
}

/* If the thread that took this end's lock has ended, this thread takes it.  Otherwise the kernel would not
 * tell the other side when this process ends. */
static void reclaim_lock(struct asf_ring *r) {
    if (asf__unlikely(__atomic_load_n(own_word(r), __ATOMIC_RELAXED) & FUTEX_OWNER_DIED) && holder_ended(r))
        obtain(r);
}

void asf__ring_publish(struct asf_ring *r, uint32_t n) {
    uint64_t state = asf__ring_state(r);
    while (!asf__ring_change(r, &state, asf__ring_with_tail(state, asf__ring_tail(state) + n)))
        ;
    r->at += n;
    reclaim_lock(r);
    asf__ring_wake(r);
}

void asf__ring_claim(struct asf_ring *r, uint32_t n) {
    uint64_t state = asf__ring_state(r);
    while (!asf__ring_change(r, &state, asf__ring_with_claimed(state, asf__ring_claimed(state) + n)))
        ;
    r->at += n;
}

void asf__ring_release(struct asf_ring *r, uint32_t position) {
    r->released = position & ASF_RING_MASK;
    __atomic_exchange_n(&r->control->released, r->released, __ATOMIC_SEQ_CST);
    reclaim_lock(r);
    if (asf__ring_room(r, asf__ring_state(r)) >= r->size / 2)
        asf__ring_wake(r);
}

/* --- waiting -------------------------------------------------------------------------------- */

static bool is_ready(const struct asf_ring *r, uint32_t need) {
    uint64_t state = asf__ring_state(r);
    if (state & (ASF_RING_CLOSED(!r->end) | ASF_RING_ENDED) || asf__ring_corrupt(r))
        return true;
    return (r->end == ASF_RING_READER ? asf__ring_avail(r, state) : asf__ring_room(r, state)) >= need;
}

static bool yield_processor(struct asf_ring *r, uint32_t need) {
    for (uint32_t i = 0; i < r->budget; i++) {
        asf__raw_syscall(SYS_sched_yield, 0, 0, 0, 0);
        if (is_ready(r, need)) {
            r->budget = MOST_YIELDS;
            return true;
        }
    }
    r->budget = r->budget > 1 ? r->budget / 2 : 1;
    return false;
}

/* Updates the average of the last few waits, in nanoseconds. */
void asf__ring_waited(struct asf_ring *r) {
    int64_t took = asf__nanoseconds() - r->waiting_since;
    const int64_t most = (int64_t)4 * MOST_SPIN;
    if (took > most)
        took = most;
    r->usual_wait += ((int32_t)took - r->usual_wait) / 4;
}

/* Spins for up to `most` nanoseconds.  After SPIN_ALONE it also yields the processor between checks. */
static bool spin_until_ready(struct asf_ring *r, uint32_t need, int64_t most) {
    for (int64_t spent = 0; spent < most; spent = asf__nanoseconds() - r->waiting_since) {
        for (int i = 0; i < 8; i++) {
            if (is_ready(r, need))
                return true;
            asf__pause();
        }
        if (spent > SPIN_ALONE)
            asf__raw_syscall(SYS_sched_yield, 0, 0, 0, 0);
    }
    return false;
}

bool asf__ring_spin(struct asf_ring *r, uint32_t need) {
    read_peer(r);
    r->waiting_since = asf__nanoseconds();
    if (r->alone)
        return yield_processor(r, need);
    if (!spin_until_ready(r, need, r->usual_wait < MOST_SPIN ? 2 * r->usual_wait + LEAST_SPIN : LEAST_SPIN))
        return false;
    asf__ring_waited(r);
    return true;
}

static bool peer_ended(struct asf_ring *r) {
    read_peer(r);
    if (r->peer <= 0)
        return r->peer < 0;
    uint64_t start = asf__process_start(r->peer);
    return start == 0 || (start > 1 && r->peer_start > 1 && start != r->peer_start);
}

static bool is_corrupt(struct asf_ring *r) {
    if (__atomic_load_n(&r->control->magic, __ATOMIC_RELAXED) != MAGIC)
        r->corrupt = true;
    return asf__ring_corrupt(r);
}

int asf__ring_check_peer(struct asf_ring *r) {
    int64_t now = asf__nanoseconds();
    if (now - r->checked_at < CHECK_INTERVAL)
        return 0;
    r->checked_at = now;
    return is_corrupt(r) ? -EIO : peer_ended(r) ? -EOWNERDEAD : 0;
}

bool asf__ring_alive(struct asf_ring *r) {
    uint32_t word = __atomic_load_n(other_word(r), __ATOMIC_RELAXED);
    if (asf__likely(word & FUTEX_TID_MASK) || !(asf__ring_state(r) & ASF_RING_SEEN(!r->end)))
        return true;
    return !peer_ended(r);
}

/* The other end's lock has no holder: its thread has ended, or asf__robust_pass has just freed the word to
 * wake this side.  The kernel frees a lock when its thread ends, but other threads of the process may run on.
 * So this function checks the process, and sleeps for 0.2 ms if it exists. */
static int check_unheld_lock(struct asf_ring *r) {
    struct timespec little = {.tv_nsec = 200000};
    if (is_corrupt(r))
        return -EIO;
    if (!asf__ring_alive(r))
        return -EOWNERDEAD;
    return asf__raw_syscall(SYS_nanosleep, (long)&little, 0, 0, 0) == -EINTR ? -EINTR : 0;
}

/* Whether the program has a signal handler without SA_RESTART.  Includes libc's handler for cancellation,
 * which libc's sigaction hides.  Excludes fault signals, which do not reach a waiting thread. */
static bool wants_interruptions(void) {
    enum { SIGNALS = 64 };
    static const uint32_t faults =
        1u << SIGILL | 1u << SIGTRAP | 1u << SIGABRT | 1u << SIGBUS | 1u << SIGFPE | 1u << SIGSEGV;
    struct {
        uintptr_t handler;
        unsigned long flags;
        uint64_t rest[4];
    } act;
    for (int sig = 1; sig <= SIGNALS; sig++)
        if ((sig > SIGSEGV || !(faults & 1u << sig)) &&
            asf__raw_syscall(SYS_rt_sigaction, sig, 0, (long)&act, SIGNALS / 8) == 0 &&
            act.handler > (uintptr_t)SIG_IGN && !(act.flags & (unsigned)SA_RESTART))
            return true;
    return false;
}

/* Sleeps while *word is `seen`.  Returns -EINTR if a handler without SA_RESTART interrupted the sleep.  The
 * kernel restarts a sleep for SA_RESTART only without a time limit; with one, any handler causes EINTR. */
static int sleep_on_word(uint32_t *word, uint32_t seen, const struct timespec *most) {
    long rc = asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAIT, (long)seen, (long)most);
    return rc == -EINTR && (!most || wants_interruptions()) ? -EINTR : 0;
}

static int sleep_once(struct asf_ring *r, uint32_t need, const struct timespec *most) {
    uint32_t *word = other_word(r);
    uint32_t seen = __atomic_fetch_or(word, FUTEX_WAITERS, __ATOMIC_SEQ_CST) | FUTEX_WAITERS;
    if (is_ready(r, need))
        return 0;
    bool held = seen & FUTEX_TID_MASK || !(asf__ring_state(r) & ASF_RING_SEEN(!r->end));
    int rc = held ? sleep_on_word(word, seen, most) : check_unheld_lock(r);
    if (rc == 0)
        rc = asf__ring_check_peer(r);
    return rc == -EOWNERDEAD && is_ready(r, need) ? 0 : rc;
}

int asf__ring_sleep(struct asf_ring *r, uint32_t need) {
    return sleep_once(r, need, NULL);
}

/* Clears the word's wait bit first: after a handler the kernel may restart the sleeper's futex call, which
 * then returns at once. */
void asf__ring_wake_self(struct asf_ring *r) {
    uint32_t *word = other_word(r);
    if (__atomic_fetch_and(word, ~FUTEX_WAITERS, __ATOMIC_SEQ_CST) & FUTEX_WAITERS)
        asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0);
}

static int outcome(const struct asf_ring *r) {
    if (asf__ring_corrupt(r))
        return -EIO;
    return r->end == ASF_RING_WRITER && asf__ring_state(r) & ASF_RING_CLOSED(ASF_RING_READER) ? -EPIPE : 0;
}

/* Whether the other side has overwritten the values of this end.  Then both sides could wait for each other.
 */
static bool is_forged(struct asf_ring *r) {
    uint64_t state = asf__ring_state(r);
    uint32_t at = r->end == ASF_RING_READER ? asf__ring_claimed(state) : asf__ring_tail(state);
    if (at != (r->at & ASF_RING_MASK) ||
        (r->end == ASF_RING_READER &&
         __atomic_load_n(&r->control->released, __ATOMIC_RELAXED) != r->released))
        r->corrupt = true;
    return asf__ring_corrupt(r);
}

/* The kernel wakes the sleeper when the other process ends.  It cannot if that process overwrote its lock
 * word, or if the two processes no longer share the page.  So each sleep is limited to CHECK_INTERVAL. */
int asf__ring_wait(struct asf_ring *r, uint32_t need) {
    static const struct timespec most = {.tv_nsec = CHECK_INTERVAL};
    if (is_ready(r, need) || asf__ring_spin(r, need))
        return outcome(r);
    /* This side may owe the other a wake-up; if both slept, neither would wake. */
    asf__ring_wake(r);
    while (!is_ready(r, need) && !is_forged(r)) {
        int rc = sleep_once(r, need, &most);
        asf__ring_waited(r);
        if (rc < 0)
            return rc == -EOWNERDEAD && r->end == ASF_RING_WRITER ? -EPIPE : rc;
    }
    return outcome(r);
}
