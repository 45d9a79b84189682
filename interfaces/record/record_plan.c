/* SPDX-License-Identifier: MIT
 *
 * record_plan.c - makes a plan: matches two formats by field names, which gives the ops for structs and array
 * elements, and the fills for pointers; and decides whether a record can be used without conversion.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_plan.h"

/* --- ops: how a struct is converted ------------------------------------------------------------ */

/* Two copies with at most this many bytes of padding in between become one copy, which includes the padding.
 */
enum { PADDING = 16 };

struct match {
    struct asf__plan *plan;
    struct asf__routine *r;
    uint32_t body_start; /* index of the first op of the current loop's body, or 0 */
    uint32_t done;       /* bytes of the native struct that the ops set so far */
    int level;           /* nesting depth of loops */
};

static int mismatch(const struct asf__field *field, const char *what) {
    return asf__record_fail(-EPROTOTYPE, "field '%.64s' %s", field->name, what);
}

static int append(struct match *m, struct asf__op op) {
    struct asf__routine *r = m->r;
    if (++m->plan->ops > OPS_MOST)
        return asf__record_fail(-E2BIG, "field '%.64s': the formats need more than %d operations",
                                op.field ? op.field->name : "", OPS_MOST);
    if ((r->ops_count & (r->ops_count + 1)) == 0) {
        struct asf__op *more = reallocarray(r->ops, 2 * (size_t)r->ops_count + 1, sizeof *more);
        if (!more)
            return asf__record_no_memory("to match the formats");
        r->ops = more;
    }
    r->ops[r->ops_count++] = op;
    return 0;
}

/* Whether a copy can extend the last op: source and target follow the last op's directly, or both after the
 * same short padding. */
static bool extends_last(const struct match *m, const struct asf__op *op) {
    if (op->code != OP_COPY || m->r->ops_count == m->body_start)
        return false;
    const struct asf__op *last = &m->r->ops[m->r->ops_count - 1];
    if (last->code != OP_COPY || last->dst + last->count != m->done || op->src < last->src + last->count)
        return false;
    uint32_t gap = op->dst - m->done;
    return gap <= PADDING && op->src - (last->src + last->count) == gap;
}

static int zero_up_to(struct match *m, uint32_t to) {
    if (to <= m->done)
        return 0;
    struct asf__op op = {.code = OP_ZERO, .to = 1, .dst = m->done, .count = to - m->done};
    m->done = to;
    return append(m, op);
}

/* Appends the next op in order of native offsets.  Bytes that it skips become zeros. */
static int add(struct match *m, struct asf__op op) {
    uint32_t bytes = op.count * op.to;
    int rc = 0;
    if (op.code == OP_COPY) {
        op.count = bytes;
        op.from = op.to = 1;
    }
    if (extends_last(m, &op)) {
        m->r->ops[m->r->ops_count - 1].count += op.dst - m->done + bytes;
    } else {
        rc = zero_up_to(m, op.dst);
        if (rc == 0)
            rc = append(m, op);
    }
    m->done = op.dst + bytes;
    return rc;
}

/* --- single fields ----------------------------------------------------------------------------- */

static bool is_integer(const struct asf__field *field) {
    return field->kind == ASF_RECORD_INT || field->kind == ASF_RECORD_UINT || field->kind == ASF_RECORD_ENUM;
}

static bool is_signed(const struct asf__field *field) {
    return field->kind == ASF_RECORD_INT || field->kind == ASF_RECORD_ENUM;
}

static enum asf__opcode same_size(bool swap, unsigned size) {
    return swap && size > 1 ? OP_SWAP : OP_COPY;
}

static enum asf__opcode integer_op(bool swap, const struct asf__field *wire,
                                   const struct asf__field *native) {
    if (wire->size == native->size)
        return is_signed(wire) == is_signed(native) ? same_size(swap, wire->size) : OP_NARROW;
    if (wire->size > native->size || (is_signed(wire) && !is_signed(native)))
        return OP_NARROW;
    return is_signed(wire) ? OP_SIGNED : OP_EXTEND;
}

