/* SPDX-License-Identifier: MIT
 *
 * lock.h - the stream lock: recursive, with the words and the protocol of glibc's FILE lock, so that glibc's
 * code, which takes the same locks, excludes ours.  musl's code never takes them.  While the process has one
 * thread, the words are written with plain stores.  With more threads, a stream that only one thread uses is
 * biased to that thread, which then needs no atomic read-modify-write; the revoker pays with membarrier.
 */
#ifndef ASF_LIB_LOCK_H
#define ASF_LIB_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "lib/sys/machine.h"

#pragma GCC visibility push(hidden)

#define asf__likely(x)   __builtin_expect(!!(x), 1)
#define asf__unlikely(x) __builtin_expect(!!(x), 0)

/* Identifies the thread that a lock is biased to: its thread pointer plus one, a value that other memory
 * does not hold by accident. */
typedef uintptr_t asf__tag;

/* Attribute of functions that read streams without their locks, and for which a slightly old value is good
 * enough: race detectors skip them. */
#define ASF_RACY __attribute__((no_sanitize_thread))

struct asf_lock {
    int word;        /* 0 free, 1 held, 2 held and contended: glibc's futex word */
    int depth;       /* glibc's count of `owner`'s locks: ASF_HELD_ONCE, and recursions */
    void *owner;     /* the holder, in libc's form: asf__owner */
    void *holder;    /* the thread the lock is biased to, or NULL */
    unsigned busy;   /* recursions of `holder`; written by it alone, read by revokers */
    unsigned revoke; /* a revoker waits for busy == 0 */
    void *last;      /* the thread that took the lock last, and how often in a row */
    unsigned streak;
    asf__tag *fast; /* the holder's tag, read by restartable sequences; or NULL */
    bool biasable;  /* false after a revocation, and where libc's own code may take the lock */
};

void asf__lock_slow(struct asf_lock *l);
bool asf__trylock(struct asf_lock *l);
void asf__unlock_slow(struct asf_lock *l);
void asf__lock_reset(struct asf_lock *l);
/* asf__lock_inherit: for the child of a fork: releases locks of other threads, which the child does
 * not have.  With `own` false it releases this thread's locks, too. */
void asf__lock_inherit(struct asf_lock *l, bool own);
/* asf__unbias: let libc's own code take the lock.  The bias ends for good.  But if this thread holds the
 * lock by its bias, the bias stays, and libc finds this thread as the owner.  Any thread may call. */
void asf__unbias(struct asf_lock *l);
/* The depth of a lock that this library took first.  glibc counts up and down from there.  Locks that
 * glibc took first have depth 1, since glibc 2.37 depth 0, and are never released here. */
enum { ASF_HELD_ONCE = 1 << 20 };
/* A bit in `depth`: the acquisition was reported to a race detector, so the release must be, too. */
enum { ASF_TOLD = 1 << 24 };
/* asf__patient: back off while another thread holds something.  `i` is the number of the try.  With `most` =
 * ASF_MOMENT each try yields the processor; with ASF_WHILE the later tries sleep 1 ms each, a tenth of a
 * second in all.
 * returns  false when the caller must give up: the other thread may be waiting for this one */
enum { ASF_MOMENT = 50, ASF_WHILE = 150 };
bool asf__patient(int i, int most);
/* asf__lock_register: allow locks to be biased; cheap while there is one thread. */
void asf__lock_register(void);

static inline void *asf__self(void) {
    return __builtin_thread_pointer();
}

static inline asf__tag asf__my_tag(void) {
    return (asf__tag)asf__self() + 1;
}

/* asf__bias_wake: wake a revoker that waits for `busy` to fall. */
void asf__bias_wake(struct asf_lock *l);

static inline unsigned asf__busy(const struct asf_lock *l) {
    return __atomic_load_n(&l->busy, __ATOMIC_RELAXED);
}

/* The holder takes its biased lock with plain stores and no fence.  A revoker sets `revoke`, fences every
 * thread by membarrier, and only then reads `busy`. */
static inline bool asf__bias_enter(struct asf_lock *l) {
    /* Acquire: the last holder may be an ended thread that had the same thread pointer. */
    unsigned busy = __atomic_load_n(&l->busy, __ATOMIC_ACQUIRE);
    if (asf__unlikely(busy > 0)) {
        __atomic_store_n(&l->busy, busy + 1, __ATOMIC_RELAXED);
        return true;
    }
    /* The stored value is a constant.  With `busy + 1` each call's store would wait for the load above,
     * and therefore for the previous call's store. */
    __atomic_store_n(&l->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* Acquire: after a revocation, `holder` is read as the revoker wrote it. */
    if (asf__likely(!__atomic_load_n(&l->revoke, __ATOMIC_ACQUIRE) &&
                    __atomic_load_n(&l->holder, __ATOMIC_RELAXED) == asf__self()))
        return true;
    __atomic_store_n(&l->busy, 0, __ATOMIC_RELEASE);
    asf__bias_wake(l);
    return false;
}

static inline void asf__bias_leave(struct asf_lock *l) {
    unsigned busy = asf__busy(l);
    if (asf__likely(busy == 1))
        __atomic_store_n(&l->busy, 0, __ATOMIC_RELEASE);
    else
        __atomic_store_n(&l->busy, busy - 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (asf__unlikely(__atomic_load_n(&l->revoke, __ATOMIC_RELAXED)))
        asf__bias_wake(l);
}

static inline bool asf__bias_held(const struct asf_lock *l) {
    return __atomic_load_n(&l->holder, __ATOMIC_RELAXED) == asf__self() && asf__busy(l) > 0;
}

/* asf__lock_is_held_once: whether this thread, which holds the lock, took it only once. */
static inline bool asf__lock_is_held_once(const struct asf_lock *l) {
    if (__atomic_load_n(&l->holder, __ATOMIC_RELAXED) == asf__self() && asf__busy(l) > 0)
        return asf__busy(l) == 1;
    return (l->depth & ~ASF_TOLD) == ASF_HELD_ONCE;
}

static inline void asf__lock(struct asf_lock *l) {
    void *self = asf__self();
    if (__atomic_load_n(&l->holder, __ATOMIC_RELAXED) == self && asf__bias_enter(l))
        return;
    if (__libc_single_threaded && l->word == 0) {
        __atomic_store_n(&l->word, 1, __ATOMIC_RELAXED); /* with plain stores GCC loads both from .rodata */
        l->depth = ASF_HELD_ONCE;
        l->owner = asf__owner();
    } else {
        asf__lock_slow(l);
    }
}

static inline void asf__unlock(struct asf_lock *l) {
    if (asf__bias_held(l)) {
        asf__bias_leave(l);
    } else if (__libc_single_threaded && l->depth == ASF_HELD_ONCE &&
               __atomic_load_n(&l->word, __ATOMIC_RELAXED) == 1) {
        /* GCC would merge two plain loads into one, which waits until both stores have completed. */
        l->owner = NULL;
        l->depth = 0;
        l->word = 0;
    } else {
        asf__unlock_slow(l);
    }
}

#pragma GCC visibility pop

#endif
