/* SPDX-License-Identifier: MIT
 *
 * fdtable.c - from a descriptor to its streams.  Looked up without a lock,
 * also in signal handlers; changed under the list lock.  Two levels, so that
 * a table never moves once it has been seen.
 * Layer: backplane.  May include: backplane, lib.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "backplane/backplane.h"
#include "backplane/descriptor.h"
#include "backplane/gather.h"

enum { FEW = 64, LEAF = 1024, ROOT = 1024 };

/* The usual descriptors; the rest costs memory when it comes. */
static struct asf_cios *few[FEW];
static struct asf_cios ***root;

/* What *at points to: a table of `n` entries, made when it is missing. */
static void *table(void *at, size_t n, bool make) {
    void **entry = at, *t = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
    if (!t && make && (t = calloc(n, sizeof t)))
        __atomic_store_n(entry, t, __ATOMIC_RELEASE);
    return t;
}

static struct asf_cios **slot(int fd, bool make) {
    if (fd < 0 || fd >= LEAF * ROOT)
        return NULL;
    if (fd < FEW)
        return &few[fd];
    struct asf_cios ***leaves = table(&root, ROOT, make);
    struct asf_cios **leaf = leaves ? table(&leaves[fd / LEAF], LEAF, make) : NULL;
    return leaf ? &leaf[fd % LEAF] : NULL;
}

struct asf_cios *asf__fd_stream(int fd) {
    if (asf__likely((unsigned)fd < FEW))
        return __atomic_load_n(&few[fd], __ATOMIC_ACQUIRE);
    struct asf_cios **s = slot(fd, false);
    return s ? __atomic_load_n(s, __ATOMIC_ACQUIRE) : NULL;
}

void asf__fd_enter(struct asf_cios *c) {
    struct asf_cios **s = slot(c->fd, true);
    if (s) {
        c->fd_next = *s;
        __atomic_store_n(s, c, __ATOMIC_RELEASE);
        asf__before_io();
        asf__unkeep(c->fd, true); /* the stream minds the offset from now on */
    } else if (c->fd >= 0) {
        c->shared = true; /* nobody who looks at the offset would find the stream */
    }
}

bool asf__some_joined;

void asf__join(struct asf_cios *c) {
    c->joined = true;
    asf__some_joined = true;
}

void asf__fd_leave(struct asf_cios *c) {
    struct asf_cios **s = slot(c->fd, false);
    while (s && *s && *s != c)
        s = &(*s)->fd_next;
    if (s && *s)
        __atomic_store_n(s, c->fd_next, __ATOMIC_RELEASE);
    c->fd_next = NULL;
}

void asf__forget_offset(int fd) {
    for (struct asf_cios *c = asf__fd_stream(fd); c; c = c->fd_next) {
        c->deferred = false;
        if (c->placed)
            c->astray = true;
        else
            c->offset = -1;
    }
}

void asf__share_offset(int fd) {
    for (struct asf_cios *c = asf__fd_stream(fd); c; c = c->fd_next)
        if (!c->own)
            c->shared = true;
}