/* Returns the opcode that converts one kind of field to the other, or -EPROTOTYPE. */
static int opcode_for(bool swap, const struct asf__field *wire, const struct asf__field *native) {
    bool wire_float = wire->kind == ASF_RECORD_FLOAT, native_float = native->kind == ASF_RECORD_FLOAT;
    if (is_integer(wire) && is_integer(native))
        return (int)integer_op(swap, wire, native);
    if (wire_float && native_float)
        return wire->size == native->size ? (int)same_size(swap, wire->size) : OP_FLOAT;
    if (wire->kind == native->kind)
        return wire->size == native->size  ? (int)same_size(swap, wire->size)
               : wire->size < native->size ? OP_EXTEND
                                           : OP_NARROW;
    if (!(native->wishes & ASF_RECORD_ANY_NUMBER) ||
        !(wire_float ? is_integer(native) : native_float && is_integer(wire)))
        return mismatch(native, "is of another kind in the record");
    return native_float ? OP_FROM_INT : OP_TO_INT;
}

static int leaf(struct match *m, const struct asf__field *wire, const struct asf__field *native,
                struct asf__op op) {
    bool swap = m->plan->wire->swapped; /* the native format has this machine's byte order */
    int opcode = opcode_for(swap, wire, native);
    if (opcode < 0)
        return opcode;
    op.code = (uint8_t)opcode;
    op.swap = swap;
    op.from = wire->size;
    op.to = native->size;
    op.from_signed = is_signed(wire);
    op.to_signed = is_signed(native);
    op.field = native;
    return add(m, op);
}

static int note_absent(struct asf__plan *plan, const struct asf__field *native) {
    if (native->wishes & ASF_RECORD_REQUIRED)
        return asf__record_fail(-ENOENT, "the record has no field '%.64s', which is required", native->name);
    if (plan->receipt.missing == plan->absent_room) {
        size_t room = 2 * plan->absent_room + 8;
        const char **more = reallocarray(plan->absent, room, sizeof *more);
        if (!more)
            return asf__record_no_memory("to match the formats");
        plan->receipt.absent = plan->absent = more;
        plan->absent_room = room;
    }
    plan->absent[plan->receipt.missing++] = native->name;
    return 0;
}

static bool has_fallback(const struct asf__plan *plan, const struct asf__field *native) {
    if (native->kind == ASF_RECORD_STRING || native->shape == ASF_RECORD_DYNAMIC)
        return false; /* pointers are set by fills */
    const struct asf_record_layout *s = native->sub == NONE ? NULL : &plan->native->structs[native->sub];
    bool has = native->fallback != NULL;
    for (uint32_t i = 0; !has && s && i < s->fields_count; i++)
        has = has_fallback(plan, &s->fields[i]);
    return has;
}

/* Sets array elements that the record lacks to zero.  Skips pointers, because fills set them. */
static int zeros(struct match *m, const struct asf__field *native, uint32_t dst, uint32_t count) {
    if (count == 0 || native->kind == ASF_RECORD_STRING || native->shape == ASF_RECORD_DYNAMIC)
        return 0;
    return zero_up_to(m, dst + count * native->stride);
}

static int absent_structs(struct match *m, const struct asf__field *native, uint32_t dst, uint32_t count);

/* Sets a field that the record lacks to its fallback, or to zero if it has none.  A struct without a fallback
 * gets the fallbacks of its fields. */
static int absent(struct match *m, const struct asf__field *native, uint32_t dst) {
    if (!has_fallback(m->plan, native))
        return zeros(m, native, dst, native->count);
    if (!native->fallback)
        return absent_structs(m, native, dst, native->count);
    return add(m, (struct asf__op){.code = OP_FIXED,
                                   .to = 1,
                                   .dst = dst,
                                   .count = native->stride * native->count,
                                   .field = native,
                                   .bytes = native->fallback});
}

