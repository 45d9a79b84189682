/* SPDX-License-Identifier: MIT
 *
 * list.c - the list of all streams: link and unlink a stream, visit all, and prepare them for a fork.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"

#include "lib/sys/guard.h"
#include "lib/sys/syscalls.h"

static struct asf_cios *all;
static struct asf_lock list_lock = {.biasable = false}; /* rank: before any stream's lock */

static void lock_list_before_fork(void);
static void unlock_list_after_fork(void);
static void reset_list_in_child(void);

/* The C library's pthread_atfork passes the calling object's handle, so that dlclose removes the handlers.
 * This library is never unloaded, and passes none. */
extern int __register_atfork(void (*before)(void), void (*after)(void), void (*child)(void), void *object);

void asf__cios_unlink(struct asf_cios *c) {
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
        __register_atfork(lock_list_before_fork, unlock_list_after_fork, reset_list_in_child, NULL);
    }
    if (c->listed)
        asf__cios_unlink(c);
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

/* Ends bulk mode of all streams: parent and child share the descriptors' offsets, and either may move
 * them. */
static void lock_list_before_fork(void) {
    asf__lock(&list_lock);
    for (struct asf_cios *c = all; c; c = c->next)
        asf__share_offset(c);
    asf__publish_streams(-1);
}

static void unlock_list_after_fork(void) {
    asf__unlock(&list_lock);
}

static void forget_copies(struct asf_buffer *b) {
    if (b->copies) { /* the test avoids a write, which would copy the page in the child */
        b->refs -= b->copies;
        b->copies = 0;
    }
}

/* Resets the locks and copies of threads that do not exist in the child.  The child's own thread holds no
 * lock either: fork resets the locks of FILEs. */
static void reset_list_in_child(void) {
    for (struct asf_cios *c = all; c; c = c->next) {
        asf__lock_inherit(&c->lk, false);
        asf__forget_counts(c);
        for (struct asf_buffer *b = c->retired; b; b = b->next)
            forget_copies(b);
        if (c->buffer)
            forget_copies(c->buffer);
    }
    asf__lock_reset(&list_lock);
    list_lock.biasable = false;
    asf__bulk_in_child();
    if (asf__hooks.forked)
        asf__hooks.forked();
}
