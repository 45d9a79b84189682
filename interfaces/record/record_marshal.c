/* SPDX-License-Identifier: MIT
 *
 * record_marshal.c - makes a record of a struct with pointers: appends the data that they refer to, and
 * replaces them by offsets.  The same traversal first measures the record and then copies the data, or
 * references large strings and arrays instead.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "interfaces/record/record_marshal.h"

struct marshal {
    const struct asf_record_format *f;
    unsigned char *record; /* NULL: only measure */
    size_t used, room;
    size_t skipped;             /* bytes of the record so far that are referenced, not copied */
    struct asf__chunks *chunks; /* NULL: copy everything */
};

enum { REFERENCE_LEAST = 512 }; /* bytes from which on a string or array is referenced */

static int no_room(const struct asf__slot *slot) {
    return asf__record_fail(-E2BIG, "field '%.64s': the record is too large, or changes while it is written",
                            slot->field->name);
}

/* The address of the record's byte at offset `at`, if it is a copied one. */
static unsigned char *address_of(const struct marshal *g, size_t at) {
    return g->record + (at - g->skipped);
}

/* A referenced array needs a chunk; the copied bytes before it and after it may need a chunk each. */
static bool may_reference(const struct marshal *g, const struct asf__slot *slot, size_t bytes) {
    return g->chunks && !slot->deep && bytes >= REFERENCE_LEAST && g->chunks->count + 3 <= g->chunks->most;
}

static void reference(struct marshal *g, unsigned char *end, const void *from, size_t bytes) {
    struct asf__chunks *p = g->chunks;
    if (end > p->start)
        p->all[p->count++] = (struct iovec){p->start, (size_t)(end - p->start)};
    p->all[p->count++] = (struct iovec){(void *)(uintptr_t)from, bytes};
    p->start = end;
    g->skipped += bytes;
}

static int put(struct marshal *g, const struct asf__slot *slot, const void *from, size_t bytes, size_t at) {
    unsigned char *to = address_of(g, g->used);
    bool referenced = may_reference(g, slot, bytes);
    size_t gap = at - g->used;
    if (g->chunks && gap + (referenced ? 0 : bytes) > (size_t)(g->chunks->end - to))
        return no_room(slot);
    memset(to, 0, gap);
    if (referenced)
        reference(g, to + gap, from, bytes);
    else
        memcpy(to + gap, from, bytes);
    return 0;
}

/* Appends data by copy or by reference; *at is its offset in the record. */
static int copy(struct marshal *g, const struct asf__slot *slot, const void *from, size_t bytes, size_t align,
                size_t *at) {
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

static void set(const struct marshal *g, const struct asf__slot *slot, unsigned char *base, size_t at) {
    if (base)
        asf__store(base + slot->at, at, g->f->slot, false);
}

static int marshal_string(struct marshal *g, const struct asf__slot *slot, const char *text,
                          unsigned char *base) {
    size_t at = 0;
    int rc = text ? copy(g, slot, text, strlen(text) + 1, 1, &at) : 0;
    if (rc == 0)
        set(g, slot, base, at);
    return rc;
}

static int marshal_slots(struct marshal *g, const struct asf_record_layout *s, const unsigned char *data,
                         unsigned char *base);

static int marshal_strings(struct marshal *g, const struct asf__slot *slot, const unsigned char *from,
                           uint64_t count, unsigned char *base) {
    struct asf__slot one = {.field = slot->field};
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < count; i++)
        rc = marshal_string(g, &one, pointer_at(&one, from + i * slot->stride),
                            base ? base + i * slot->stride : NULL);
    return rc;
}

static int marshal_elements(struct marshal *g, const struct asf__slot *slot, const unsigned char *from,
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
    unsigned char *elements = g->record ? address_of(g, at) : NULL;
    if (slot->strings)
        return marshal_strings(g, slot, from, count, elements);
    for (uint64_t i = 0; rc == 0 && i < count; i++)
        rc = marshal_slots(g, &g->f->structs[slot->sub], from + i * slot->stride,
                           elements ? elements + i * slot->stride : NULL);
    return rc;
}

static int marshal_array(struct marshal *g, const struct asf__slot *slot, const unsigned char *data,
                         unsigned char *base) {
    const unsigned char *counter = data + slot->counter_at, *from = pointer_at(slot, data);
    uint64_t count = asf__load(counter, slot->counter_size, false);
    if (slot->counter_signed && asf__load_signed(counter, slot->counter_size, false) < 0)
        return asf__record_fail(-EINVAL, "field '%.64s' has a negative number of elements",
                                slot->field->name);
    if (count > 0 && !from)
        return asf__record_fail(-EINVAL, "field '%.64s' is NULL but has elements", slot->field->name);
    if (count > 0)
        return marshal_elements(g, slot, from, count, base);
    set(g, slot, base, 0);
    return 0;
}

/* Appends the data of all pointers of the struct at `data`.  `base` is the struct's copy in the record. */
static int marshal_slots(struct marshal *g, const struct asf_record_layout *s, const unsigned char *data,
                         unsigned char *base) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < s->slots_count; i++) {
        const struct asf__slot *slot = &s->slots[i];
        if (slot->text)
            rc = marshal_string(g, slot, pointer_at(slot, data), base);
        else
            rc = marshal_array(g, slot, data, base);
    }
    return rc;
}

int asf__marshal_size(const struct asf_record_format *f, const void *data, size_t *size) {
    const struct asf_record_layout *root = asf__root(f);
    struct marshal g = {.f = f, .used = root->size, .room = SIZE_MAX / 2};
    int rc = asf__check_native(f);
    if (rc == 0)
        rc = marshal_slots(&g, root, data, NULL);
    *size = g.used;
    return rc;
}

int asf__marshal(const struct asf_record_format *f, const void *data, unsigned char *record, size_t size) {
    const struct asf_record_layout *root = asf__root(f);
    struct marshal g = {.f = f, .record = record, .used = root->size, .room = size};
    memcpy(record, data, root->size);
    int rc = marshal_slots(&g, root, data, record);
    if (rc == 0)
        memset(record + g.used, 0, size - g.used);
    return rc;
}

int asf__marshal_chunks(const struct asf_record_format *f, const void *data, unsigned char *record,
                        size_t size, size_t padded, struct asf__chunks *chunks) {
    const struct asf_record_layout *root = asf__root(f);
    struct marshal g = {.f = f, .record = record, .used = root->size, .room = size, .chunks = chunks};
    if (chunks->most == 0 || root->size > (size_t)(chunks->end - record))
        return asf__record_fail(-E2BIG, "the buffer is too small for '%.64s'", root->name);
    memcpy(record, data, root->size);
    int rc = marshal_slots(&g, root, data, record);
    unsigned char *end = address_of(&g, g.used);
    if (rc == 0 && padded - g.used > (size_t)(chunks->end - end))
        rc = asf__record_fail(-E2BIG, "the buffer is too small for the end of '%.64s'", root->name);
    if (rc < 0)
        return rc;
    memset(end, 0, padded - g.used);
    end += padded - g.used;
    if (end > chunks->start)
        chunks->all[chunks->count++] = (struct iovec){chunks->start, (size_t)(end - chunks->start)};
    return 0;
}
