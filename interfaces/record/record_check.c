/* SPDX-License-Identifier: MIT
 *
 * record_check.c - checks a received record against its format: offsets and counts are within the message,
 * strings end within it, and booleans are 0 or 1.  For each struct of a format it lists what must be checked:
 * pointers with their counters (slots), and booleans (flags).  If the record's struct has neither, only the
 * record's length is checked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_format.h"

/* --- listing the slots and flags of a format --------------------------------------------------- */

/* Counts the slots and flags of all structs, because a short hostile description can nest structs and so
 * multiply them. */
struct listing {
    struct asf_record_format *f;
    uint32_t count;
};

static int count_slot(struct listing *l, const struct asf__field *field) {
    return ++l->count <= SLOTS_MOST
               ? 0
               : asf__record_fail(-E2BIG, "field '%.64s': there are more than %d pointers and booleans",
                                  field->name, SLOTS_MOST);
}

static int add_slot(struct listing *l, struct asf_record_layout *s, struct asf__slot slot) {
    int rc = count_slot(l, slot.field);
    if (rc < 0)
        return rc;
    if ((s->slots_count & (s->slots_count + 1)) == 0) { /* the array is full at 2^n - 1 slots */
        struct asf__slot *more = reallocarray(s->slots, 2 * (size_t)s->slots_count + 1, sizeof *more);
        if (!more)
            return asf__record_no_memory("for the format");
        s->slots = more;
    }
    s->slots[s->slots_count++] = slot;
    s->deep |= slot.deep;
    return 0;
}

static int add_flags(struct listing *l, struct asf_record_layout *s, struct asf__flag flag) {
    int rc = count_slot(l, flag.field);
    if (rc < 0)
        return rc;
    if ((s->flags_count & (s->flags_count + 1)) == 0) {
        struct asf__flag *more = reallocarray(s->flags, 2 * (size_t)s->flags_count + 1, sizeof *more);
        if (!more)
            return asf__record_no_memory("for the format");
        s->flags = more;
    }
    s->flags[s->flags_count++] = flag;
    return 0;
}

static int list_strings(struct listing *l, struct asf_record_layout *s, const struct asf__field *field) {
    struct asf__slot slot = {
        .at = field->offset, .stride = 1, .alignment = 1, .sub = NONE, .text = true, .field = field};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < field->count; i++, slot.at += field->stride)
        rc = add_slot(l, s, slot);
    return rc;
}

static int list_dynamic(struct listing *l, struct asf_record_layout *s, const struct asf__field *field) {
    const struct asf__field *counter = &s->fields[field->counter];
    const struct asf_record_layout *sub = field->sub == NONE ? NULL : &l->f->structs[field->sub];
    bool strings = field->kind == ASF_RECORD_STRING;
    return add_slot(
        l, s,
        (struct asf__slot){.at = field->offset,
                           .stride = field->stride,
                           .alignment = sub && sub->alignment > 8 ? sub->alignment : 8, /* at least 8 */
                           .counter_at = counter->offset,
                           .counter_size = counter->size,
                           .counter_signed = counter->kind == ASF_RECORD_INT,
                           .strings = strings,
                           .sub = field->sub,
                           .deep = strings || field->kind == ASF_RECORD_BOOL ||
                                   (sub && (sub->slots_count > 0 || sub->flags_count > 0)),
                           .field = field});
}

/* Adds the slots and flags of a nested struct, at its offset. */
static int list_nested(struct listing *l, struct asf_record_layout *s, const struct asf_record_layout *sub,
                       uint32_t base) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < sub->slots_count; i++) {
        struct asf__slot slot = sub->slots[i];
        slot.at += base;
        slot.counter_at += base;
        rc = add_slot(l, s, slot);
    }
    for (uint32_t i = 0; rc == 0 && i < sub->flags_count; i++) {
        struct asf__flag flag = sub->flags[i];
        flag.at += base;
        rc = add_flags(l, s, flag);
    }
    return rc;
}

static int list_field(struct listing *l, struct asf_record_layout *s, struct asf__field *field) {
    int rc = 0;
    field->first_slot = s->slots_count;
    if (field->shape == ASF_RECORD_DYNAMIC)
        return list_dynamic(l, s, field);
    if (field->kind == ASF_RECORD_STRING)
        return list_strings(l, s, field);
    if (field->kind == ASF_RECORD_BOOL)
        return add_flags(l, s, (struct asf__flag){field->offset, field->count, field});
    if (field->kind != ASF_RECORD_STRUCT)
        return 0;
    const struct asf_record_layout *sub = &l->f->structs[field->sub];
    bool any = sub->slots_count > 0 || sub->flags_count > 0;
    for (uint32_t i = 0; rc == 0 && any && i < field->count; i++)
        rc = list_nested(l, s, sub, field->offset + i * field->stride);
    return rc;
}

int asf__list_slots(struct asf_record_format *f) {
    struct listing l = {.f = f};
    int rc = 0;
    for (unsigned i = 0; i < f->count; i++)
        for (uint32_t j = 0; rc == 0 && j < f->structs[i].fields_count; j++)
            rc = list_field(&l, &f->structs[i], &f->structs[i].fields[j]);
    return rc;
}

/* --- checking a record ------------------------------------------------------------------------- */

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

/* Returns the number of pointers in each element that a slot refers to. */
static uint32_t slots_of(const struct asf_record_format *f, const struct asf__slot *slot) {
    return slot->strings ? 1 : slot->sub == NONE ? 0 : f->structs[slot->sub].slots_count;
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

/* Checks one pointer of the struct at `base`. */
static inline __attribute__((always_inline)) int
check_slot(struct check *c, const struct asf__slot *slot, const unsigned char *base, struct asf__part *part) {
    *part = (struct asf__part){.at = asf__load(base + slot->at, c->f->slot, c->f->swapped)};
    if (!slot->text)
        part->count = asf__load(base + slot->counter_at, slot->counter_size, c->f->swapped);
    if (slot->counter_signed && part->count >> (8 * slot->counter_size - 1) != 0)
        return bad(slot->field, "has a negative number of elements");
    if (part->at == 0)
        return part->count == 0 ? 0 : bad(slot->field, "is a null pointer but has elements");
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
    uint32_t slots = slots_of(c->f, slot);
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