/* --- structs ----------------------------------------------------------------------------------- */

static int match_struct(struct match *m, const struct asf_record_layout *wire,
                        const struct asf_record_layout *native, uint32_t src, uint32_t dst);

/* Converts an array of structs by a loop, or by one copy if the loop's body is a single copy. */
static int match_structs(struct match *m, const struct asf__field *wire, const struct asf__field *native,
                         uint32_t src, uint32_t dst, uint32_t count) {
    struct match inner = {m->plan, m->r, 0, 0, m->level + 1};
    int rc = zero_up_to(m, dst);
    uint32_t at = m->r->ops_count;
    struct asf__op loop = {.code = OP_LOOP,
                           .src = src,
                           .dst = dst,
                           .count = count,
                           .sstep = wire->stride,
                           .dstep = native->stride,
                           .field = native};
    if (rc == 0)
        rc = append(m, loop);
    inner.body_start = at + 1;
    if (rc == 0)
        rc = match_struct(&inner, &m->plan->wire->structs[wire->sub], &m->plan->native->structs[native->sub],
                          0, 0);
    if (rc == 0)
        rc = zero_up_to(&inner, native->stride);
    if (rc < 0)
        return rc;
    struct asf__op *ops = m->r->ops;
    ops[at].body = m->r->ops_count - at - 1;
    if (ops[at].body == 1 && ops[at + 1].code == OP_COPY && ops[at + 1].src == 0 &&
        ops[at + 1].count == wire->stride && wire->stride == native->stride) {
        m->r->ops_count = at;
        return add(
            m,
            (struct asf__op){
                .code = OP_COPY, .from = 1, .to = 1, .src = src, .dst = dst, .count = count * wire->stride});
    }
    m->done = dst + count * native->stride;
    return 0;
}

/* Sets structs that the record lacks, in a loop if they have fallbacks. */
static int absent_structs(struct match *m, const struct asf__field *native, uint32_t dst, uint32_t count) {
    const struct asf_record_layout *s = &m->plan->native->structs[native->sub];
    struct asf__op loop = {
        .code = OP_LOOP, .dst = dst, .count = count, .dstep = native->stride, .field = native};
    if (count == 0 || !has_fallback(m->plan, native))
        return zeros(m, native, dst, count);
    const struct asf__field **sorted = asf__in_order(s);
    int rc = sorted ? zero_up_to(m, dst) : asf__record_no_memory("to match the formats");
    uint32_t at = m->r->ops_count;
    struct match inner = {m->plan, m->r, at + 1, 0, m->level + 1};
    if (rc == 0)
        rc = append(m, loop);
    for (uint32_t i = 0; rc == 0 && i < s->fields_count; i++)
        if (!sorted[i]->counts)
            rc = absent(&inner, sorted[i], sorted[i]->offset);
    free(sorted);
    if (rc == 0)
        rc = zero_up_to(&inner, native->stride);
    if (rc < 0)
        return rc;
    m->r->ops[at].body = m->r->ops_count - at - 1;
    m->done = dst + count * native->stride;
    return 0;
}

