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

enum { LEAF = 1024, ROOT = 1024 };

static struct asf_cios *first_leaf[LEAF];
static struct asf_cios **root[ROOT] = {first_leaf};

static struct asf_cios **slot(int fd, bool make) {
    if (fd < 0 || fd >= LEAF * ROOT)
        return NULL;
    struct asf_cios **leaf = __atomic_load_n(&root[fd / LEAF], __ATOMIC_ACQUIRE);
    if (!leaf && make && (leaf = calloc(LEAF, sizeof *leaf)))
        __atomic_store_n(&root[fd / LEAF], leaf, __ATOMIC_RELEASE);
    return leaf ? &leaf[fd % LEAF] : NULL;
}

struct asf_cios *asf__fd_stream(int fd) {
    struct asf_cios **s = slot(fd, false);
    return s ? __atomic_load_n(s, __ATOMIC_ACQUIRE) : NULL;
}

void asf__fd_enter(struct asf_cios *c) {
    asf__list_lock();
    struct asf_cios **s = slot(c->fd, true);
    if (s) {
        c->fd_next = *s;
        __atomic_store_n(s, c, __ATOMIC_RELEASE);
    }
    asf__list_unlock();
}

void asf__fd_leave(struct asf_cios *c) {
    asf__list_lock();
    struct asf_cios **s = slot(c->fd, false);
    while (s && *s && *s != c)
        s = &(*s)->fd_next;
    if (s && *s)
        __atomic_store_n(s, c->fd_next, __ATOMIC_RELEASE);
    c->fd_next = NULL;
    asf__list_unlock();
}
