/* SPDX-License-Identifier: MIT
 *
 * table.c - the table of a buffer's regions, which a single region of the current buffer does not need.
 */
#define _GNU_SOURCE
#include "backplane/engine.h"

#include <stdlib.h>

struct asf_region *asf__regions_of(struct asf_buffer *b) {
    return b->many ? b->many : b->few;
}

static unsigned capacity(const struct asf_buffer *b) {
    return b->many ? b->room : sizeof b->few / sizeof *b->few;
}

/* Drops the freed regions at either end of the table. */
static void trim_table(struct asf_buffer *b) {
    const struct asf_region *t = asf__regions_of(b);
    while (b->first < b->end && t[b->first].state == ASF_FREED)
        b->first++;
    while (b->end > b->first && t[b->end - 1].state == ASF_FREED)
        b->end--;
    if (b->first == b->end)
        b->first = b->end = 0;
}

static void compact(struct asf_buffer *b) {
    struct asf_region *t = asf__regions_of(b);
    unsigned n = 0;
    for (unsigned i = b->first; i < b->end; i++)
        if (t[i].state != ASF_FREED)
            t[n++] = t[i];
    b->first = 0;
    b->end = n;
}

/* Makes room in a full table: drops the freed entries, and doubles the table if more than half is still in
 * use. */
bool asf__reserve_region(struct asf_buffer *b) {
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
    memcpy(larger, asf__regions_of(b), b->end * sizeof *larger);
    free(b->many);
    b->many = larger;
    b->room = room;
    return true;
}

/* Inserts the region in address order: at the end, unless the program has moved back in its input. */
void asf__insert_region(struct asf_buffer *b, char *p, size_t n) {
    struct asf_region *t = asf__regions_of(b);
    unsigned i = b->end++;
    for (; i > b->first && t[i - 1].p > p; i--)
        t[i] = t[i - 1];
    t[i] = (struct asf_region){.p = p, .n = n};
    b->kept++;
}

struct asf_region *asf__find_region(struct asf_buffer *b, const char *p, size_t n) {
    struct asf_region *t = asf__regions_of(b);
    unsigned low = b->first, high = b->end;
    if (low < high && t[low].p == p) /* most regions are given back in order */
        high = low;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (t[middle].p < p)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < b->end && t[low].p == p; low++)
        if (t[low].state == ASF_KEPT && (n == ASF_ANY_LENGTH || n == t[low].n))
            return &t[low];
    return NULL;
}

/* Moves the region of `last` to the table.  This needs no memory: all other entries are abandoned
 * regions, and asf__abandon has reserved one more entry. */
void asf__table_last(struct asf_cios *c) {
    struct asf_buffer *b = c->buffer;
    if (!c->last)
        return;
    if (b && b->refs - b->copies - b->kept == 1 && asf__reserve_region(b))
        asf__insert_region(b, c->last, (size_t)(c->last_end - c->last));
    c->last = c->last_end = NULL;
}

struct asf_region *asf__first_region(struct asf_buffer *b) {
    trim_table(b);
    return b->end ? &asf__regions_of(b)[b->first] : NULL;
}

struct asf_region *asf__latest(struct asf_cios *c, const char *p) {
    asf__table_last(c);
    const char *next = asf__is_putting(c) ? c->write_ptr : c->read_ptr;
    bool none = !c->buffer || c->flags & ASF_IN_BACKUP || c->gate & ASF_MOVED || next < p;
    return none ? NULL : asf__find_region(c->buffer, p, (size_t)(next - p));
}

void asf__set_region_state(struct asf_buffer *b, struct asf_region *r, enum asf_region_state state) {
    r->state = state;
    b->kept--;
    trim_table(b);
}

void asf__take_back(struct asf_cios *c, struct asf_region *r) {
    asf__set_region_state(c->buffer, r, ASF_FREED);
    c->buffer->refs--;
}
