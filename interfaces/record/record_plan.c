/* SPDX-License-Identifier: MIT
 *
 * record_plan.c - makes a plan: the ops for the record's struct and for array elements, the fills for
 * pointers, and whether a record can be used without conversion.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_plan.h"

/* --- routines ---------------------------------------------------------------------- */

static int add_routine(struct asf__plan *plan, struct asf__routine r, uint32_t *number) {
    if (plan->count == ROUTINES_MOST)
        return asf__record_fail(-E2BIG, "the formats have more than %d kinds of arrays", ROUTINES_MOST);
    if (plan->count == plan->room) {
        uint32_t room = 2 * plan->room + 4;
        struct asf__routine *more = reallocarray(plan->routines, room, sizeof *more);
        if (!more)
            return asf__record_no_memory("to match the formats");
        plan->routines = more;
        plan->room = room;
    }
    *number = plan->count;
    plan->routines[plan->count++] = r;
    return 0;
}

static int routine_of_structs(struct asf__plan *plan, unsigned wire, unsigned native, uint32_t *number) {
    for (*number = 0; *number < plan->count; ++*number)
        if (plan->routines[*number].wire == wire && plan->routines[*number].native == native)
            return 0;
    struct asf__routine r = {.wire = (uint16_t)wire,
                             .native = (uint16_t)native,
                             .from = plan->wire->structs[wire].size,
                             .to = plan->native->structs[native].size,
                             .slots = plan->wire->structs[wire].slots_count};
    int rc = add_routine(plan, r, number);
    uint32_t own = *number;
    if (rc == 0)
        rc = asf__match_ops(plan, own);
    return rc < 0 ? rc : asf__match_fills(plan, own);
}

/* Array elements that are strings: each is one pointer. */
static int add_string(struct asf__plan *plan, uint32_t number, const struct asf__field *native) {
    static const struct asf__slot source = {.stride = 1, .alignment = 1, .sub = NONE, .text = true};
    struct asf__routine *r = &plan->routines[number];
    r->fills = calloc(1, sizeof *r->fills);
    if (!r->fills)
        return asf__record_no_memory("to match the formats");
    r->fills_count = 1;
    r->slots = 1;
    r->fills[0] = (struct asf__fill){.slot = &source, .source = &source, .field = native};
    return 0;
}

int asf__routine_for(struct asf__plan *plan, const struct asf__field *wire, const struct asf__field *native,
                     uint32_t *number) {
    if (native->kind == ASF_RECORD_STRUCT)
        return routine_of_structs(plan, wire->sub, native->sub, number);
    for (*number = 0; *number < plan->count; ++*number)
        if (plan->routines[*number].source == wire && plan->routines[*number].target == native)
            return 0;
    struct asf__routine r = {.wire = NONE,
                             .native = NONE,
                             .source = wire,
                             .target = native,
                             .from = wire->stride,
                             .to = native->stride};
    int rc = add_routine(plan, r, number);
    if (rc < 0)
        return rc;
    return native->kind == ASF_RECORD_STRING ? add_string(plan, *number, native)
                                             : asf__match_leaf(plan, *number, wire, native);
}

/* --- fills --------------------------------------------------------------------------------- */

/* Indices of the first slots of a nested struct, within the slots of the routine's structs. */
struct slot_bases {
    const struct asf_record_layout *wire, *native; /* wire is NULL: the record lacks the struct */
    uint32_t wire_slot, native_slot;
};

static int fill_slot(struct asf__plan *plan, uint32_t routine, const struct asf__field *wire,
                     const struct asf__field *native, uint32_t wire_slot, uint32_t native_slot) {
    struct asf__fill fill = {.field = native, .part = wire_slot};
    uint32_t elements = 0;
    int rc =
        wire && native->shape == ASF_RECORD_DYNAMIC ? asf__routine_for(plan, wire, native, &elements) : 0;
    if (rc < 0)
        return rc;
    const struct asf__routine *r = &plan->routines[routine];
    fill.slot = &plan->native->structs[r->native].slots[native_slot];
    fill.source = wire ? &plan->wire->structs[r->wire].slots[wire_slot] : NULL;
    fill.routine = elements;
    r->fills[native_slot] = fill;
    return 0;
}

static int fill_struct(struct asf__plan *plan, uint32_t routine, struct slot_bases at);

