/* SPDX-License-Identifier: MIT
 *
 * record_slots.c - lists the members of structs that must be checked in a received record: pointers with
 * their counters (slots), and booleans (flags).  For a format without any, only the record's length is
 * checked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "interfaces/record/record_format.h"

/* Counts the slots and flags of all structs: a hostile description could cause many by nesting. */
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
    if ((s->slots_count & (s->slots_count + 1)) == 0) { /* full at 2^n - 1 */
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

static int list_strings(struct listing *l, struct asf_record_layout *s, const struct asf__field *field,
                        uint32_t base) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < field->count; i++)
        rc = add_slot(l, s,
                      (struct asf__slot){.at = base + i * field->stride,
                                         .stride = 1,
                                         .alignment = 1,
                                         .sub = NONE,
                                         .text = true,
                                         .field = field});
    return rc;
}

static bool is_deep(const struct asf_record_format *f, const struct asf__field *field) {
    const struct asf_record_layout *sub = field->sub == NONE ? NULL : &f->structs[field->sub];
    return field->kind == ASF_RECORD_STRING || field->kind == ASF_RECORD_BOOL ||
           (sub && (sub->slots_count > 0 || sub->flags_count > 0));
}

/* Arrays are aligned to at least 8. */
static uint32_t part_alignment(const struct asf_record_format *f, const struct asf__field *field) {
    uint32_t align = field->sub == NONE ? 8 : f->structs[field->sub].alignment;
    return align > 8 ? align : 8;
}

static int list_dynamic(struct listing *l, struct asf_record_layout *s, const struct asf_record_layout *owner,
                        const struct asf__field *field, uint32_t base) {
    const struct asf__field *counter = &owner->fields[field->counter];
    return add_slot(l, s,
                    (struct asf__slot){.at = base + field->offset,
                                       .stride = field->stride,
                                       .alignment = part_alignment(l->f, field),
                                       .counter_at = base + counter->offset,
                                       .counter_size = counter->size,
                                       .counter_signed = counter->kind == ASF_RECORD_INT,
                                       .strings = field->kind == ASF_RECORD_STRING,
                                       .sub = field->sub,
                                       .deep = is_deep(l->f, field),
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
        return list_dynamic(l, s, s, field, 0);
    if (field->kind == ASF_RECORD_STRING)
        return list_strings(l, s, field, field->offset);
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