static int match_field(struct match *m, const struct asf__field *wire, const struct asf__field *native,
                       uint32_t src, uint32_t dst) {
    bool wire_struct = wire->kind == ASF_RECORD_STRUCT, native_struct = native->kind == ASF_RECORD_STRUCT;
    uint32_t count = wire->count < native->count ? wire->count : native->count;
    if ((wire->shape == ASF_RECORD_DYNAMIC) != (native->shape == ASF_RECORD_DYNAMIC))
        return mismatch(native, "is a dynamic array in only one of the formats");
    if (wire_struct != native_struct ||
        (wire->kind == ASF_RECORD_STRING) != (native->kind == ASF_RECORD_STRING))
        return mismatch(native, "is of another kind in the record");
    if (m->level == 0 && wire->count > native->count)
        m->plan->receipt.cut++;
    if (native->shape == ASF_RECORD_DYNAMIC || native->kind == ASF_RECORD_STRING)
        return 0; /* pointers are set by fills */
    if (native_struct && native->count == 1 && wire->count == 1)
        return match_struct(m, &m->plan->wire->structs[wire->sub], &m->plan->native->structs[native->sub],
                            src, dst);
    if (native_struct) {
        int rc = match_structs(m, wire, native, src, dst, count);
        return rc < 0 ? rc : absent_structs(m, native, dst + count * native->stride, native->count - count);
    }
    int rc = leaf(m, wire, native, (struct asf__op){.src = src, .dst = dst, .count = count});
    return rc < 0 ? rc : zeros(m, native, dst + count * native->stride, native->count - count);
}

static int match_struct(struct match *m, const struct asf_record_layout *wire,
                        const struct asf_record_layout *native, uint32_t src, uint32_t dst) {
    const struct asf__field **sorted = asf__in_order(native);
    int rc = sorted ? 0 : asf__record_no_memory("to match the formats");
    uint32_t found = 0;
    for (uint32_t i = 0; rc == 0 && i < native->fields_count; i++) {
        const struct asf__field *field = sorted[i];
        const struct asf__field *source = asf__field_named(wire, field->name);
        found += source != NULL;
        if (field->counts)
            continue; /* set together with its array */
        rc = source ? match_field(m, source, field, src + source->offset, dst + field->offset)
                    : note_absent(m->plan, field);
        if (rc == 0 && !source)
            rc = absent(m, field, dst + field->offset);
    }
    free(sorted);
    m->plan->receipt.ignored += wire->fields_count - found;
    return rc;
}

static int match_ops(struct asf__plan *plan, uint32_t routine) {
    struct asf__routine *r = &plan->routines[routine];
    struct match m = {plan, r, 0, 0, 0};
    int rc = match_struct(&m, &plan->wire->structs[r->wire], &plan->native->structs[r->native], 0, 0);
    return rc < 0 ? rc : zero_up_to(&m, r->to);
}

/* --- fills: how pointers are set --------------------------------------------------------------- */

/* Finds or makes the routine for the elements of two dynamic arrays; *number is its index. */
static int routine_for(struct asf__plan *plan, const struct asf__field *wire, const struct asf__field *native,
                       uint32_t *number);

/* Indices of the first slots of a nested struct, within the slots of the routine's structs. */
struct slot_bases {
    const struct asf_record_layout *wire, *native; /* wire is NULL: the record lacks the struct */
    uint32_t wire_slot, native_slot;
};

static int fill_slot(struct asf__plan *plan, uint32_t routine, const struct asf__field *wire,
                     const struct asf__field *native, uint32_t wire_slot, uint32_t native_slot) {
    struct asf__fill fill = {.field = native, .part = wire_slot};
    uint32_t elements = 0;
    int rc = wire && native->shape == ASF_RECORD_DYNAMIC ? routine_for(plan, wire, native, &elements) : 0;
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

static int fill_struct(struct asf__plan *plan, uint32_t routine, struct slot_bases at) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < at.native->fields_count; i++) {
        const struct asf__field *native = &at.native->fields[i],
                                *wire = at.wire ? asf__field_named(at.wire, native->name) : NULL;
        struct slot_bases here = {.wire_slot = at.wire_slot + (wire ? wire->first_slot : 0),
                                  .native_slot = at.native_slot + native->first_slot};
        if (native->shape == ASF_RECORD_DYNAMIC)
            rc = fill_slot(plan, routine, wire, native, here.wire_slot, here.native_slot);
        else if (native->kind == ASF_RECORD_STRUCT && plan->native->structs[native->sub].slots_count > 0)
            rc = fill_structs(plan, routine, wire, native, here);
        for (uint32_t j = 0; rc == 0 && native->kind == ASF_RECORD_STRING &&
                             native->shape != ASF_RECORD_DYNAMIC && j < native->count;
             j++)
            rc = fill_slot(plan, routine, wire && j < wire->count ? wire : NULL, native, here.wire_slot + j,
                           here.native_slot + j);
    }
    return rc;
}

