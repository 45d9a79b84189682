/* SPDX-License-Identifier: MIT
 *
 * robust.c - the process-shared lock.  When a thread dies, the kernel finds the locks it held by a linked
 * list in the thread's memory.  The kernel supports one list per thread, and libc registers it.  So this file
 * links its locks into libc's list of robust mutexes.  The links follow the lock word at the same distance as
 * in libc's mutex (32 bytes in glibc, 28 in musl), so that both can unlink their neighbours.  If a thread
 * ends with a lock held, musl also reads the memory before the word, as the mutex's type.
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

/* An entry of the list has a back link, then a forward link.  A pointer to an entry points to its forward
 * link. */
typedef void *asf__link __attribute__((aligned(4)));

/* The least and greatest distance from the lock word to the forward link, in bytes. */
enum { NEAREST = ASF_ROBUST_LINKS + sizeof(asf__link), FARTHEST = ASF_ROBUST_END - sizeof(asf__link) };

enum { FEW = 8 };

/* Per-thread state.  The child of a fork must not use the parent's values.  So `generation` points to a page
 * that the kernel zeroes in the child (MADV_WIPEONFORK).  If a thread's copy of the number differs from the
 * page's, init_self reads the values again. */
struct self {
    struct robust_list_head *head;
    uint32_t tid, generation;
    uint32_t **held; /* words of the locks that this thread holds, in list order */
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

/* Returns the process's generation number.  The first caller in a process, or in the child of a fork, finds 0
 * and stores a new number. */
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

/* Returns the thread's list.  musl registers a list only when the thread locks its first robust mutex, and
 * again in the child of a fork.  There the list still links the parent's locks, so it is emptied first. */
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

static struct self *init_self(void) {
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
    return init_self();
}

/* --- the list: the kernel reads it when this thread ends, at any instruction ------
 *
 *   Other processes may overwrite the links of a lock, so this code never reads them.  Our locks are the last
 *   entries of the list, in the order of `held`.  libc inserts its mutexes at the front.  So only this file
 *   changes the entry after one of our locks. */

static inline void barrier(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline asf__link *head_of(const struct self *s) {
    return (asf__link *)(void *)s->head;
}

static inline asf__link *entry_of(const struct self *s, uint32_t *word) {
    return (asf__link *)(void *)((char *)word - s->head->futex_offset);
}

/* Bit 0 of a link marks a priority-inheritance mutex. */
static inline asf__link *without_flag(void *p) {
    return (asf__link *)((uintptr_t)p & ~(uintptr_t)1); // NOLINT(performance-no-int-to-ptr)
}

/* Registers the lock that is being taken or released: if the thread dies now, the kernel examines it, too. */
static inline void announce_lock(const struct self *s, uint32_t *word) {
    s->head->list_op_pending = word ? (struct robust_list *)(void *)entry_of(s, word) : NULL;
    barrier();
}

/* Returns the entry before lock i of `held`: the previous lock, or for i = 0 libc's last mutex, or the head.
 */
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

/* Unlinks lock i.  If it is the last entry, the next one is the head, which has no back link. */
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

/* Returns the index of the lock in `held`, or s->count if this thread does not hold it. */
static inline size_t index_of(const struct self *s, const uint32_t *word) {
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

/* Sleeps for at most 0.1 s.  If the waiter that a release wakes is killed before it takes the lock, nothing
 * wakes the others; so each waiter checks the word again. */
static void sleep_on(uint32_t *word, uint32_t seen) {
    struct timespec most = {.tv_nsec = 100000000};
    asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAIT, (long)seen, (long)&most);
}

static bool swap(uint32_t *word, uint32_t *seen, uint32_t new) {
    return __atomic_compare_exchange_n(word, seen, new, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Takes the lock, waiting if `wait`.  A thread that has slept sets FUTEX_WAITERS when it takes the lock,
 * because other waiters may still sleep. */
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
    size_t i = index_of(s, word);
    if (i == s->count)
        return -EPERM;
    announce_lock(s, word);
    unlink_lock(s, i);
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) & FUTEX_WAITERS)
        asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAKE, 1, 0);
    announce_lock(s, NULL);
    return 0;
}

/* Frees the word for a moment, to wake all sleepers, and takes it again.  The lock stays announced meanwhile:
 * if this thread is killed then, the kernel wakes a sleeper. */
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