static int fill_structs(struct asf__plan *plan, uint32_t routine, const struct asf__field *wire,
                        const struct asf__field *native, struct slot_bases at) {
    const struct asf_record_layout *sub = &plan->native->structs[native->sub];
    struct slot_bases inner = {wire ? &plan->wire->structs[wire->sub] : NULL, sub, at.wire_slot,
                               at.native_slot};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < native->count; i++) {
        bool there = wire && i < wire->count;
        if (!there)
            inner.wire = NULL;
        rc = fill_struct(plan, routine, inner);
        inner.native_slot += sub->slots_count;
        inner.wire_slot += there ? inner.wire->slots_count : 0;
    }
    return rc;
}

static int fill_field(struct asf__plan *plan, uint32_t routine, const struct asf__field *native,
                      struct slot_bases at) {
    const struct asf__field *wire = at.wire ? asf__field_named(at.wire, native->name) : NULL;
    at.native_slot += native->first_slot;
    at.wire_slot += wire ? wire->first_slot : 0;
    if (native->shape == ASF_RECORD_DYNAMIC)
        return fill_slot(plan, routine, wire, native, at.wire_slot, at.native_slot);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && native->kind == ASF_RECORD_STRING && i < native->count; i++)
        rc = fill_slot(plan, routine, wire && i < wire->count ? wire : NULL, native, at.wire_slot + i,
                       at.native_slot + i);
    if (native->kind == ASF_RECORD_STRUCT && plan->native->structs[native->sub].slots_count > 0)
        rc = fill_structs(plan, routine, wire, native, at);
    return rc;
}

static int fill_struct(struct asf__plan *plan, uint32_t routine, struct slot_bases at) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < at.native->fields_count; i++)
        rc = fill_field(plan, routine, &at.native->fields[i], at);
    return rc;
}

/* Sorts the fills of fields that the record has before the others: these take their lengths from arrays with
 * the same counter. */
static void order_fills(struct asf__routine *r, struct asf__fill *room) {
    uint32_t n = 0;
    for (int there = 1; there >= 0; there--)
        for (uint32_t i = 0; i < r->fills_count; i++)
            if ((r->fills[i].source != NULL) == there)
                room[n++] = r->fills[i];
    memcpy(r->fills, room, n * sizeof *room);
}

static int mark_counters(struct asf__routine *r, size_t size) {
    unsigned char *seen = calloc(size / 8 + 1, 1);
    if (!seen)
        return asf__record_no_memory("to match the formats");
    for (uint32_t i = 0; i < r->fills_count; i++) {
        struct asf__fill *fill = &r->fills[i];
        const struct asf__slot *slot = fill->slot;
        uint32_t at = slot->counter_at;
        fill->first = !(seen[at / 8] & 1 << at % 8);
        if (slot->counter_size == 0)
            continue;
        seen[at / 8] |= (unsigned char)(1 << at % 8);
        fill->most = UINT64_MAX >> (64 - 8u * slot->counter_size + slot->counter_signed);
    }
    free(seen);
    return 0;
}

int asf__match_fills(struct asf__plan *plan, uint32_t routine) {
    struct asf__routine *r = &plan->routines[routine];
    const struct asf_record_layout *wire = &plan->wire->structs[r->wire],
                                   *native = &plan->native->structs[r->native];
    if (native->slots_count == 0)
        return 0;
    struct asf__fill *room = calloc(native->slots_count, sizeof *room);
    r->fills = calloc(native->slots_count, sizeof *r->fills);
    r->fills_count = native->slots_count;
    int rc = room && r->fills ? fill_struct(plan, routine, (struct slot_bases){wire, native, 0, 0})
                              : asf__record_no_memory("to match the formats");
    r = &plan->routines[routine]; /* the array may have been reallocated */
    if (rc == 0) {
        order_fills(r, room);
        rc = mark_counters(r, native->size);
    }
    free(room);
    return rc;
}

/* --- whether a record can be used without conversion ---------------------------------------- */

static bool same_struct(const struct asf__plan *plan, unsigned wire, unsigned native, bool root);

static bool same_field(const struct asf__plan *plan, const struct asf__field *w, const struct asf__field *n) {
    if (w->offset != n->offset || w->kind != n->kind || w->size != n->size || w->shape != n->shape ||
        w->count != n->count || w->stride != n->stride)
        return false;
    return n->sub == NONE || same_struct(plan, w->sub, n->sub, false);
}

