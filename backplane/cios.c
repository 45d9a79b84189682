/* SPDX-License-Identifier: MIT
 *
 * cios.c - the object of a stream: allocate, initialize, reset and free it.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/sys/guard.h"
#include "lib/sys/race_detector.h"
#include "lib/sys/syscalls.h"

_Static_assert(offsetof(struct asf_cios, read_ptr) == 0x08, "the ABI's FILE");
_Static_assert(offsetof(struct asf_cios, write_ptr) == 0x28, "the ABI's FILE");
_Static_assert(offsetof(struct asf_cios, fd) == 0x70, "the ABI's FILE");
_Static_assert(offsetof(struct asf_cios, lock) == 0x88, "the ABI's FILE");
_Static_assert(offsetof(struct asf_cios, offset) == 0x90, "the ABI's FILE");
_Static_assert(offsetof(struct asf_cios, orientation) == 0xc0, "the ABI's FILE");
_Static_assert(offsetof(struct asf_cios, fast) == 0xd0, "the ABI's FILE");
_Static_assert(offsetof(struct asf_cios, vtable) == 0xd8, "the ABI's FILE");
_Static_assert(offsetof(struct asf_view, regions) == offsetof(struct asf_cios, buffer), "the view");
_Static_assert(offsetof(struct asf_view, last_end) == offsetof(struct asf_cios, last_end), "the view");
_Static_assert(offsetof(struct asf_view, gate) == offsetof(struct asf_cios, gate), "the view");
_Static_assert(offsetof(struct asf_view, mapped) == offsetof(struct asf_cios, mapped), "the view");
_Static_assert(offsetof(struct asf_view, holder) == offsetof(struct asf_cios, lk.holder), "the view");
_Static_assert(offsetof(struct asf_view, revoke) == offsetof(struct asf_cios, lk.revoke), "the view");
_Static_assert(offsetof(struct asf_buffer, refs) == 0, "the view");
_Static_assert((int)ASF_VIEW_BACKUP == (int)ASF_IN_BACKUP, "the view");
_Static_assert((int)ASF_VIEW_KEEPS_BYTES == (int)ASF_KEEPS_BYTES, "the view");

const void *asf__vtable, *asf__wide_vtable;
struct asf_hooks asf__hooks;

/* The object closed last, for the next open; accessed by atomic exchange. */
static struct asf_cios *spare;

/* Threads that wait for the lock read these members without it. */
ASF_RACY void asf__cios_set_up(struct asf_cios *c, const struct asf_module *ops, int fd, int access) {
    static const int refuse[] = {[O_RDONLY] = ASF_NO_WRITES, [O_WRONLY] = ASF_NO_READS, [O_RDWR] = 0};
    c->flags = ASF_MAGIC | ASF_FILEBUF | ASF_USER_BUF | ASF_LINKED | refuse[access & O_ACCMODE];
    c->flags2 = ASF_OURS | ASF_NEEDS_LOCK;
    c->fd = fd;
    c->offset = c->place = -1;
    c->vtable = asf__vtable;
    c->ops = ops;
    c->access = access & O_ACCMODE;
    c->why = "not used";
}

static struct asf_cios *swap_spare_object(struct asf_cios *c) {
    return __atomic_exchange_n(&spare, c, __ATOMIC_ACQ_REL);
}

static size_t appended;
static void (*begin_appended)(struct asf_cios *c);

void asf__append_to_cios(size_t size, void (*begin)(struct asf_cios *c)) {
    appended = size;
    begin_appended = begin;
    free(swap_spare_object(NULL));
}

void asf__cios_init(struct asf_cios *c, const struct asf_module *ops, int fd, int access) {
    asf__cios_set_up(c, ops, fd, access);
    c->lock = &c->lk;
    c->lk.biasable = true;
    c->lk.fast = &c->fast;
    c->prevchain = &c->chain;
}

struct asf_cios *asf__cios_new(const struct asf_module *ops, int fd, int access) {
    struct asf_cios *c = __atomic_load_n(&spare, __ATOMIC_RELAXED) ? swap_spare_object(NULL) : NULL;
    if (!c && !(c = calloc(1, sizeof *c + appended)))
        return NULL;
    asf__cios_init(c, ops, fd, access);
    if (begin_appended)
        begin_appended(c);
    return c;
}

static void retire_list(struct asf_cios *c, struct asf_buffer **list) {
    while (*list) {
        struct asf_buffer *b = *list;
        *list = b->next;
        asf__retire_buffer(c, b);
    }
}

static void drop_all(struct asf_cios *c) {
    asf__free_backup(c);
    asf__drop_large(c);
    asf__use_buffer(c, NULL);
    retire_list(c, &c->queue);
    free(c->unread);
    c->unread = NULL;
    free(c->name);
    if (c->orientation > 0)
        begin_appended(c);
}

static void zero_members(struct asf_cios *c, size_t from, size_t end) {
    memset((char *)c + from, 0, end - from);
}

/* `ops`, the lock and `fast` keep their values: threads that do not have the lock yet read them. */
void asf__cios_reset(struct asf_cios *c) {
    drop_all(c);
    struct asf_buffer *retired = c->retired, single = c->single;
    zero_members(c, offsetof(struct asf_cios, read_ptr), offsetof(struct asf_cios, chain));
    zero_members(c, offsetof(struct asf_cios, data), offsetof(struct asf_cios, use));
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
    const bool whole = c->wide_data || !begin_appended;
    drop_all(c);
    zero_members(c, 0, sizeof *c);
    /* A race detector must see each object as new. */
    free(asf__has_race_detector() || !whole ? c : swap_spare_object(c));
}

void asf__cancelled(void *arg) {
    struct asf_cios *c = arg;
    enum asf_use in = c->use == ASF_IN_SYSTEM_CALL ? c->left : c->use;
    c->use = ASF_OUTSIDE;
    if (in == ASF_LOCKED)
        asf__unlock(&c->lk);
}
