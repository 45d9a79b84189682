/* SPDX-License-Identifier: MIT
 *
 * cios.c - the life of a stream: made, listed, closed, given back; and what becomes of
 * streams in the child of a fork.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"
#include "backplane/hooks.h"
#include "backplane/pushback.h"

#include <errno.h>
#include <stdlib.h>

#include "backplane/report.h"
#include "lib/sys/guard.h"
#include "lib/sys/race_detector.h"
#include "lib/sys/syscalls.h"

const void *asf__vtable, *asf__wide_vtable;
struct asf_hooks asf__hooks;

static struct asf_cios *all;
static struct asf_lock list_lock = {.biasable = false}; /* before any stream's */
static struct asf_cios *spare;                          /* closed last: for the next open; swapped */

/* Looked at without the lock by threads that wait for it. */
ASF_RACY void asf__cios_set_up(struct asf_cios *c, const struct asf_stream_ops *ops, int fd, int access) {
    static const int refuse[] = {[O_RDONLY] = ASF_NO_WRITES, [O_WRONLY] = ASF_NO_READS, [O_RDWR] = 0};
    c->flags = ASF_MAGIC | ASF_FILEBUF | ASF_USER_BUF | ASF_LINKED | refuse[access & O_ACCMODE];
    c->flags2 = ASF_OURS | ASF_NEEDS_LOCK;
    c->fd = fd;
    c->offset = c->place = -1;
    c->vtable = asf__vtable;
    c->wide_data = &c->wide;
    c->wide.vtable = asf__wide_vtable;
    c->ops = ops;
    c->access = access & O_ACCMODE;
    c->why = "not used";
}

static struct asf_cios *swap_spare(struct asf_cios *c) {
    return __atomic_exchange_n(&spare, c, __ATOMIC_ACQ_REL);
}

void asf__cios_init(struct asf_cios *c, const struct asf_stream_ops *ops, int fd, int access) {
    asf__cios_set_up(c, ops, fd, access);
    c->lock = &c->lk;
    c->lk.biasable = true;
    c->lk.fast = &c->fast;
    c->prevchain = &c->chain;
}

struct asf_cios *asf__cios_new(const struct asf_stream_ops *ops, int fd, int access) {
    struct asf_cios *c = __atomic_load_n(&spare, __ATOMIC_RELAXED) ? swap_spare(NULL) : NULL;
    if (!c && !(c = calloc(1, sizeof *c)))
        return NULL;
    asf__cios_init(c, ops, fd, access);
    return c;
}

/* --- the list ------------------------------------------------------------------ */

static void before_fork(void);
static void after_fork(void);
static void in_child(void);

/* pthread_atfork, which would want an object's handle: this one is never unloaded. */
extern int __register_atfork(void (*before)(void), void (*after)(void), void (*child)(void), void *object);

static void unlink_stream(struct asf_cios *c) {
    if (!c->listed)
        return;
    asf__lock(&list_lock);
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        all = c->next;
    c->listed = false;
    asf__unlock(&list_lock);
}

void asf__cios_link(struct asf_cios *c) {
    static bool started;
    if (asf__hooks.linked)
        asf__hooks.linked(c);
    asf__lock(&list_lock);
    if (!started) {
        started = true;
        asf__lock_register();
        asf__show_closes();
        __register_atfork(before_fork, after_fork, in_child, NULL);
    }
    if (c->listed)
        unlink_stream(c);
    c->prev = NULL;
    c->next = all;
    if (all)
        all->prev = c;
    all = c;
    c->listed = true;
    asf__unlock(&list_lock);
}

static void unlock_list(void *unused) {
    (void)unused;
    asf__unlock(&list_lock);
}

struct visiting {
    bool (*visit)(struct asf_cios *, void *);
    void *arg;
};

static void visit_all(void *arg) {
    const struct visiting *v = arg;
    for (struct asf_cios *c = all, *next; c; c = next) {
        next = c->next;
        if (!v->visit(c, v->arg))
            break;
    }
}

void asf__each(bool (*visit)(struct asf_cios *, void *), void *arg) {
    struct visiting v = {visit, arg};
    asf__lock(&list_lock);
    asf__guarded(visit_all, &v, unlock_list, NULL);
    asf__unlock(&list_lock);
}

/* --- forks ------------------------------------------------------------------------ */