/* The record's struct may be longer than the program's: fields appended at its end do not matter. */
static bool same_struct(const struct asf__plan *plan, unsigned wire, unsigned native, bool root) {
    const struct asf_record_layout *w = &plan->wire->structs[wire], *n = &plan->native->structs[native];
    bool same = root ? w->size >= n->size : w->size == n->size && w->alignment >= n->alignment;
    for (uint32_t i = 0; same && i < n->fields_count; i++) {
        const struct asf__field *field = &n->fields[i], *source = asf__field_named(w, field->name);
        same = source && same_field(plan, source, field);
        if (same && field->counter != NONE)
            same = !strcmp(w->fields[source->counter].name, n->fields[field->counter].name);
    }
    return same;
}

/* --- whether a record can be swapped in place ------------------------------------------------ */

/* Whether the pointers have the same offsets, so that the record's parts remain valid after swapping. */
static bool same_slots(const struct asf_record_layout *w, const struct asf_record_layout *n) {
    bool same = w->slots_count == n->slots_count;
    for (uint32_t i = 0; same && i < n->slots_count; i++)
        same = w->slots[i].at == n->slots[i].at;
    return same;
}

/* Parts may not contain pointers: then checking the record's own parts for overlap is enough. */
static bool can_swap_in_place(const struct asf__plan *plan) {
    const struct asf_record_layout *w = asf__root(plan->wire), *n = asf__root(plan->native);
    bool can = plan->how == ASF_RECORD_SWAPPED && plan->receipt.ignored == 0 && w->size == n->size &&
               same_slots(w, n);
    for (uint32_t i = 1; can && i < plan->count; i++)
        can = plan->routines[i].fills_count == 0;
    return can;
}

/* --- the plan ---------------------------------------------------------------------------- */

static int prepare(struct asf__plan *plan) {
    int rc = 0;
    plan->in_place = can_swap_in_place(plan);
    for (uint32_t i = 0; rc == 0 && plan->engine->prepare && i < plan->count; i++) {
        plan->routines[i].in_place = plan->in_place;
        rc = plan->engine->prepare(plan->engine, &plan->routines[i]);
    }
    return rc;
}

/* Counts four times the ops: their array may be half empty, and the engine's code is assumed to be as large.
 */
static size_t memory_of(const struct asf__plan *plan) {
    size_t bytes = sizeof *plan + plan->wire->footprint + plan->absent_room * sizeof *plan->absent +
                   plan->room * sizeof *plan->routines;
    for (uint32_t i = 0; i < plan->count; i++)
        bytes += plan->routines[i].ops_count * 4 * sizeof *plan->routines[i].ops +
                 plan->routines[i].fills_count * sizeof *plan->routines[i].fills;
    return bytes;
}

int asf__plan_make(struct asf_record_format *wire, struct asf_record_format *native,
                   struct asf__plan **made) {
    uint32_t root;
    struct asf__plan *plan = calloc(1, sizeof *plan);
    *made = NULL;
    if (!plan)
        return asf__record_no_memory("to match the formats");
    if (native->swapped || native->slot != sizeof(void *)) {
        free(plan);
        return asf__record_fail(-EINVAL, "'%.64s' is not a format of this machine", asf__root(native)->name);
    }
    plan->wire = asf__record_keep(wire);
    plan->native = asf__record_keep(native);
    plan->engine = asf__engine_now();
    int rc = routine_of_structs(plan, wire->count - 1u, native->count - 1u, &root);
    const struct asf_record_layout *s = asf__root(native);
    if (rc == 0 && plan->receipt.missing >= s->fields_count)
        rc = asf__record_fail(-EPROTOTYPE, "'%.64s' and '%.64s' have no field in common",
                              asf__root(wire)->name, s->name);
    if (rc == 0) {
        plan->same_layout =
            wire->slot == native->slot && same_struct(plan, wire->count - 1u, native->count - 1u, true);
        plan->how = !plan->same_layout ? ASF_RECORD_CONVERTED
                    : wire->swapped    ? ASF_RECORD_SWAPPED
                                       : ASF_RECORD_IN_PLACE;
        rc = prepare(plan);
        plan->footprint = memory_of(plan);
    }
    if (rc < 0)
        asf__plan_free(plan);
    else
        *made = plan;
    return rc;
}

void asf__plan_free(struct asf__plan *plan) {
    for (uint32_t i = 0; i < plan->count; i++) {
        struct asf__routine *r = &plan->routines[i];
        if (r->code)
            plan->engine->discard(r->code);
        free(r->ops);
        free(r->fills);
    }
    asf_record_format_free(plan->wire);
    asf_record_format_free(plan->native);
    free(plan->routines);
    free(plan->absent);
    free(plan);
}
