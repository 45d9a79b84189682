/* SPDX-License-Identifier: MIT
 *
 * positional.c - regions of input anywhere in a regular file, for sallocAt outside the current
 * buffer: by pread into memory of their own, and from a map of the whole file once as many reads
 * have been made as mapping it costs page faults.  Regions of the map need no lock.
 *
 * The stream goes on after such a region, but its window and descriptor follow only when a
 * sequential call comes (ASF_MOVED): until then the offset is `moved_to`, which threads that
 * use the map set without the lock.  A call that is under way while a sequential one takes
 * that gate away counts as having come before it.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "backplane/pushback.h"
#include "backplane/regions.h"
#include "lib/sys/cleanup.h"
#include "lib/sys/fault.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "streams/modules.h"

/* The kernel maps sixteen pages a fault, and a fault costs about as much as two reads of few bytes:
 * 200 MB were mapped after 3200 reads of 0.54 us each, and a region then took 0.04. */
enum { FAULT_AROUND = 64 << 10 };

/* Regions that begin in the same few bytes of the map share a slot, which is one word: how many
 * there are, and where the latest begins and its length, or 0: that is not known. */
enum { SLOTS = 1024, SLOT_BYTES = 64, COUNT_BITS = 8, LENGTH_BITS = 16, PLACE_BITS = 40, LATEST_BITS = 24 };
enum { MOST = (1 << COUNT_BITS) - 1 };
#define LENGTH_OF(word) ((size_t)((word) >> COUNT_BITS & ((1 << LENGTH_BITS) - 1)))
#define PLACE_OF(word)  ((size_t)((word) >> (COUNT_BITS + LENGTH_BITS)))
#define COUNT_OF(word)  ((unsigned)((word)&MOST))
#define WORD(at, n, many)                                                                                    \
    ((uint64_t)(at) << (COUNT_BITS + LENGTH_BITS) | (uint64_t)(n) << COUNT_BITS | (many))

struct asf_positional {
    char *map; /* set once, after the rest, and there until the stream is closed; or NULL */
    size_t size;
    int watch;
    bool truncated;    /* the map may have zero pages, also where the file has grown since */
    char *unused_end;  /* what asf__watch would set */
    bool never;        /* the file is not to be mapped */
    unsigned reads;    /* until it is */
    const char *apart; /* the latest region that was read or is long, its length, and where it ends */
    size_t apart_length;
    off64_t apart_end;
    uint64_t latest; /* the latest other one of the map: where it begins, and its length */
    uint64_t slots[SLOTS];
};

static struct asf_positional *of(const struct asf_cios *c) {
    return __atomic_load_n(&c->positional, __ATOMIC_ACQUIRE);
}

static char *map_of(struct asf_positional *p) {
    return __atomic_load_n(&p->map, __ATOMIC_ACQUIRE);
}

static uint64_t *slot_of(struct asf_positional *p, size_t at) {
    return &p->slots[at / SLOT_BYTES % SLOTS];
}

/* --- where the stream goes on ------------------------------------------------------- */

/* Lock: held.  Nobody finds the bytes of the window from now on. */
static void leave_window(struct asf_cios *c) {
    asf__free_backup(c);
    asf__table_last(c);
    asf__empty_windows(c);
    c->offset = -1;
    c->flags &= ~ASF_EOF;
    __atomic_store_n(&c->gate, c->gate | ASF_MOVED, __ATOMIC_RELEASE);
}

static void move(struct asf_cios *c, off64_t at) {
    __atomic_store_n(&c->moved_to, at, __ATOMIC_RELEASE);
    if (asf__unlikely(!(__atomic_load_n(&c->gate, __ATOMIC_ACQUIRE) & ASF_MOVED))) {
        asf__lock(&c->lk);
        if (!(c->gate & ASF_MOVED) && !asf__is_putting(c)) /* else output has begun meanwhile */
            leave_window(c);
        __atomic_store_n(&c->moved_to, at, __ATOMIC_RELEASE);
        asf__unlock(&c->lk);
    }
}

void asf__arrive_slow(struct asf_cios *c) {
    __atomic_store_n(&c->gate, c->gate & ~(unsigned)ASF_MOVED, __ATOMIC_RELEASE);
    c->offset = c->ops->seek(c, __atomic_load_n(&c->moved_to, __ATOMIC_ACQUIRE), SEEK_SET);
}

/* --- the map ------------------------------------------------------------------------------ */

