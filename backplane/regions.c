/* SPDX-License-Identifier: MIT
 *
 * regions.c - the slow side of the paper's Figure 4: regions that the current buffer
 * cannot serve, the table of those that are kept, and giving them back.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/regions.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "lib/sys/syscalls.h"

/* --- the table of a buffer ------------------------------------------------------ */

static struct asf_region *table(struct asf_buffer *b) {
    return b->many ? b->many : b->few;
}

static unsigned capacity(const struct asf_buffer *b) {
    return b->many ? b->room : sizeof b->few / sizeof *b->few;
}

/* Those freed at either end are gone; after the last, so is the table's use of memory. */
static void trim_table(struct asf_buffer *b) {
    const struct asf_region *t = table(b);
    while (b->first < b->end && t[b->first].state == ASF_FREED)
        b->first++;
    while (b->end > b->first && t[b->end - 1].state == ASF_FREED)
        b->end--;
    if (b->first == b->end)
        b->first = b->end = 0;
}

static void compact(struct asf_buffer *b) {
    struct asf_region *t = table(b);
    unsigned n = 0;
    for (unsigned i = b->first; i < b->end; i++)
        if (t[i].state != ASF_FREED)
            t[n++] = t[i];
    b->first = 0;
    b->end = n;
}

/* Room for one more, at twice the size unless compaction frees half. */
static bool reserve(struct asf_buffer *b) {
    enum { LEAST = 16 };
    if (b->end < capacity(b))
        return true;
    compact(b);
    if (b->end <= capacity(b) / 2)
        return true;
    unsigned room = b->many ? 2 * b->room : LEAST;
    struct asf_region *larger = malloc(room * sizeof *larger);
    if (!larger)
        return b->end < capacity(b);
    memcpy(larger, table(b), b->end * sizeof *larger);
    free(b->many);
    b->many = larger;
    b->room = room;
    return true;
}

/* Behind all that do not lie after it: at the end, but for input that is read again. */
static void insert(struct asf_buffer *b, char *p, size_t n) {
    struct asf_region *t = table(b);
    unsigned i = b->end++;
    for (; i > b->first && t[i - 1].p > p; i--)
        t[i] = t[i - 1];
    t[i] = (struct asf_region){.p = p, .n = n};
    b->kept++;
}

/* The kept region at p; of the length n, unless that is ANY. */
static const size_t ANY = SIZE_MAX;
static struct asf_region *find_kept(struct asf_buffer *b, const char *p, size_t n) {
    struct asf_region *t = table(b);
    unsigned low = b->first, high = b->end;
    if (low < high && t[low].p == p) /* most are given back in order */
        high = low;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (t[middle].p < p)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < b->end && t[low].p == p; low++)
        if (t[low].state == ASF_KEPT && (n == ANY || n == t[low].n))
            return &t[low];
    return NULL;
}

static bool has_untabled(const struct asf_cios *c) {
    const struct asf_buffer *b = c->buffer;
    return b && c->last && b->refs - b->copies - b->kept == 1;
}

/* Those that were abandoned have left room for it. */
void asf__table_last(struct asf_cios *c) {
    if (!c->last)
        return;
    if (has_untabled(c) && reserve(c->buffer))
        insert(c->buffer, c->last, (size_t)(c->last_end - c->last));
    c->last = c->last_end = NULL;
}

struct asf_region *asf__first_region(struct asf_buffer *b) {
    trim_table(b);
    return b->end ? &table(b)[b->first] : NULL;
}

struct asf_region *asf__latest(struct asf_cios *c, const char *p) {
    asf__table_last(c);
    const char *next = asf__is_putting(c) ? c->write_ptr : c->read_ptr;
    bool none = !c->buffer || c->flags & ASF_IN_BACKUP || c->gate & ASF_MOVED || next < p;
    return none ? NULL : find_kept(c->buffer, p, (size_t)(next - p));
}

static void set_state(struct asf_buffer *b, struct asf_region *r, enum asf_region_state state) {
    r->state = state;
    b->kept--;
    trim_table(b);
}

void asf__take_back(struct asf_cios *c, struct asf_region *r) {
    set_state(c->buffer, r, ASF_FREED);
    c->buffer->refs--;
}

/* --- salloc -------------------------------------------------------------------------- */

/* What is given back on a stream where a person or a peer waits is put at once: not in line. */
static bool is_put_at_once(const struct asf_cios *c) {
    return asf__is_putting(c) && c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED);
}

static void *grant(struct asf_cios *c, char **pointer, ssize_t *length, size_t n) {
    struct asf_buffer *b = c->buffer;
    char *p = *pointer;
    asf__table_last(c);
    if (b->refs == 0 && !is_put_at_once(c) && !c->waits) {
        c->last = p;
        c->last_end = p + n;
    } else if (reserve(b)) {
        insert(b, p, n);
    } else {
        return asf__no_region(length, -ENOMEM);
    }
    b->refs++;
    *pointer = p + n;
    *length = (ssize_t)n;
    return p;
}

void *asf__grant_again(struct asf_cios *c, char **pointer, size_t n) {
    ssize_t length;
    return grant(c, pointer, &length, n); /* there is room in the table: it was taken back */
}

/* Bytes that were pushed back are in no buffer that may have regions. */
static ssize_t input(struct asf_cios *c, size_t want) {
    bool pushed_back = c->flags & ASF_IN_BACKUP && asf__avail(c) > 0;
    return pushed_back ? asf__fill_buffer(c, want) : asf__fill(c, want);
}

