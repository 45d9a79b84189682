/* SPDX-License-Identifier: MIT
 *
 * cios.c - the life of a stream: made, listed, closed, given back.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/backplane.h"

#include <sched.h>
#include <stdlib.h>

#include "lib/text/format_digits.h"
#include "lib/sys/options.h"

const void *asf__vtable, *asf__wide_vtable;

/* Streams kept for the next open; the first few are none of the program's heap. */
enum { POOL = 8 };
static struct asf_cios ready[POOL];
static struct asf_cios *pool[2 * POOL]; /* under the list's lock, with its counts */
static int pooled, taken;
static struct asf_cios *latest; /* the one closed last: swapped, without the lock */

static bool is_ready(const struct asf_cios *c) {
    return c >= ready && c < ready + POOL;
}

static struct asf_cios *all;
static struct asf_lock list_lock = {.biasable = false};
static __thread unsigned listing; /* times that this thread has the lock, is taking or releasing it */

void asf__list_lock(void) {
    listing++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    asf__lock(&list_lock);
}

void asf__list_unlock(void) {
    asf__unlock(&list_lock);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    listing--;
}

bool asf__list_enter(void) {
    if (asf__unlikely(listing > 0) && !asf__lock_is_own(&list_lock))
        return false;
    asf__list_lock();
    return true;
}

void asf__list_reset(bool held) {
    asf__lock_reset(&list_lock);
    list_lock.biasable = false;
    listing -= held;
}

static struct asf_lock popen_lock = {.biasable = false};

void asf__popen_lock(void) {
    asf__lock(&popen_lock);
}

void asf__popen_unlock(void) {
    asf__unlock(&popen_lock);
}

void asf__popen_reset(void) {
    asf__lock_inherit(&popen_lock, false);
}

/* What is looked at without the lock is set as it was, or to what stops who looks. */
ASF_RACY void asf__cios_set_up(struct asf_cios *c, const struct asf_stream_ops *ops, int fd, int access) {
    static const int refuse[] = {[O_RDONLY] = ASF_NO_WRITES, [O_WRONLY] = ASF_NO_READS, [O_RDWR] = 0};
    c->flags = ASF_MAGIC | ASF_FILEBUF | ASF_USER_BUF | ASF_LINKED | refuse[access & O_ACCMODE];
    c->flags2 = ASF_OURS;
    c->fd = fd;
    c->offset = -1;
    c->vtable = asf__vtable;
    c->wide_data = &c->wide;
    c->wide.vtable = asf__wide_vtable;
    c->ops = ops;
    c->access = access & O_ACCMODE;
    c->why = "not used";
    c->inherited = true;
}

/* In memory that the caller has zeroed. */
static void init(struct asf_cios *c, const struct asf_stream_ops *ops, int fd, int access) {
    asf__cios_set_up(c, ops, fd, access);
    c->lock = &c->lk;
    c->lk.biasable = true;
    c->lk.fast = &c->fast;
}

static struct asf_cios *swap_latest(struct asf_cios *c) {
    if (!__libc_single_threaded)
        return __atomic_exchange_n(&latest, c, __ATOMIC_ACQ_REL);
    struct asf_cios *before = latest;
    latest = c;
    return before;
}

static struct asf_cios *from_pool(void) {
    struct asf_cios *ours = __atomic_load_n(&latest, __ATOMIC_RELAXED) ? swap_latest(NULL) : NULL;
    if (ours)
        return ours;
    asf__list_lock();
    struct asf_cios *c = pooled > 0 ? pool[--pooled] : taken < POOL ? &ready[taken++] : NULL;
    asf__list_unlock();
    return c;
}

struct asf_cios *asf__cios_new(const struct asf_stream_ops *ops, int fd, int access) {
    struct asf_cios *c = from_pool();
    if (!c && !(c = calloc(1, sizeof *c)))
        return NULL;
    init(c, ops, fd, access);
    return c;
}

void asf__cios_link(struct asf_cios *c) {
    static uint64_t numbers;
    asf__list_lock();
    c->number = ++numbers;
    c->prev = NULL;
    c->next = all;
    if (all)
        all->prev = c;
    all = c;
    c->listed = true;
    asf__fd_enter(c);
    asf__list_unlock();
}

void asf__cios_unlink(struct asf_cios *c) {
    if (!c->listed)
        return;
    asf__list_lock();
    asf__fd_leave(c);
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        all = c->next;
    c->listed = false;
    asf__list_unlock();
}

/* Who waits may be a signal handler, whose thread has been interrupted with a lock
 * (malloc's, say) that the holder of the list waits for (in fork). */
