/* SPDX-License-Identifier: MIT
 *
 * robust.c - the process-shared lock.  When a thread dies, the kernel finds its locks by a list in the
 * thread's memory.  A thread has one list, libc's, so our locks are entered there, among libc's robust
 * mutexes.  The links are at the same distance after the word as in libc's mutex (32 bytes in glibc,
 * 28 in musl), so that both can unlink their neighbours.  When a thread of musl ends with one of our
 * locks, musl reads the memory before the word as the mutex's type.
 */
#define _GNU_SOURCE
#include "lib/shm/robust.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/sys/lock.h"
#include "lib/sys/syscalls.h"

/* An entry of the list is two links, back and forward; pointers to the entry point at the forward
 * link. */
typedef void *asf__link __attribute__((aligned(4)));

/* The distance in bytes from the word to the forward link. */
enum { NEAREST = ASF_ROBUST_LINKS + sizeof(asf__link), FARTHEST = ASF_ROBUST_END - sizeof(asf__link) };

enum { FEW = 8 };

/* A thread's own data.  The child of a fork must not use the parent's values.  So the kernel zeroes
 * the page that `generation` points to in the child (MADV_WIPEONFORK), and a thread whose copy of the number
 * differs from the page's asks the kernel for its values anew (ask_anew). */
struct self {
    struct robust_list_head *head;
    uint32_t tid, generation;
    uint32_t **held; /* the words of the locks that the thread holds, in the order of the list */
    size_t count, room;
    uint32_t *few[FEW];
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

/* The page holds 0 only for the first thread of a process or of a forked child. */
static uint32_t this_generation(uint32_t *page) {
    uint32_t was = 0, new = __atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED);
    return __atomic_compare_exchange_n(page, &was, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? new
                                                                                                   : was;
}

static struct robust_list_head *registered_list(void) {
    struct robust_list_head *head = NULL;
    size_t length = 0;
    return asf__raw_syscall(SYS_get_robust_list, 0, (long)&head, (long)&length, 0) < 0 ? NULL : head;
}

/* musl registers a thread's list at its first robust mutex, and again in the child of a fork, where
 * the list still has the parent's locks. */
static struct robust_list_head *list_of_libc(void) {
    struct robust_list_head *head = registered_list();
    pthread_mutexattr_t robust;
    pthread_mutex_t mutex;
    if (head)
        return head;
    if (me.head)
        me.head->list.next = &me.head->list;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return registered_list();
}

static struct self *ask_anew(void) {
    int saved = errno;
    uint32_t *page = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (!page)
        page = make_page();
    errno = saved;
    struct robust_list_head *head = page ? list_of_libc() : NULL;
    if (!head || head->futex_offset > -NEAREST || head->futex_offset < -FARTHEST)
        return NULL;
    me.tid = (uint32_t)asf__raw_syscall(SYS_gettid, 0, 0, 0, 0);
    me.generation = this_generation(page);
    me.held = me.few;
    me.count = 0;
    me.room = FEW;
    me.head = head;
    return &me;
}

static inline struct self *myself(void) {
    const uint32_t *page = __atomic_load_n(&generation, __ATOMIC_RELAXED);
    if (asf__likely(me.head && __atomic_load_n(page, __ATOMIC_RELAXED) == me.generation))
        return &me;
    return ask_anew();
}

/* --- the list: the kernel reads it when this thread ends, at any instruction ------
 *
 *   Others may write the links of a lock, so this code does not read them.  Our locks are at the end of
 *   the list, in the order of `held`.  libc enters its mutexes at the beginning, before
 *   them: only our own calls change the entry after a lock of ours. */

static inline void barrier(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline asf__link *head_of(const struct self *s) {
    return (asf__link *)(void *)s->head;
}

static inline asf__link *entry_of(const struct self *s, uint32_t *word) {
    return (asf__link *)(void *)((char *)word - s->head->futex_offset);
}

/* The lowest bit of a pointer marks priority inheritance. */
static inline asf__link *without_flag(void *p) {
    return (asf__link *)((uintptr_t)p & ~(uintptr_t)1); // NOLINT(performance-no-int-to-ptr)
}

/* Announce the lock that is being taken or released: the kernel examines it, too. */
static inline void announce_lock(const struct self *s, uint32_t *word) {
    s->head->list_op_pending = word ? (struct robust_list *)(void *)entry_of(s, word) : NULL;
    barrier();
}

/* The entry before lock number i: another lock of ours, or libc's last. */
static inline asf__link *link_before(const struct self *s, size_t i) {
    asf__link *first = s->count > 0 ? entry_of(s, s->held[0]) : head_of(s), *at = head_of(s);
    if (i > 0)
        return entry_of(s, s->held[i - 1]);
    while (without_flag(*at) != first && without_flag(*at) != head_of(s))
        at = without_flag(*at);
    return at;
}

static inline void link_lock(struct self *s, uint32_t *word) {
    asf__link *entry = entry_of(s, word), *last = link_before(s, s->count);
    entry[-1] = last;
    *entry = head_of(s);
    barrier();
    *last = entry;
    barrier();
    s->held[s->count++] = word;
}

/* Unlinks a lock.  The head has no back link to change. */
static inline void unlink_lock(struct self *s, size_t i) {
    asf__link *last = link_before(s, i), *next = i + 1 < s->count ? entry_of(s, s->held[i + 1]) : head_of(s);
    if (next != head_of(s))
        next[-1] = last;
    *last = next;
    barrier();
    s->count--;
    memmove(s->held + i, s->held + i + 1, (s->count - i) * sizeof *s->held);
    if (asf__unlikely(s->count == 0 && s->held != s->few)) {
        free(s->held);
        s->held = s->few;
        s->room = FEW;
    }
}

/* The index in `held` of a lock that this thread holds; s->count: it does not hold it. */
static inline size_t number_of(const struct self *s, const uint32_t *word) {
    for (size_t i = s->count; i > 0; i--)
        if (s->held[i - 1] == word)
            return i - 1;
    return s->count;
}

static int grow_held(struct self *s) {
    int saved = errno;
    uint32_t **more = reallocarray(NULL, s->room * 2, sizeof *more);
    errno = saved;
    if (!more)
        return -ENOMEM;
    memcpy(more, s->held, s->count * sizeof *more);
    if (s->held != s->few)
        free(s->held);
    s->held = more;
    s->room *= 2;
    return 0;
}

/* --- the word ---------------------------------------------------------------------- */

/* Sleeps for 0.1 s at most: a waiter that is woken and killed before it takes the lock has used up the
 * wake-up, and the others must look for themselves. */
static void sleep_on(uint32_t *word, uint32_t seen) {
    struct timespec most = {.tv_nsec = 100000000};
    asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAIT, (long)seen, (long)&most);
}

static bool swap(uint32_t *word, uint32_t *seen, uint32_t new) {
    return __atomic_compare_exchange_n(word, seen, new, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* A thread that has slept marks the word contended when it takes the lock: others may be asleep. */
static int obtain_slowly(uint32_t *word, uint32_t tid, uint32_t seen, bool wait) {
    uint32_t contended = 0;
    for (;;) {
        if ((seen & FUTEX_TID_MASK) == 0) {
            if (swap(word, &seen, tid | contended | (seen & FUTEX_WAITERS)))
                return seen & FUTEX_OWNER_DIED ? -EOWNERDEAD : 0;
            continue;
        }
        if ((seen & FUTEX_TID_MASK) == tid)
            return -EDEADLK;
        if (!wait)
            return -EBUSY;
        if (!(seen & FUTEX_WAITERS) && !swap(word, &seen, seen | FUTEX_WAITERS))
            continue;
        sleep_on(word, seen | FUTEX_WAITERS);
        contended = FUTEX_WAITERS;
        seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    }
}

int asf__robust_init(struct asf_shm_lock *l) {
    *l = (struct asf_shm_lock){0};
    return myself() ? 0 : -ENOTSUP;
}

int asf__robust_obtain(uint32_t *word, bool wait) {
    struct self *s = myself();
    uint32_t seen = 0;
    if (!s)
        return -ENOTSUP;
    if (asf__unlikely(s->count == s->room) && grow_held(s) < 0)
        return -ENOMEM;
    announce_lock(s, word);
    int rc = swap(word, &seen, s->tid) ? 0 : obtain_slowly(word, s->tid, seen, wait);
    if (rc == 0 || rc == -EOWNERDEAD)
        link_lock(s, word);
    announce_lock(s, NULL);
    return rc;
}

int asf__robust_release(uint32_t *word) {
    struct self *s = myself();
    if (!s)
        return -ENOTSUP;
    size_t i = number_of(s, word);
    if (i == s->count)
        return -EPERM;
    announce_lock(s, word);
    unlink_lock(s, i);
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) & FUTEX_WAITERS)
        asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAKE, 1, 0);
    announce_lock(s, NULL);
    return 0;
}

/* The word is free for a moment while the lock is announced: if this thread is killed then, the kernel
 * wakes a sleeper. */
void asf__robust_pass(uint32_t *word) {
    struct self *s = myself();
    uint32_t now = 0;
    if (s)
        announce_lock(s, word);
    uint32_t owner = __atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST) & FUTEX_TID_MASK;
    asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0);
    while (!swap(word, &now, owner | (now & FUTEX_WAITERS)))
        ;
    if (s)
        announce_lock(s, NULL);
}
