/* SPDX-License-Identifier: MIT
 *
 * record_check.c - checks a received record against its format: offsets and counts are within the message,
 * strings end within it, and booleans are 0 or 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_check.h"

struct check {
    const struct asf_record_format *f;
    const unsigned char *p;
    size_t length;
    /* The bytes that parts may still use.  All parts together may not exceed the message, so that a small
     * message cannot become a large record by referring to the same bytes repeatedly. */
    uint64_t budget;
    struct asf__parts *parts;
};

static int bad(const struct asf__field *field, const char *what) {
    return asf__record_fail(-EBADMSG, "the record's field '%.64s' %s", field->name, what);
}

static int make_room(struct asf__parts *parts, size_t more) {
    if (more <= parts->room - parts->count)
        return 0;
    size_t room = 2 * parts->room + more;
    struct asf__part *all = reallocarray(parts->all, room, sizeof *all);
    if (!all)
        return asf__record_no_memory("to check the record");
    parts->all = all;
    parts->room = room;
    return 0;
}

static int check_flags(const struct check *c, const struct asf_record_layout *s, const unsigned char *base) {
    for (uint32_t i = 0; i < s->flags_count; i++) {
        const struct asf__flag *flag = &s->flags[i];
        for (uint32_t j = 0; j < flag->count; j++)
            if (asf__load(base + flag->at + j * flag->field->size, flag->field->size, c->f->swapped) > 1)
                return bad(flag->field, "is neither true nor false");
    }
    return 0;
}

static int check_string(struct check *c, const struct asf__field *field, struct asf__part *part) {
    if (part->at >= c->length)
        return bad(field, "is a string beyond the record");
    const unsigned char *text = c->p + part->at, *end = memchr(text, '\0', c->length - part->at);
    if (!end)
        return bad(field, "is a string that does not end within the record");
    part->count = (uint64_t)(end - text) + 1;
    return 0;
}

static inline int check_array(const struct check *c, const struct asf__slot *slot,
                              const struct asf__part *part) {
    uint64_t bytes;
    if (__builtin_mul_overflow(part->count, slot->stride, &bytes) || part->at > c->length ||
        bytes > c->length - part->at)
        return bad(slot->field, "is an array that exceeds the record");
    if ((part->at & (slot->alignment - 1)) != 0)
        return bad(slot->field, "is an array that is not aligned");
    return 0;
}

static uint64_t count_of(const struct check *c, const struct asf__slot *slot, const unsigned char *base) {
    return asf__load(base + slot->counter_at, slot->counter_size, c->f->swapped);
}

static bool is_negative(const struct asf__slot *slot, uint64_t count) {
    return slot->counter_signed && count >> (8 * slot->counter_size - 1) != 0;
}

/* A null pointer is valid only with a count of 0. */
static int check_null(const struct asf__slot *slot, uint64_t count) {
    return count == 0 ? 0 : bad(slot->field, "is a null pointer but has elements");
}

/* Checks one pointer of the struct at `base`. */
static inline __attribute__((always_inline)) int
check_slot(struct check *c, const struct asf__slot *slot, const unsigned char *base, struct asf__part *part) {
    *part = (struct asf__part){.at = asf__load(base + slot->at, c->f->slot, c->f->swapped)};
    if (!slot->text)
        part->count = count_of(c, slot, base);
    if (!slot->text && is_negative(slot, part->count))
        return bad(slot->field, "has a negative number of elements");
    if (part->at == 0)
        return check_null(slot, part->count);
    if (part->at < asf__root(c->f)->size)
        return bad(slot->field, "refers to the record's own struct");
    int rc = slot->text ? check_string(c, slot->field, part) : check_array(c, slot, part);
    uint64_t bytes = part->count * slot->stride;
    if (rc == 0 && bytes > c->budget)
        return bad(slot->field, "shares bytes with other fields");
    c->budget -= bytes;
    return rc;
}

/* Checks all pointers of one struct; their parts are appended. */
static int check_slots(struct check *c, const struct asf_record_layout *s, const unsigned char *base) {
    int rc = check_flags(c, s, base);
    if (rc < 0 || s->slots_count == 0) /* `all` may be NULL */
        return rc;
    struct asf__part *part = c->parts->all + c->parts->count;
    c->parts->count += s->slots_count;
    for (uint32_t i = 0; rc == 0 && i < s->slots_count; i++)
        rc = check_slot(c, &s->slots[i], base, part++);
    return rc;
}

/* Checks the elements of the array that a slot refers to. */
static int check_elements(struct check *c, const struct asf__slot *slot, size_t number) {
    const struct asf__part part = c->parts->all[number];
    const unsigned char *p = c->p + part.at;
    const struct asf__slot text = {.stride = 1, .alignment = 1, .text = true, .field = slot->field};
    bool booleans = slot->field->kind == ASF_RECORD_BOOL;
    uint32_t slots = asf__slots_of(c->f, slot);
    c->parts->all[number].child = c->parts->count;
    int rc = slots ? make_room(c->parts, slots * part.count) : 0;
    for (uint64_t i = 0; rc == 0 && i < part.count; i++, p += slot->stride) {
        if (slot->strings)
            rc = check_slot(c, &text, p, &c->parts->all[c->parts->count++]);
        else if (slot->sub != NONE)
            rc = check_slots(c, &c->f->structs[slot->sub], p);
        else if (booleans && asf__load(p, slot->field->size, c->f->swapped) > 1)
            rc = bad(slot->field, "is neither true nor false");
    }
    return rc;
}

static int check_children(struct check *c, const struct asf_record_layout *s, size_t first) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < s->slots_count; i++) {
        const struct asf__slot *slot = &s->slots[i];
        if (c->parts->all[first + i].count == 0 || !slot->deep)
            continue;
        rc = check_elements(c, slot, first + i);
        if (rc < 0 || slot->sub == NONE)
            continue;
        const struct asf__part part = c->parts->all[first + i];
        const struct asf_record_layout *sub = &c->f->structs[slot->sub];
        for (uint64_t j = 0; rc == 0 && sub->slots_count && j < part.count; j++)
            rc = check_children(c, sub, part.child + j * sub->slots_count);
    }
    return rc;
}

int asf__check_record(const struct asf_record_format *f, const unsigned char *record, size_t length,
                      struct asf__parts *parts) {
    const struct asf_record_layout *root = asf__root(f);
    parts->count = 0;
    if (length < root->size)
        return asf__record_fail(-EBADMSG, "the record has %zu bytes, and '%.64s' %u", length, root->name,
                                root->size);
    if (root->slots_count == 0 && root->flags_count == 0)
        return 0;
    struct check c = {f, record, length, length - root->size, parts};
    int rc = make_room(parts, root->slots_count);
    if (rc == 0)
        rc = check_slots(&c, root, record);
    return rc < 0 || !root->deep ? rc : check_children(&c, root, 0);
}