/* The child shares the descriptors' offsets. */
static void before_fork(void) {
    asf__lock(&list_lock);
    for (struct asf_cios *c = all; c; c = c->next)
        c->exclusive = false;
    asf__publish_streams(-1);
}

static void after_fork(void) {
    asf__unlock(&list_lock);
}

static void forget_copies(struct asf_buffer *b) {
    for (; b; b = b->next) {
        b->refs -= b->copies;
        b->copies = 0;
    }
}

/* The threads that held locks, or copied, are not there; and as after glibc's fork this one holds none
 * either. */
static void in_child(void) {
    for (struct asf_cios *c = all; c; c = c->next) {
        asf__lock_inherit(&c->lk, false);
        if (asf__is_putting(c)) /* a thread of the parent's was about to put it */
            c->bulk.from = c->bulk.to = NULL;
        forget_copies(c->retired);
        if (c->buffer && c->buffer->copies) {
            c->buffer->refs -= c->buffer->copies;
            c->buffer->copies = 0;
        }
    }
    asf__lock_reset(&list_lock);
    list_lock.biasable = false;
    if (asf__hooks.forked)
        asf__hooks.forked();
}

/* --- the end ------------------------------------------------------------------------ */

static bool some_have_regions(const struct asf_buffer *list) {
    while (list && list->refs == 0)
        list = list->next;
    return list != NULL;
}

static bool has_regions(const struct asf_cios *c) {
    return c->detached || (c->ops->busy && c->ops->busy(c)) || (c->buffer && c->buffer->refs) ||
           some_have_regions(c->queue) || some_have_regions(c->retired);
}

/* The list's lock comes before a stream's. */
int asf__cios_close(struct asf_cios *c) {
    asf__begin_call(c);
    int left = asf__flush_detached(c);
    bool busy = has_regions(c);
    if (busy)
        asf__flush_output(c);
    asf__end_call(c);
    if (busy)
        return ASF_HAS_REGIONS;
    unlink_stream(c);
    asf__begin_call(c);
    int rc = asf__is_putting(c) && c->kind != ASF_MEMORY ? asf__flush_output(c) : 0;
    asf__end_bulk(c);
    asf__report(c);
    if (asf__hooks.closing)
        asf__hooks.closing(c);
    int closed = c->ops->close ? c->ops->close(c) : 0;
    asf__end_call(c);
    return closed ? closed : rc ? rc : left;
}

static void retire_list(struct asf_cios *c, struct asf_buffer **list) {
    while (*list) {
        struct asf_buffer *b = *list;
        *list = b->next;
        asf__retire_buffer(c, b);
    }
}

static void drop_all(struct asf_cios *c) {
    c->bulk.from = c->bulk.to = NULL;
    asf__free_backup(c);
    asf__use_buffer(c, NULL);
    retire_list(c, &c->queue);
    free(c->unread);
    c->unread = NULL;
    free(c->name);
    if (c->orientation > 0)
        memset(&c->wide, 0, sizeof c->wide);
}

static void clear(struct asf_cios *c, size_t from, size_t end) {
    memset((char *)c + from, 0, end - from);
}

/* The table, the lock and its copy for restartable sequences are looked at by threads that
 * have no lock yet: they are never anything else. */
void asf__cios_reset(struct asf_cios *c) {
    drop_all(c);
    struct asf_buffer *retired = c->retired, single = c->single;
    clear(c, offsetof(struct asf_cios, read_ptr), offsetof(struct asf_cios, chain));
    clear(c, offsetof(struct asf_cios, data), offsetof(struct asf_cios, use));
    c->stats = (struct asf_stats){0};
    c->orientation = 0;
    c->cur_column = 0;
    c->gate = 0;
    c->retired = retired;
    c->single = single;
    asf__cios_set_up(c, c->ops, -1, O_RDWR);
    c->flags = (c->flags | ASF_NO_READS | ASF_NO_WRITES) & ~ASF_LINKED;
}

void asf__cios_free(struct asf_cios *c) {
    drop_all(c);
    clear(c, 0, offsetof(struct asf_cios, wide));
    free(asf__has_race_detector() ? c : swap_spare(c)); /* each is made anew: it sees that */
}

void asf__cancelled(void *arg) {
    struct asf_cios *c = arg;
    enum asf_use in = c->use == ASF_IN_SYSTEM_CALL ? c->left : c->use;
    c->use = ASF_OUTSIDE;
    if (in == ASF_LOCKED)
        asf__unlock(&c->lk);
}