bool asf__list_enter_soon(void) {
    if (__libc_single_threaded || (listing > 0 && !asf__lock_is_own(&list_lock)))
        return false;
    listing++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    for (int i = 0; !asf__trylock(&list_lock); i++) {
        if (!asf__patient(i, ASF_WHILE)) {
            listing--;
            return false;
        }
    }
    return true;
}

/* Forward, the list is whole at any moment. */
static void visit_all(bool (*visit)(struct asf_cios *, void *), void *arg, bool locked) {
    if (!locked && !__libc_single_threaded)
        return;
    for (struct asf_cios *c = all, *next; c; c = next) {
        next = c->next;
        if (!visit(c, arg))
            break;
    }
    if (locked)
        asf__list_unlock();
}

void asf__each(bool (*visit)(struct asf_cios *, void *), void *arg) {
    visit_all(visit, arg, asf__list_enter());
}

void asf__each_soon(bool (*visit)(struct asf_cios *, void *), void *arg) {
    visit_all(visit, arg, asf__list_enter_soon());
}

void asf__set_name(struct asf_cios *c, const char *name) {
    if (asf__counting || asf__options()->verbose) {
        free(c->name);
        c->name = strdup(name);
    }
}

void asf__cios_report(struct asf_cios *c) {
    char fd[32] = "memory";
    uint64_t told = c->stats.in + c->stats.out + 1;
    if (!asf__counting || (!c->stats.calls && !c->stats.syscalls) || c->stats.told == told)
        return; /* a static program's exit calls our _exit, too */
    c->stats.told = told;
    if (c->fd >= 0) {
        char *end = fd + 3 + asf__count_digits((uint64_t)c->fd);
        memcpy(fd, "fd ", 3);
        asf__write_digits(end, (uint64_t)c->fd);
        *end = '\0';
    }
    asf__stats_line(&(struct asf_stats_line){
        .stream = c->name ? c->name : fd, .module = c->ops->name, .why = c->why, .stats = &c->stats});
}

/* Most streams have none of what they may have: no call is made for it. */
static inline void free_any(void *p) {
    if (asf__unlikely(p != NULL))
        free(p);
}

static void drop_list(struct asf_buffer **list) {
    while (*list) {
        struct asf_buffer *b = *list;
        *list = b->next;
        asf__buffer_free(b);
    }
}

/* What it has besides buffers, and what others count of it. */
static inline void leave_counts(struct asf_cios *c) {
    asf__free_backup(c);
    if (!(c->flags2 & ASF_WIDE_USER_BUF))
        free_any(c->wide.buf_base);
    if (c->grown)
        asf__mark_grown(c, false);
    if (c->ahead)
        asf__mark_ahead(c, false);
    asf__set_early(c, false);
}

void asf__cios_drop(struct asf_cios *c) {
    /* What this thread has left by longjmp, out of a wait that it was settling for, never ends. */
    while (asf__unlikely(asf__is_settling(c)) && !__libc_single_threaded && !asf__lock_is_own(&c->lk))
        sched_yield();
    leave_counts(c);
    if (c->in)
        asf__buffer_free(c->in);
    if (c->out)
        asf__buffer_free(c->out);
    drop_list(&c->retired);
    drop_list(&c->queue);
    drop_list(&c->spare);
    free_any(c->first.allocated);
    free_any(c->like_file);
    free_any(c->name);
    if (c->orientation > 0)
        memset(&c->wide, 0, sizeof c->wide);
    memset(c, 0, offsetof(struct asf_cios, recent));
}

/* Those with regions, or with a copy under way, are kept until they have none. */
static void retire_buffers(struct asf_cios *c) {
    if (c->in)
        asf__buffer_retire(c, c->in);
    if (c->out)
        asf__buffer_retire(c, c->out);
    while (c->queue) {
        struct asf_buffer *b = c->queue;
        c->queue = b->next;
        asf__buffer_retire(c, b);
    }
    drop_list(&c->spare);
    if (c->first.refs == 0) {
        free_any(c->first.allocated);
        c->first = (struct asf_buffer){0};
    }
}

static void clear(struct asf_cios *c, size_t from, size_t end) {
    memset((char *)c + from, 0, end - from);
}

/* The table, the lock and its copy for restartable sequences, and what says that it
 * is a CIOS are looked at by who has no lock yet: they are never anything else. */
