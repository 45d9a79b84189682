/* SPDX-License-Identifier: MIT
 *
 * record_gather.c - a struct with pointers becomes a record: what they point to
 * is put behind it, and they become offsets.  One walk finds the size, and the
 * same walk copies, or lets what is large stay where it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "interfaces/record/record_gather.h"

struct gathering {
    const struct asf_record_format *f;
    unsigned char *record; /* NULL: only measure */
    size_t used, room;
    size_t apart;               /* bytes of the record so far that are elsewhere */
    struct asf__pieces *pieces; /* NULL: nothing stays where it is */
};

enum { STAYS_LEAST = 512 }; /* bytes that are worth a piece of their own */

static int no_room(const struct asf__slot *slot) {
    return asf__record_fail(-E2BIG, "field '%.64s': the record is too large, or changes while it is written",
                            slot->field->name);
}

/* Where a byte of the record is, if it is not elsewhere. */
static unsigned char *place(const struct gathering *g, size_t at) {
    return g->record + (at - g->apart);
}

/* A part has its own piece, and one more is kept for what comes behind it. */
static bool may_stay(const struct gathering *g, const struct asf__slot *slot, size_t bytes) {
    return g->pieces && !slot->deep && bytes >= STAYS_LEAST && g->pieces->count + 3 <= g->pieces->most;
}

static void stay(struct gathering *g, unsigned char *end, const void *from, size_t bytes) {
    struct asf__pieces *p = g->pieces;
    if (end > p->start)
        p->all[p->count++] = (struct iovec){p->start, (size_t)(end - p->start)};
    p->all[p->count++] = (struct iovec){(void *)(uintptr_t)from, bytes};
    p->start = end;
    g->apart += bytes;
}

static int put(struct gathering *g, const struct asf__slot *slot, const void *from, size_t bytes, size_t at) {
    unsigned char *to = place(g, g->used);
    bool stays = may_stay(g, slot, bytes);
    size_t gap = at - g->used;
    if (g->pieces && gap + (stays ? 0 : bytes) > (size_t)(g->pieces->end - to))
        return no_room(slot);
    memset(to, 0, gap);
    if (stays)
        stay(g, to + gap, from, bytes);
    else
        memcpy(to + gap, from, bytes);
    return 0;
}

/* Put a part where it will be; what stands there is returned. */
static int copy(struct gathering *g, const struct asf__slot *slot, const void *from, size_t bytes,
                size_t align, size_t *at) {
    *at = (g->used + align - 1) & -align;
    if (bytes > g->room || *at > g->room - bytes)
        return no_room(slot);
    int rc = g->record ? put(g, slot, from, bytes, *at) : 0;
    g->used = *at + bytes;
    return rc;
}

static const void *pointer_at(const struct asf__slot *slot, const unsigned char *data) {
    const void *pointer;
    memcpy(&pointer, data + slot->at, sizeof pointer);
    return pointer;
}

static void set(const struct gathering *g, const struct asf__slot *slot, unsigned char *base, size_t at) {
    if (base)
        asf__store(base + slot->at, at, g->f->slot, false);
}

static int gather_string(struct gathering *g, const struct asf__slot *slot, const char *text,
                         unsigned char *base) {
    size_t at = 0;
    int rc = text ? copy(g, slot, text, strlen(text) + 1, 1, &at) : 0;
    if (rc == 0)
        set(g, slot, base, at);
    return rc;
}

static int gather_slots(struct gathering *g, const struct asf_record_layout *s, const unsigned char *data,
                        unsigned char *base);

static int gather_strings(struct gathering *g, const struct asf__slot *slot, const unsigned char *from,
                          uint64_t count, unsigned char *base) {
    struct asf__slot one = {.field = slot->field};
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < count; i++)
        rc = gather_string(g, &one, pointer_at(&one, from + i * slot->stride),
                           base ? base + i * slot->stride : NULL);
    return rc;
}