/* A hole that is mapped costs a fault a page, and on tmpfs memory. */
static bool is_dense(const struct stat64 *st) {
    return st->st_blocks >= st->st_size / 512 / 2;
}

/* Lock: held.  What the stream itself writes would be seen in regions of the map. */
static void consider_map(struct asf_cios *c, struct asf_positional *p) {
    struct stat64 st;
    int error = 0;
    if (c->access != O_RDONLY || p->never || p->map || asf__fstat(c->fd, &st) < 0 || st.st_size <= 0 ||
        p->reads <= (uint64_t)st.st_size / FAULT_AROUND)
        return;
    p->never = true;
    if (!is_dense(&st) || !asf__why_map(c, &st))
        return;
    char *map = asf__sys.map((size_t)st.st_size, c->fd, 0, &error);
    c->stats.syscalls++;
    if (!map)
        return;
    p->size = (size_t)st.st_size;
    p->watch = asf__watch(map, p->size, &p->truncated, &p->unused_end);
    if (p->watch < 0)
        asf__sys.unmap(map, p->size);
    else
        __atomic_store_n(&p->map, map, __ATOMIC_RELEASE);
}

static bool enter_in_slot(uint64_t *slot, size_t at, size_t n) {
    bool fits = n >> LENGTH_BITS == 0 && at >> PLACE_BITS == 0;
    uint64_t word = __atomic_load_n(slot, __ATOMIC_RELAXED), next;
    do {
        if (COUNT_OF(word) == MOST)
            return false;
        next = fits ? WORD(at, n, COUNT_OF(word) + 1) : COUNT_OF(word) + 1;
    } while (!__atomic_compare_exchange_n(slot, &word, next, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    return true;
}

/* Of the only region of a slot it is known whether it is this one. */
static bool leave_slot(uint64_t *slot, size_t at) {
    uint64_t word = __atomic_load_n(slot, __ATOMIC_RELAXED), next;
    do {
        bool known = LENGTH_OF(word) > 0, latest = known && PLACE_OF(word) == at;
        if (COUNT_OF(word) == 0 || (COUNT_OF(word) == 1 && known && !latest))
            return false;
        next = latest ? COUNT_OF(word) - 1 : word - 1;
    } while (!__atomic_compare_exchange_n(slot, &word, next, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    return true;
}

/* For srealloc.  Without the lock, if one word can say it. */
static void note_latest(struct asf_cios *c, const char *p, off64_t at, size_t n) {
    struct asf_positional *of_c = of(c);
    if (n >> LATEST_BITS == 0 && at >> PLACE_BITS == 0) {
        __atomic_store_n(&of_c->latest, (uint64_t)at << LATEST_BITS | n, __ATOMIC_RELAXED);
        return;
    }
    asf__lock(&c->lk);
    of_c->apart = p;
    of_c->apart_length = n;
    of_c->apart_end = at + (off64_t)n;
    asf__unlock(&c->lk);
}

void *asf__read_mapped(struct asf_cios *c, size_t n, off64_t offset) {
    struct asf_positional *p = of(c);
    char *map = p ? map_of(p) : NULL;
    if (!map || __atomic_load_n(&p->truncated, __ATOMIC_RELAXED) || offset < 0 ||
        (uint64_t)offset >= p->size || n == 0 || n > p->size - (size_t)offset)
        return NULL;
    if (!enter_in_slot(slot_of(p, (size_t)offset), (size_t)offset, n))
        return NULL;
    note_latest(c, map + offset, offset, n);
    move(c, offset + (off64_t)n);
    return map + offset;
}

static bool is_in_map(struct asf_positional *p, const char *ptr) {
    const char *map = p ? map_of(p) : NULL;
    return map && ptr >= map && ptr < map + p->size;
}

/* The length of the region, or 0: it is not known. */
static size_t length_of(const uint64_t *slot, size_t at) {
    uint64_t word = __atomic_load_n(slot, __ATOMIC_RELAXED);
    return PLACE_OF(word) == at ? LENGTH_OF(word) : 0;
}

/* What is behind the end of the file is zero.  Of a region whose length is not known the worst is
 * believed if the file has become shorter. */
static int lost(struct asf_cios *c, const struct asf_positional *p, size_t at, size_t n) {
    if (n > 0 && *(const volatile char *)(p->map + at + n - 1))
        return 0;
    off64_t size = asf__fd_length(c);
    return size < (off64_t)(n > 0 ? at + n : p->size) ? -EIO : 0;
}

int asf__free_mapped(struct asf_cios *c, const char *ptr) {
    struct asf_positional *p = of(c);
    if (!is_in_map(p, ptr))
        return ASF_NOT_MAPPED;
    size_t at = (size_t)(ptr - p->map);
    int rc = lost(c, p, at, length_of(slot_of(p, at), at));
    return leave_slot(slot_of(p, at), at) ? rc : -EINVAL;
}

bool asf__has_mapped_regions(const struct asf_cios *c) {
    const struct asf_positional *p = of(c);
    unsigned n = 0;
    for (size_t i = 0; p && i < SLOTS; i++)
        n += COUNT_OF(__atomic_load_n(&p->slots[i], __ATOMIC_ACQUIRE));
    return n > 0;
}

/* --- reads --------------------------------------------------------------------------------- */

/* Lock: held.  One more read is about to be made. */
static int prepare(struct asf_cios *c) {
    if (!c->positional) {
        struct asf_positional *p = calloc(1, sizeof *p);
        if (!p)
            return -ENOMEM;
        __atomic_store_n(&c->positional, p, __ATOMIC_RELEASE);
    }
    c->positional->reads++;
    consider_map(c, c->positional);
    return 0;
}

static ssize_t read_all(struct asf_cios *c, char *to, size_t n, off64_t offset) {
    size_t done = 0;
    while (done < n) {
        ssize_t r = asf__sys.pread(c->fd, to + done, n - done, offset + (off64_t)done);
        if (r < 0 && done == 0)
            return r;
        if (r <= 0)
            break;
        done += (size_t)r;
    }
    return (ssize_t)done;
}

/* No memory is taken for what the file does not have. */
static size_t within_file(struct asf_cios *c, size_t n, off64_t offset) {
    enum { MUCH = 1 << 20 };
    off64_t size = n > MUCH ? asf__fd_length(c) : -1;
    if (size < 0)
        return n;
    size_t there = size > offset ? (size_t)(size - offset) : 1;
    return n < there ? n : there;
}

static void *read_apart(struct asf_cios *c, ssize_t *length, off64_t offset) {
    size_t n = within_file(c, (size_t)*length, offset);
    struct asf_buffer *b = asf__buffer_new(n);
    if (!b)
        return asf__no_region(length, -ENOMEM);
    int cancellation = asf__forbid_cancellation();
    ssize_t r = read_all(c, b->base, n, offset);
    *length = r;
    if (r >= 0)
        move(c, offset + r);
    asf__lock(&c->lk);
    c->stats.syscalls++;
    c->stats.in += r > 0 ? (uint64_t)r : 0;
    if (r > 0) {
        asf__hand_out_apart(c, b, (size_t)r);
        c->positional->apart = b->base;
        c->positional->apart_length = (size_t)r;
        c->positional->apart_end = offset + r;
    }
    asf__unlock(&c->lk);
    asf__permit_cancellation(cancellation);
    if (r > 0)
        return b->base;
    asf__retire_buffer(c, b);
    return NULL;
}

void *asf__read_at(struct asf_cios *c, ssize_t *length, off64_t offset) {
    asf__lock(&c->lk);
    int rc = prepare(c);
    asf__unlock(&c->lk);
    if (rc < 0)
        return asf__no_region(length, rc);
    void *p = asf__read_mapped(c, (size_t)*length, offset);
    return p ? p : read_apart(c, length, offset);
}

size_t asf__latest_at(struct asf_cios *c, const char *ptr) {
    struct asf_positional *p = of(c);
    off64_t here = c->gate & ASF_MOVED ? __atomic_load_n(&c->moved_to, __ATOMIC_ACQUIRE) : asf__tell(c);
    if (p && ptr == p->apart && here == p->apart_end)
        return p->apart_length;
    if (!is_in_map(p, ptr))
        return 0;
    uint64_t latest = __atomic_load_n(&p->latest, __ATOMIC_RELAXED);
    size_t at = (size_t)(latest >> LATEST_BITS), n = latest & (((uint64_t)1 << LATEST_BITS) - 1);
    return ptr == p->map + at && here == (off64_t)(at + n) ? n : 0;
}

void asf__forget_latest(struct asf_cios *c, const char *ptr) {
    struct asf_positional *p = c->positional;
    if (asf__unlikely(p && p->apart == ptr))
        p->apart = NULL;
}

void asf__end_positional(struct asf_cios *c) {
    struct asf_positional *p = c->positional;
    if (!p)
        return;
    if (p->map) {
        asf__unwatch(p->watch);
        asf__sys.unmap(p->map, p->size);
    }
    c->positional = NULL;
    free(p);
}