static void *allocate_output(struct asf_cios *c, ssize_t *length, size_t want) {
    int rc = asf__room_in_buffer(c) < want || !c->buffer ? asf__drain(c, want) : 0;
    return rc < 0 ? asf__no_region(length, rc) : grant(c, &c->write_ptr, length, want);
}

void *asf__salloc_slow(struct asf_cios *c, ssize_t *length, bool some) {
    c->stats.calls++;
    if (*length <= 0)
        return asf__no_region(length, -EINVAL);
    size_t want = (size_t)*length;
    if (!(c->flags & ASF_IN_BACKUP) && want <= asf__avail(c) && !asf__is_putting(c))
        return grant(c, &c->read_ptr, length, want);
    c->stats.slow++;
    int rc = c->failed;
    c->failed = 0;
    if (rc < 0)
        return asf__no_region(length, rc);
    if (asf__is_putting(c) || c->flags & ASF_NO_READS)
        return allocate_output(c, length, want);
    ssize_t n = input(c, some ? 1 : want);
    if (n <= 0)
        return asf__no_region(length, n);
    return grant(c, &c->read_ptr, length, (size_t)n < want ? (size_t)n : want);
}

/* --- sfree -------------------------------------------------------------------------------- */

static struct asf_buffer *find_in(struct asf_buffer *list, const char *p, struct asf_region **r) {
    for (struct asf_buffer *b = list; b; b = b->next)
        if (p >= b->base && p <= b->base + b->size && (*r = find_kept(b, p, ANY)))
            return b;
    return NULL;
}

static struct asf_buffer *find(struct asf_cios *c, const char *p, struct asf_region **r) {
    asf__table_last(c);
    if (c->buffer && (*r = find_kept(c->buffer, p, ANY)))
        return c->buffer;
    struct asf_buffer *b = find_in(c->queue, p, r);
    return b ? b : find_in(c->retired, p, r);
}

void asf__wake_waiting(struct asf_cios *c) {
    if (asf__unlikely(c->waits)) {
        __atomic_add_fetch(&c->turns, 1, __ATOMIC_RELEASE);
        asf__raw_syscall(SYS_futex, (long)&c->turns, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
    }
}

static int give_back(struct asf_cios *c, struct asf_buffer *b, struct asf_region *r,
                     enum asf_region_state state) {
    int rc = 0;
    set_state(b, r, state);
    asf__release_buffer(c, b);
    if (c->queue && c->queue->refs == 0)
        rc = asf__flush_queue(c);
    if ((rc == 0 || rc == -EBUSY) && is_put_at_once(c))
        rc = asf__flush_output(c);
    asf__wake_waiting(c);
    return rc == -EBUSY ? 0 : rc;
}

int asf__sfree_slow(struct asf_cios *c, char *p) {
    struct asf_region *r = NULL;
    struct asf_buffer *b = find(c, p, &r);
    if (!b)
        return asf__free_detached(c, p, asf__sfree_slow);
    int lost = b->mapped && c->ops->lost ? c->ops->lost(c, b, p, r->n) : 0;
    int rc = give_back(c, b, r, ASF_FREED);
    return lost ? lost : rc;
}

static bool is_in(const struct asf_buffer *list, const struct asf_buffer *b) {
    while (list && list != b)
        list = list->next;
    return list;
}

/* The memory of a memory stream is what the program sees: nothing is left out of it. */
int asf__abandon(struct asf_cios *c, char *p) {
    struct asf_region *r = NULL;
    struct asf_buffer *b = find(c, p, &r);
    bool output = b && asf__is_putting(c) && c->kind != ASF_MEMORY && (b == c->buffer || is_in(c->queue, b));
    if (!b)
        return asf__free_detached(c, p, asf__abandon);
    if (output && !reserve(b))
        return -ENOMEM;
    r = find_kept(b, p, ANY);
    c->left_out += output ? r->n : 0;
    return give_back(c, b, r, output ? ASF_ABANDONED : ASF_FREED);
}

static void abandon_in(struct asf_cios *c, struct asf_buffer *b) {
    for (unsigned i = b->first; i < b->end; i++) {
        struct asf_region *r = &table(b)[i];
        if (r->state != ASF_KEPT)
            continue;
        r->state = ASF_ABANDONED;
        c->left_out += r->n;
    }
}

void asf__abandon_all(struct asf_cios *c) {
    for (struct asf_cios *d = c->detached; d; d = d->next)
        asf__abandon_all(d);
    if (!asf__is_putting(c) || c->kind == ASF_MEMORY)
        return;
    asf__table_last(c);
    for (struct asf_buffer *b = c->queue; b; b = b->next)
        abandon_in(c, b);
    if (c->buffer)
        abandon_in(c, c->buffer);
}

/* --- regions that are a buffer of their own ----------------------------------------------- */

void asf__hand_out_apart(struct asf_cios *c, struct asf_buffer *b, size_t n) {
    insert(b, b->base, n);
    b->refs = 1;
    asf__retire_buffer(c, b);
}

void asf__await_regions(struct asf_cios *c, unsigned turns) {
    asf__raw_syscall(SYS_futex, (long)&c->turns, FUTEX_WAIT_PRIVATE, (long)turns, 0);
}
