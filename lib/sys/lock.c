/* SPDX-License-Identifier: MIT
 *
 * lock.c - the slow paths of the stream lock: contention and bias.  The futex word follows glibc's
 * protocol (0 free, 1 held, 2 held with waiters), since glibc's own code locks the same words.
 */
#define _GNU_SOURCE
#include "lib/sys/lock.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/sys/race_detector.h"
#include "lib/sys/stats.h"
#include "lib/sys/syscalls.h"

/* Consecutive uncontended acquisitions by one thread before its stream is biased to it: enough to pay for
 * one revocation (some microseconds). */
enum { STREAK = 64 };

static bool registered, restartable;

static bool membarrier(int command) {
    return asf__raw_syscall(SYS_membarrier, command, 0, 0, 0) == 0;
}

/* Biased locks are not reported to a race detector, so there are none if one is present. */
void asf__lock_register(void) {
    if (registered || asf__has_race_detector())
        return;
    registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
#ifndef __SANITIZE_THREAD__ /* ThreadSanitizer cannot see into a restartable sequence */
    restartable = registered && __rseq_size > 0 && !asf__counting &&
                  membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ);
#endif
}

/* Allows the holder's restartable sequences, or forbids them (holder NULL). */
static void tell_fast(struct asf_lock *l, void *holder) {
    if (l->fast && (restartable || !holder))
        __atomic_store_n(l->fast, holder ? (asf__tag)holder + 1 : 0, __ATOMIC_RELEASE);
}

/* After this call every thread sees earlier writes of this thread, and no thread is inside a
 * restartable sequence that it began before. */
static void fence_threads(void) {
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    if (restartable)
        membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
}

static void futex_wait(void *word, unsigned seen) {
    asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)seen, 0);
}

static void futex_wake(void *word, int threads) {
    asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, threads, 0);
}

void asf__bias_wake(struct asf_lock *l) {
    futex_wake(&l->busy, INT_MAX);
}

static bool take_word(struct asf_lock *l) {
    int free = 0;
    return __atomic_compare_exchange_n(&l->word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Spins a little: most locks are held for less than a microsecond, and sleeping would cost more.  If
 * another thread sleeps already, spinning gains nothing. */
static bool take_soon(struct asf_lock *l) {
    enum { TRIES = 50 };
    for (int i = 0; i < TRIES; i++) {
        int word = __atomic_load_n(&l->word, __ATOMIC_RELAXED);
        if (word == 0 && take_word(l))
            return true;
        if (word == 2)
            return false;
        asf__pause();
    }
    return false;
}

static void own(struct asf_lock *l) {
    l->depth = ASF_HELD_ONCE;
    __atomic_store_n(&l->owner, asf__owner(), __ATOMIC_RELAXED);
}

/* Releases the word only: a biased lock may have an owner (asf__unbias). */
static void release_word(struct asf_lock *l) {
    if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
        futex_wake(&l->word, 1);
}

static void release_lock(struct asf_lock *l) {
    l->depth = 0;
    __atomic_store_n(&l->owner, NULL, __ATOMIC_RELAXED);
    release_word(l);
}

/* Ends the holder's bias and owns the lock; the caller has the word.  If `wait` is false, gives up after
 * TRIES tries while the holder is inside. */
static bool take_bias(struct asf_lock *l, bool wait) {
    enum { TRIES = 200 };
    unsigned busy, tries = 0;
    __atomic_store_n(&l->revoke, 1, __ATOMIC_RELAXED);
    tell_fast(l, NULL);
    fence_threads();
    while ((busy = __atomic_load_n(&l->busy, __ATOMIC_ACQUIRE)) != 0) {
        if (!wait && ++tries < TRIES) {
            asf__pause();
            continue;
        }
        if (!wait) {
            __atomic_store_n(&l->revoke, 0, __ATOMIC_RELAXED);
            tell_fast(l, l->holder);
            return false;
        }
        futex_wait(&l->busy, busy);
    }
    if (__atomic_load_n(&l->owner, __ATOMIC_RELAXED) != asf__owner())
        own(l); /* before the holder can compare `owner` with itself */
    __atomic_store_n(&l->biasable, false, __ATOMIC_RELAXED);
    __atomic_store_n(&l->holder, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&l->revoke, 0, __ATOMIC_RELEASE);
    return true;
}

/* Biases the lock, which `self` has just taken, to `self`. */
static void grant_bias(struct asf_lock *l, void *self) {
    __atomic_store_n(&l->busy, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&l->holder, self, __ATOMIC_RELEASE);
    tell_fast(l, self);
    release_lock(l);
}

static void tell_detector(struct asf_lock *l) {
    asf__tell_acquired(l);
    l->depth |= ASF_TOLD;
}

/* Begins a streak.  With a race detector every acquisition does, so that this function, otherwise rarely
 * called, reports each acquisition. */
static void begin_streak(struct asf_lock *l, void *self) {
    l->last = asf__has_race_detector() ? NULL : self;
    l->streak = 0;
    if (!l->last)
        tell_detector(l);
}

static void consider_bias(struct asf_lock *l, void *self) {
    if (l->last != self) {
        begin_streak(l, self);
    } else if (++l->streak >= STREAK && __atomic_load_n(&l->biasable, __ATOMIC_RELAXED) && registered &&
               !__libc_single_threaded) {
        grant_bias(l, self);
    }
}

/* Whether this thread owns the lock by libc's words, not by its bias.  Loads `holder` first: a revoker
 * becomes the owner before it clears `holder`. */
static bool owns(const struct asf_lock *l, const void *self) {
    return __atomic_load_n(&l->holder, __ATOMIC_ACQUIRE) != self &&
           __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == asf__owner();
}

void asf__lock_slow(struct asf_lock *l) {
    void *self = asf__self();
    /* With one thread, a nonzero word is its own: it holds the lock, or a signal interrupted it while it
     * took the lock. */
    if (owns(l, self) || (__libc_single_threaded && l->word != 0)) {
        l->depth++;
        return;
    }
    if (!take_word(l) && !take_soon(l)) {
        while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE) != 0)
            futex_wait(&l->word, 2);
    }
    void *holder = __atomic_load_n(&l->holder, __ATOMIC_ACQUIRE);
    if (holder && holder != self) {
        take_bias(l, true);
    } else {
        own(l);
        consider_bias(l, self);
    }
}

