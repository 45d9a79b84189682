/* SPDX-License-Identifier: MIT
 *
 * record_gather.c - a struct with pointers becomes a record: what they point to
 * is put behind it, and they become offsets.  One walk finds the size, and the
 * same walk copies.
 * Layer: interfaces/record.  May include: lib, include/asf.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "interfaces/record/record_gather.h"

struct gathering {
    const struct asf_record_format *f;
    unsigned char *record; /* NULL: only measure */
    size_t used, room;
};

static int no_room(const struct asf__slot *slot) {
    return asf__record_fail(-E2BIG, "field '%.64s': the record is too large, or changes while it is written",
                            slot->field->name);
}

/* Copy a part to where it will be; what stands there is returned. */
static int copy(struct gathering *g, const struct asf__slot *slot, const void *from, size_t bytes,
                size_t align, size_t *at) {
    *at = (g->used + align - 1) & -align;
    if (bytes > g->room || *at > g->room - bytes)
        return no_room(slot);
    if (g->record) {
        memset(g->record + g->used, 0, *at - g->used);
        memcpy(g->record + *at, from, bytes);
    }
    g->used = *at + bytes;
    return 0;
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
    unsigned char *elements = g->record ? g->record + at : NULL;
    if (slot->strings)
        return gather_strings(g, slot, from, count, elements);
    if (slot->sub == NONE || g->f->structs[slot->sub].slots_count == 0)
        return 0;
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
