/* SPDX-License-Identifier: MIT
 *
 * robust.c - the process-shared lock.  The kernel finds the locks that a dying
 * thread holds by a list that the thread keeps in user space; there is one list
 * a thread, libc's, so that our locks are entered there beside its robust
 * mutexes: with the links where a mutex of glibc has them, for both to be able
 * to take neighbours out.
 * Layer: lib.  May include: lib, include/asf.
 */
#define _GNU_SOURCE
#include "lib/shm/robust.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/sys/lock.h"
#include "lib/sys/syscalls.h"

/* An entry of the list, as its pointers see it: they point at `next`. */
struct link {
    struct link *next;
};

enum { WORD_FROM_LINK = -32, LINKS_AT = 24 };
_Static_assert(offsetof(struct asf_shm_lock, links) == LINKS_AT, "glibc's pthread_mutex_t");

/* What a thread needs to know of itself.  The page that `generation` points to
 * is zeroed in the child of a fork, however it was made: then all is asked anew. */
struct self {
    struct robust_list_head *head;
    uint32_t tid, generation;
};
static _Thread_local struct self me;
static uint32_t *generation;
static uint32_t generations;

static uint32_t *make_page(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *none = NULL;
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, 4096, MADV_WIPEONFORK) == 0 &&
        __atomic_compare_exchange_n(&generation, &none, page, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return page;
    munmap(page, 4096);
    return none;
}

/* Only the first thread of a process, or of a forked one, finds 0. */
static uint32_t this_generation(uint32_t *page) {
    uint32_t was = 0, new = __atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED);
    return __atomic_compare_exchange_n(page, &was, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? new
                                                                                                   : was;
}

static struct self *ask_anew(void) {
    struct robust_list_head *head = NULL;
    size_t length = 0;
    int saved = errno;
    uint32_t *page = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (!page)
        page = make_page();
    errno = saved;
    if (!page || asf__raw_syscall(SYS_get_robust_list, 0, (long)&head, (long)&length, 0) < 0 || !head ||
        head->futex_offset != WORD_FROM_LINK)
        return NULL;
    me.tid = (uint32_t)asf__raw_syscall(SYS_gettid, 0, 0, 0, 0);
    me.generation = this_generation(page);
    me.head = head;
    return &me;
}

static inline struct self *myself(void) {
    const uint32_t *page = __atomic_load_n(&generation, __ATOMIC_RELAXED);
    if (asf__likely(me.head && __atomic_load_n(page, __ATOMIC_RELAXED) == me.generation))
        return &me;
    return ask_anew();
}

/* --- the list: read by the kernel when this thread ends, at any instruction ------ */

static inline void barrier(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline struct link *entry_of(struct asf_shm_lock *l) {
    return (struct link *)(void *)&l->links[1];
}

/* The lowest bit of a pointer marks priority inheritance. */
static inline struct link *plain(void *p) {
    return (struct link *)((uintptr_t)p & ~(uintptr_t)1); // NOLINT(performance-no-int-to-ptr)
}

static inline void **previous_of(struct link *entry) {
    return (void **)(void *)entry - 1;
}

/* The lock that is being taken or given back: the kernel looks at it too. */
static inline void announce(const struct self *s, struct asf_shm_lock *l) {
    s->head->list_op_pending = l ? (struct robust_list *)(void *)entry_of(l) : NULL;
    barrier();
}

static inline void enter(const struct self *s, struct asf_shm_lock *l) {
    void *first = s->head->list.next;
    l->links[0] = s->head;
    l->links[1] = first;
    *previous_of(plain(first)) = entry_of(l);
    barrier();
    s->head->list.next = (struct robust_list *)(void *)entry_of(l);
    barrier();
}

static inline void leave(struct asf_shm_lock *l) {
    *previous_of(plain(l->links[1])) = l->links[0];
    plain(l->links[0])->next = l->links[1];
    barrier();
}

/* --- the word ---------------------------------------------------------------------- */

/* A waiter that was woken and killed before it could take the lock has taken
 * the wake-up with it; so nobody sleeps longer than this without a look. */
static void sleep_on(uint32_t *word, uint32_t seen) {
    struct timespec most = {.tv_nsec = 100000000};
    asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAIT, (long)seen, (long)&most);
}

static bool swap(uint32_t *word, uint32_t *seen, uint32_t new) {
    return __atomic_compare_exchange_n(word, seen, new, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Who has slept marks the word contended also when taking it: others may sleep. */
static int obtain_slowly(struct asf_shm_lock *l, uint32_t tid, uint32_t seen, bool wait) {
    uint32_t contended = 0;
    for (;;) {
        if ((seen & FUTEX_TID_MASK) == 0) {
            if (swap(&l->word, &seen, tid | contended | (seen & FUTEX_WAITERS)))
                return seen & FUTEX_OWNER_DIED ? -EOWNERDEAD : 0;
            continue;
        }
        if ((seen & FUTEX_TID_MASK) == tid)
            return -EDEADLK;
        if (!wait)
            return -EBUSY;
        if (!(seen & FUTEX_WAITERS) && !swap(&l->word, &seen, seen | FUTEX_WAITERS))
            continue;
        sleep_on(&l->word, seen | FUTEX_WAITERS);
        contended = FUTEX_WAITERS;
        seen = __atomic_load_n(&l->word, __ATOMIC_RELAXED);
    }
}

int asf__robust_init(struct asf_shm_lock *l) {
    *l = (struct asf_shm_lock){0};
    return myself() ? 0 : -ENOTSUP;
}

int asf__robust_obtain(struct asf_shm_lock *l, bool wait) {
    struct self *s = myself();
    uint32_t seen = 0;
    if (!s)
        return -ENOTSUP;
    announce(s, l);
    int rc = swap(&l->word, &seen, s->tid) ? 0 : obtain_slowly(l, s->tid, seen, wait);
    if (rc == 0 || rc == -EOWNERDEAD)
        enter(s, l);
    announce(s, NULL);
    return rc;
}

int asf__robust_release(struct asf_shm_lock *l) {
    struct self *s = myself();
    if (!s)
        return -ENOTSUP;
    if ((__atomic_load_n(&l->word, __ATOMIC_RELAXED) & FUTEX_TID_MASK) != s->tid)
        return -EPERM;
    announce(s, l);
    leave(l);
    if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) & FUTEX_WAITERS)
        asf__raw_syscall(SYS_futex, (long)&l->word, FUTEX_WAKE, 1, 0);
    announce(s, NULL);
    return 0;
}

/* Killed in the middle, with the word free and the lock announced, this thread
 * wakes the sleeper by the kernel. */
void asf__robust_pass(struct asf_shm_lock *l) {
    struct self *s = myself();
    uint32_t now = 0;
    if (s)
        announce(s, l);
    uint32_t owner = __atomic_exchange_n(&l->word, 0, __ATOMIC_SEQ_CST) & FUTEX_TID_MASK;
    asf__raw_syscall(SYS_futex, (long)&l->word, FUTEX_WAKE, INT32_MAX, 0);
    while (!swap(&l->word, &now, owner | (now & FUTEX_WAITERS)))
        ;
    if (s)
        announce(s, NULL);
}
