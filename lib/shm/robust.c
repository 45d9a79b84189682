/* SPDX-License-Identifier: MIT
 *
 * robust.c - the process-shared lock.  The kernel finds the locks that a dying
 * thread holds by a list that the thread keeps in user space; there is one list
 * a thread, libc's, so that our locks are entered there beside its robust
 * mutexes: with the links as far behind the word as in a mutex of libc's (32
 * bytes in glibc, 28 in musl), for both to be able to take neighbours out.  A
 * thread of musl that ends with a lock of ours reads the word before it, as its
 * mutex's type.
 * Layer: lib.  May include: lib, include/asf.
 */
#define _GNU_SOURCE
#include "lib/shm/robust.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/sys/lock.h"
#include "lib/sys/syscalls.h"

/* An entry of the list is two of these, back and on; pointers to it point at the second. */
typedef void *asf__link __attribute__((aligned(4)));

/* How far behind the word the second is. */
enum { NEAREST = ASF_ROBUST_LINKS + sizeof(asf__link), FARTHEST = ASF_ROBUST_END - sizeof(asf__link) };

/* What a thread needs to know of itself.  The page that `generation` points to
 * is zeroed in the child of a fork, however it was made: then all is asked anew. */
struct self {
    struct robust_list_head *head;
    uint32_t tid, generation;
    uint64_t number;
};
static _Thread_local struct self me;
static uint32_t *generation;
static uint32_t generations, numbers;

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

static struct robust_list_head *registered_list(void) {
    struct robust_list_head *head = NULL;
    size_t length = 0;
    return asf__raw_syscall(SYS_get_robust_list, 0, (long)&head, (long)&length, 0) < 0 ? NULL : head;
}

/* musl registers its list with the first robust mutex of a thread, and anew in the child of a
 * fork, where it leaves the parent's locks in it. */
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
    me.number = (uint64_t)__atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED) << 32 | me.tid;
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

static inline asf__link *entry_of(const struct self *s, uint32_t *word) {
    return (asf__link *)(void *)((char *)word - s->head->futex_offset);
}

/* The lowest bit of a pointer marks priority inheritance. */
static inline asf__link *plain(void *p) {
    return (asf__link *)((uintptr_t)p & ~(uintptr_t)1); // NOLINT(performance-no-int-to-ptr)
}

/* The head has no link back. */
static inline void link_back(const struct self *s, void *p, void *to) {
    if ((void *)plain(p) != s->head)
        plain(p)[-1] = to;
}

/* The lock that is being taken or given back: the kernel looks at it too. */
static inline void announce(const struct self *s, uint32_t *word) {
    s->head->list_op_pending = word ? (struct robust_list *)(void *)entry_of(s, word) : NULL;
    barrier();
}

static inline void enter(const struct self *s, uint32_t *word) {
    asf__link *entry = entry_of(s, word);
    void *first = s->head->list.next;
    entry[-1] = s->head;
    *entry = first;
    link_back(s, first, entry);
    barrier();
    s->head->list.next = (struct robust_list *)(void *)entry;
    barrier();
}

static inline void leave(const struct self *s, uint32_t *word) {
    asf__link *entry = entry_of(s, word);
    link_back(s, *entry, entry[-1]);
    *plain(entry[-1]) = *entry;
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
    announce(s, word);
    int rc = swap(word, &seen, s->tid) ? 0 : obtain_slowly(word, s->tid, seen, wait);
    if (rc == 0 || rc == -EOWNERDEAD)
        enter(s, word);
    announce(s, NULL);
    return rc;
}

static inline int give_back(const struct self *s, uint32_t *word) {
    announce(s, word);
    leave(s, word);
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) & FUTEX_WAITERS)
        asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAKE, 1, 0);
    announce(s, NULL);
    return 0;
}

int asf__robust_release(uint32_t *word) {
    const struct self *s = myself();
    if (!s)
        return -ENOTSUP;
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & FUTEX_TID_MASK) != s->tid)
        return -EPERM;
    return give_back(s, word);
}

uint64_t asf__robust_me(void) {
    const struct self *s = myself();
    return s ? s->number : 0;
}

int asf__robust_give_back(uint32_t *word, uint64_t holder) {
    const struct self *s = myself();
    return s && s->number == holder ? give_back(s, word) : -EPERM;
}

/* Killed in the middle, with the word free and the lock announced, this thread
 * wakes the sleeper by the kernel. */
void asf__robust_pass(uint32_t *word) {
    struct self *s = myself();
    uint32_t now = 0;
    if (s)
        announce(s, word);
    uint32_t owner = __atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST) & FUTEX_TID_MASK;
    asf__raw_syscall(SYS_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0);
    while (!swap(word, &now, owner | (now & FUTEX_WAITERS)))
        ;
    if (s)
        announce(s, NULL);
}
