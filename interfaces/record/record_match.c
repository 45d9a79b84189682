/* SPDX-License-Identifier: MIT
 *
 * record_match.c - matches two formats by field names, and makes the ops that convert a struct of one to the
 * other.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_plan.h"

/* The most bytes of padding between two copied fields that are copied, too, to make one copy of both. */
enum { PADDING = 16 };

struct match {
    struct asf__plan *plan;
    struct asf__routine *r;
    uint32_t body_start; /* index of the first op of the current loop's body, or 0 */
    uint32_t done;       /* bytes of the native struct that the ops set so far */
    int level;           /* nesting depth of loops */
};

static bool swaps(const struct asf__plan *plan) {
    return plan->wire->swapped; /* the native format has this machine's byte order */
}

static int mismatch(const struct asf__field *field, const char *what) {
    return asf__record_fail(-EPROTOTYPE, "field '%.64s' %s", field->name, what);
}

/* --- the list of ops --------------------------------------------------------------------- */

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

static uint32_t bytes_of(const struct asf__op *op) {
    return op->code == OP_LOOP ? op->count * op->dstep : op->count * op->to;
}

/* Whether a copy can extend the last op: it follows that op, or both have the same short padding in between.
 */
static bool extends_last(const struct match *m, const struct asf__op *op) {
    if (op->code != OP_COPY || m->r->ops_count == m->body_start)
        return false;
    const struct asf__op *last = &m->r->ops[m->r->ops_count - 1];
    if (last->code != OP_COPY || last->dst + last->count != m->done || op->src < last->src + last->count)
        return false;
    uint32_t gap = op->dst - m->done;
    return gap <= PADDING && op->src - (last->src + last->count) == gap;
}

/* Appends the next op in order of native offsets.  Bytes that it skips become zeros. */
static int add(struct match *m, struct asf__op op) {
    uint32_t bytes = bytes_of(&op);
    int rc = 0;
    if (op.code == OP_COPY) {
        op.count = bytes;
        op.from = op.to = 1;
    }
    if (extends_last(m, &op)) {
        m->r->ops[m->r->ops_count - 1].count += op.dst - m->done + bytes;
    } else {
        if (op.dst > m->done)
            rc = append(
                m, (struct asf__op){.code = OP_ZERO, .to = 1, .dst = m->done, .count = op.dst - m->done});
        if (rc == 0)
            rc = append(m, op);
    }
    m->done = op.dst + bytes;
    return rc;
}

static int zero_up_to(struct match *m, uint32_t to) {
    return to <= m->done
               ? 0
               : add(m, (struct asf__op){.code = OP_ZERO, .to = 1, .dst = m->done, .count = to - m->done});
}

/* --- single fields --------------------------------------------------------------------------- */

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
    int opcode = opcode_for(swaps(m->plan), wire, native);
    if (opcode < 0)
        return opcode;
    op.code = (uint8_t)opcode;
    op.swap = swaps(m->plan);
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

/* Sets array elements that the record lacks to zero.  Fills set pointers. */
static int zeros(struct match *m, const struct asf__field *native, uint32_t dst, uint32_t count) {
    if (count == 0 || native->kind == ASF_RECORD_STRING || native->shape == ASF_RECORD_DYNAMIC)
        return 0;
    return add(m, (struct asf__op){.code = OP_ZERO, .to = 1, .dst = dst, .count = count * native->stride});
}

static int absent_structs(struct match *m, const struct asf__field *native, uint32_t dst, uint32_t count);

/* Sets a field that the record lacks: to its fallback; a struct's fields to theirs; anything else to zero. */
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

static int missing(struct match *m, const struct asf__field *native, uint32_t dst) {
    int rc = note_absent(m->plan, native);
    return rc < 0 ? rc : absent(m, native, dst);
}

/* --- structs ------------------------------------------------------------------------------------- */

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
                    : missing(m, field, dst + field->offset);
    }
    free(sorted);
    m->plan->receipt.ignored += wire->fields_count - found;
    return rc;
}

int asf__match_ops(struct asf__plan *plan, uint32_t routine) {
    struct asf__routine *r = &plan->routines[routine];
    struct match m = {plan, r, 0, 0, 0};
    int rc = match_struct(&m, &plan->wire->structs[r->wire], &plan->native->structs[r->native], 0, 0);
    return rc < 0 ? rc : zero_up_to(&m, r->to);
}

int asf__match_leaf(struct asf__plan *plan, uint32_t routine, const struct asf__field *wire,
                    const struct asf__field *native) {
    struct match m = {plan, &plan->routines[routine], 0, 0, 0};
    return leaf(&m, wire, native, (struct asf__op){.count = 1});
}