/* Sorts the fills of fields that the record has before the others.  An array that the record lacks takes its
 * length from an array with the same counter. */
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

static int match_fills(struct asf__plan *plan, uint32_t routine) {
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

/* --- routines: the ops and fills of a struct or an element ------------------------------------- */

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
        rc = match_ops(plan, own);
    return rc < 0 ? rc : match_fills(plan, own);
}

/* Completes the routine for an array of strings, whose elements are one pointer each. */
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

static int routine_for(struct asf__plan *plan, const struct asf__field *wire, const struct asf__field *native,
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
    struct match m = {plan, &plan->routines[*number], 0, 0, 0};
    return native->kind == ASF_RECORD_STRING ? add_string(plan, *number, native)
                                             : leaf(&m, wire, native, (struct asf__op){.count = 1});
}

/* --- whether a record can be used without conversion, or swapped in place ---------------------- */

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

/* The pointers must have the same offsets, so that the record's parts remain valid after swapping.  Parts may
 * not contain pointers, because only the parts of the record's struct are checked for overlap. */
static bool can_swap_in_place(const struct asf__plan *plan) {
    const struct asf_record_layout *w = asf__root(plan->wire), *n = asf__root(plan->native);
    bool can = plan->how == ASF_RECORD_SWAPPED && plan->receipt.ignored == 0 && w->size == n->size &&
               w->slots_count == n->slots_count;
    for (uint32_t i = 0; can && i < n->slots_count; i++)
        can = w->slots[i].at == n->slots[i].at;
    for (uint32_t i = 1; can && i < plan->count; i++)
        can = plan->routines[i].fills_count == 0;
    return can;
}

/* --- the plan ---------------------------------------------------------------------------------- */

static int translate(struct asf__plan *plan) {
    int rc = 0;
    plan->in_place = can_swap_in_place(plan);
    for (uint32_t i = 0; rc == 0 && i < plan->count; i++) {
        plan->routines[i].in_place = plan->in_place;
        rc = asf__translate(&plan->routines[i]);
    }
    return rc;
}

/* Counts each op four times: the array of ops may be half empty, and the engine's code may be as large as the
 * array. */
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
    *made = NULL;
    int rc = asf__check_native(native);
    if (rc < 0)
        return rc;
    struct asf__plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return asf__record_no_memory("to match the formats");
    plan->wire = asf__record_keep(wire);
    plan->native = asf__record_keep(native);
    rc = routine_of_structs(plan, wire->count - 1u, native->count - 1u, &root);
    const struct asf_record_layout *s = asf__root(native);
    if (rc == 0 && plan->receipt.missing >= s->fields_count)
        rc = asf__record_fail(-EPROTOTYPE, "'%.64s' and '%.64s' have no field in common",
                              asf__root(wire)->name, s->name);
    if (rc == 0) {
        bool same =
            wire->slot == native->slot && same_struct(plan, wire->count - 1u, native->count - 1u, true);
        plan->how = !same ? ASF_RECORD_CONVERTED : wire->swapped ? ASF_RECORD_SWAPPED : ASF_RECORD_IN_PLACE;
        rc = translate(plan);
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
        asf__code_free(plan->routines[i].code);
        free(plan->routines[i].ops);
        free(plan->routines[i].fills);
    }
    asf_record_format_free(plan->wire);
    asf_record_format_free(plan->native);
    free(plan->routines);
    free(plan->absent);
    free(plan);
}