bool asf__trylock(struct asf_lock *l) {
    void *self = asf__self();
    void *holder = __atomic_load_n(&l->holder, __ATOMIC_RELAXED);
    if (holder == self && asf__bias_enter(l))
        return true;
    if (owns(l, self)) {
        l->depth++;
        return true;
    }
    if (!take_word(l))
        return false;
    holder = __atomic_load_n(&l->holder, __ATOMIC_ACQUIRE);
    if (holder && !take_bias(l, false)) {
        release_word(l);
        return false;
    }
    own(l);
    if (asf__has_race_detector())
        tell_detector(l);
    return true;
}

bool asf__patient(int i, int most) {
    const struct timespec a_little = {0, 1000000};
    if (i >= most)
        return false;
    if (i < ASF_MOMENT)
        sched_yield();
    else
        asf__raw_syscall(SYS_nanosleep, (long)&a_little, 0, 0, 0);
    return true;
}

void asf__unlock_slow(struct asf_lock *l) {
    if (l->depth == ASF_HELD_ONCE) {
        release_lock(l);
    } else if (l->depth == (ASF_HELD_ONCE | ASF_TOLD)) {
        asf__tell_released(l);
        release_lock(l);
    } else if (l->depth > 0) {
        l->depth--;
    }
}

void asf__unbias(struct asf_lock *l) {
    if (!__atomic_load_n(&l->biasable, __ATOMIC_RELAXED))
        return;
    if (asf__bias_held(l)) { /* libc then finds this thread as the owner, and only counts */
        own(l);
        return;
    }
    __atomic_store_n(&l->biasable, false, __ATOMIC_RELAXED); /* no new bias from here on */
    const bool mine = __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == asf__owner(); /* libc has locked it */
    if (!mine)
        asf__lock_slow(l);
    if (__atomic_load_n(&l->holder, __ATOMIC_RELAXED))
        take_bias(l, true);
    if (!mine)
        asf__unlock(l);
}

static bool was_never_taken(const struct asf_lock *l) {
    return !l->word && !l->depth && !l->owner && !l->holder && !l->busy && !l->revoke && !l->last &&
           !l->streak;
}

/* Does not write to a lock that was never taken: the first write to a page in the child copies the page,
 * which takes some microseconds. */
void asf__lock_inherit(struct asf_lock *l, bool own) {
    const bool biasable = l->biasable;
    if (own && asf__bias_held(l)) {
        l->word = 0; /* the threads that waited do not exist in the child */
        l->revoke = 0;
        tell_fast(l, l->holder);
    } else if ((!own || !owns(l, asf__self())) && !was_never_taken(l)) {
        asf__lock_reset(l);
        l->biasable = biasable;
    }
}

void asf__lock_reset(struct asf_lock *l) {
    tell_fast(l, NULL);
    *l = (struct asf_lock){.biasable = true, .fast = l->fast};
}