void asf__cios_reset(struct asf_cios *c) {
    const char inside = c->inside;
    void *like_file = c->like_file;
    leave_counts(c);
    retire_buffers(c);
    free_any(c->name);
    struct asf_buffer *retired = c->retired, first = c->first;
    if (c->orientation > 0)
        memset(&c->wide, 0, sizeof c->wide);
    clear(c, offsetof(struct asf_cios, read_ptr), offsetof(struct asf_cios, chain));
    clear(c, offsetof(struct asf_cios, data), offsetof(struct asf_cios, next));
    c->orientation = 0;
    c->cur_column = 0;
    c->retired = retired;
    c->first = first;
    c->like_file = like_file;
    c->inside = inside;
    asf__cios_set_up(c, &asf__first_use, -1, O_RDWR);
    c->flags = (c->flags | ASF_NO_READS | ASF_NO_WRITES) & ~ASF_LINKED;
}

/* --- from stream to stream, the list unlocked between ------------------------- */

/* The one that this thread's walk stands at. */
static __thread struct asf_cios *pinned;

bool asf__walk_is_at(const struct asf_cios *c) {
    return pinned == c;
}

static void unpin(struct asf_cios *c) {
    if (!c || pinned != c)
        return;
    pinned = NULL;
    __atomic_sub_fetch(&c->pins, 1, __ATOMIC_ACQ_REL);
}

/* A walk that this thread has left by longjmp, or that it has interrupted by closing
 * the stream, does not go on here. */
void asf__await_others(struct asf_cios *c) {
    unpin(c);
    while (__atomic_load_n(&c->pins, __ATOMIC_ACQUIRE))
        sched_yield();
}

void asf__walk_begin(struct asf_walk *w) {
    *w = (struct asf_walk){.before = UINT64_MAX, .outer = pinned};
}

/* Where the stream has left the list, or was entered anew, its place is found again:
 * the newest is the first. */
static struct asf_cios *place_of(const struct asf_walk *w) {
    bool there = w->at && pinned == w->at && w->at->listed && w->at->number == w->before;
    struct asf_cios *c = there ? w->at->next : all;
    while (c && c->number >= w->before)
        c = c->next;
    return c;
}

struct asf_cios *asf__walk_on(struct asf_walk *w, bool (*wanted)(const struct asf_cios *)) {
    struct asf_cios *left = w->at, *c = NULL;
    bool locked = asf__list_enter();
    if (locked || __libc_single_threaded)
        c = place_of(w);
    while (c && !wanted(c))
        c = c->next;
    unpin(left);
    if (c) {
        w->before = c->number;
        __atomic_add_fetch(&c->pins, 1, __ATOMIC_ACQ_REL);
        pinned = c;
    }
    w->at = c;
    if (locked)
        asf__list_unlock();
    return c;
}

void asf__walk_end(void *walk) {
    struct asf_walk *w = walk;
    unpin(w->at);
    pinned = w->outer;
}

/* A mapped input buffer stays with a pooled stream for its next life. */
static struct asf_buffer *take_buffer(struct asf_cios *c) {
    struct asf_buffer *b = c->in;
    if (!b || b->refs || !asf__buffer_is_common(b))
        return NULL;
    c->in = NULL;
    return b;
}

static bool to_pool(struct asf_cios *c) {
    asf__list_lock();
    bool kept = is_ready(c) || pooled < POOL;
    if (kept)
        pool[pooled++] = c;
    asf__list_unlock();
    return kept;
}

/* The stream becomes the latest one; that which was it before goes to the pool. */
void asf__cios_free(struct asf_cios *c) {
    asf__await_others(c);
    struct asf_buffer *mapped = take_buffer(c);
    asf__cios_drop(c);
    c->in = mapped;
    struct asf_cios *before = swap_latest(c);
    if (!before || to_pool(before))
        return;
    if (before->in)
        asf__buffer_free(before->in);
    free(before);
}

static bool some_have_regions(const struct asf_buffer *list) {
    while (list && list->refs == 0)
        list = list->next;
    return list != NULL;
}

/* Queued output without any is what an error has left behind. */
bool asf__has_regions(const struct asf_cios *c) {
    return (c->in && c->in->refs) || (c->out && c->out->refs) || some_have_regions(c->queue) ||
           some_have_regions(c->retired);
}

int asf__cios_close(struct asf_cios *c) {
    int rc = 0;
    if (asf__is_putting(c))
        rc = asf__flush_output(c);
    else if (c->inherited || c->shared) /* others keep the offset: leave it where libc does */
        asf__settle_stream(c);
    asf__cios_report(c);
    asf__cios_unlink(c);
    int closed = c->ops->close ? c->ops->close(c) : 0;
    return closed ? closed : rc;
}