static int gather_elements(struct gathering *g, const struct asf__slot *slot, const unsigned char *from,
                           uint64_t count, unsigned char *base) {
    size_t at;
    uint64_t bytes;
    if (__builtin_mul_overflow(count, slot->stride, &bytes))
        return no_room(slot);
    int rc = copy(g, slot, from, bytes, slot->alignment, &at);
    if (rc < 0)
        return rc;
    set(g, slot, base, at);
    if (!slot->strings && (slot->sub == NONE || g->f->structs[slot->sub].slots_count == 0))
        return 0;
    unsigned char *elements = g->record ? place(g, at) : NULL;
    if (slot->strings)
        return gather_strings(g, slot, from, count, elements);
    for (uint64_t i = 0; rc == 0 && i < count; i++)
        rc = gather_slots(g, &g->f->structs[slot->sub], from + i * slot->stride,
                          elements ? elements + i * slot->stride : NULL);
    return rc;
}

static int gather_array(struct gathering *g, const struct asf__slot *slot, const unsigned char *data,
                        unsigned char *base) {
    const unsigned char *counter = data + slot->counter_at, *from = pointer_at(slot, data);
    uint64_t count = asf__load(counter, slot->counter_size, false);
    if (slot->counter_signed && asf__load_signed(counter, slot->counter_size, false) < 0)
        return asf__record_fail(-EINVAL, "field '%.64s' has a negative number of elements",
                                slot->field->name);
    if (count > 0 && !from)
        return asf__record_fail(-EINVAL, "field '%.64s' has elements and is NULL", slot->field->name);
    if (count > 0)
        return gather_elements(g, slot, from, count, base);
    set(g, slot, base, 0);
    return 0;
}

/* The slots of the struct at `data`, of which `base` is the copy. */
static int gather_slots(struct gathering *g, const struct asf_record_layout *s, const unsigned char *data,
                        unsigned char *base) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < s->slots_count; i++) {
        const struct asf__slot *slot = &s->slots[i];
        if (slot->text)
            rc = gather_string(g, slot, pointer_at(slot, data), base);
        else
            rc = gather_array(g, slot, data, base);
    }
    return rc;
}

int asf__gather_size(const struct asf_record_format *f, const void *data, size_t *size) {
    const struct asf_record_layout *root = asf__root(f);
    struct gathering g = {.f = f, .used = root->size, .room = SIZE_MAX / 2};
    if (f->swapped || f->slot != sizeof(void *))
        return asf__record_fail(-EINVAL, "'%.64s' is not a format of this machine", root->name);
    int rc = gather_slots(&g, root, data, NULL);
    *size = g.used;
    return rc;
}

int asf__gather_fields(const struct asf_record_format *f, const void *data, unsigned char *record,
                       size_t size) {
    const struct asf_record_layout *root = asf__root(f);
    struct gathering g = {.f = f, .record = record, .used = root->size, .room = size};
    memcpy(record, data, root->size);
    int rc = gather_slots(&g, root, data, record);
    if (rc == 0)
        memset(record + g.used, 0, size - g.used);
    return rc;
}

int asf__gather_pieces(const struct asf_record_format *f, const void *data, unsigned char *record,
                       size_t size, size_t padded, struct asf__pieces *pieces) {
    const struct asf_record_layout *root = asf__root(f);
    struct gathering g = {.f = f, .record = record, .used = root->size, .room = size, .pieces = pieces};
    if (pieces->most == 0 || root->size > (size_t)(pieces->end - record))
        return asf__record_fail(-E2BIG, "there is no room for '%.64s'", root->name);
    memcpy(record, data, root->size);
    int rc = gather_slots(&g, root, data, record);
    unsigned char *end = place(&g, g.used);
    if (rc == 0 && padded - g.used > (size_t)(pieces->end - end))
        rc = asf__record_fail(-E2BIG, "there is no room for the end of '%.64s'", root->name);
    if (rc < 0)
        return rc;
    memset(end, 0, padded - g.used);
    end += padded - g.used;
    if (end > pieces->start)
        pieces->all[pieces->count++] = (struct iovec){pieces->start, (size_t)(end - pieces->start)};
    return 0;
}
