/* SPDX-License-Identifier: MIT
 *
 * record_match.c - two formats matched by the names of their fields: the moves
 * that make the native struct of the wire's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_plan.h"

/* Padding up to this is copied along with what is around it. */
enum { PADDING = 16 };

struct match {
    struct asf__plan *plan;
    struct asf__routine *r;
    uint32_t since; /* the first move of the loop that is being made */
    uint32_t done;  /* bytes of the native struct that have their moves */
    int level;      /* of loops */
};

static bool swaps(const struct asf__plan *plan) {
    return plan->wire->swapped; /* the native format is of this machine */
}

static int contradict(const struct asf__field *field, const char *what) {
    return asf__record_fail(-EPROTOTYPE, "field '%.64s' %s", field->name, what);
}

/* --- the list of moves ------------------------------------------------------------------ */

static int append(struct match *m, struct asf__move move) {
    struct asf__routine *r = m->r;
    if (++m->plan->moves > MOVES_MOST)
        return asf__record_fail(-E2BIG, "field '%.64s': the formats take more than %d moves",
                                move.field ? move.field->name : "", MOVES_MOST);
    if ((r->moves_count & (r->moves_count + 1)) == 0) {
        struct asf__move *more = reallocarray(r->moves, 2 * (size_t)r->moves_count + 1, sizeof *more);
        if (!more)
            return asf__record_no_memory("to match the formats");
        r->moves = more;
    }
    r->moves[r->moves_count++] = move;
    return 0;
}

static uint32_t bytes_of(const struct asf__move *move) {
    return move->op == MOVE_LOOP ? move->count * move->dstep : move->count * move->to;
}

/* Bytes that follow those of the last move, or are behind a little padding. */
static bool joins(const struct match *m, const struct asf__move *move) {
    if (move->op != MOVE_COPY || m->r->moves_count == m->since)
        return false;
    const struct asf__move *last = &m->r->moves[m->r->moves_count - 1];
    if (last->op != MOVE_COPY || last->dst + last->count != m->done || move->src < last->src + last->count)
        return false;
    uint32_t gap = move->dst - m->done;
    return gap <= PADDING && move->src - (last->src + last->count) == gap;
}

/* The next move in the order of the native struct; what it leaves out is zero. */
static int add(struct match *m, struct asf__move move) {
    uint32_t bytes = bytes_of(&move);
    int rc = 0;
    if (move.op == MOVE_COPY) {
        move.count = bytes;
        move.from = move.to = 1;
    }
    if (joins(m, &move)) {
        m->r->moves[m->r->moves_count - 1].count += move.dst - m->done + bytes;
    } else {
        if (move.dst > m->done)
            rc = append(
                m, (struct asf__move){.op = MOVE_ZERO, .to = 1, .dst = m->done, .count = move.dst - m->done});
        if (rc == 0)
            rc = append(m, move);
    }
    m->done = move.dst + bytes;
    return rc;
}

static int fill_up(struct match *m, uint32_t to) {
    return to <= m->done
               ? 0
               : add(m, (struct asf__move){.op = MOVE_ZERO, .to = 1, .dst = m->done, .count = to - m->done});
}

/* --- single fields --------------------------------------------------------------------------- */

static bool is_integer(const struct asf__field *field) {
    return field->kind == ASF_RECORD_INT || field->kind == ASF_RECORD_UINT || field->kind == ASF_RECORD_ENUM;
}

static bool is_signed(const struct asf__field *field) {
    return field->kind == ASF_RECORD_INT || field->kind == ASF_RECORD_ENUM;
}

static enum asf__op same_size(bool swap, unsigned size) {
    return swap && size > 1 ? MOVE_SWAP : MOVE_COPY;
}

static enum asf__op integer_op(bool swap, const struct asf__field *wire, const struct asf__field *native) {
    if (wire->size == native->size)
        return is_signed(wire) == is_signed(native) ? same_size(swap, wire->size) : MOVE_NARROW;
    if (wire->size > native->size || (is_signed(wire) && !is_signed(native)))
        return MOVE_NARROW;
    return is_signed(wire) ? MOVE_SIGNED : MOVE_EXTEND;
}

/* What makes one kind of the other; -EPROTOTYPE. */
static int op_for(bool swap, const struct asf__field *wire, const struct asf__field *native) {
    bool wire_float = wire->kind == ASF_RECORD_FLOAT, native_float = native->kind == ASF_RECORD_FLOAT;
    if (is_integer(wire) && is_integer(native))
        return (int)integer_op(swap, wire, native);
    if (wire_float && native_float)
        return wire->size == native->size ? (int)same_size(swap, wire->size) : MOVE_FLOAT;
    if (wire->kind == native->kind)
        return wire->size == native->size  ? (int)same_size(swap, wire->size)
               : wire->size < native->size ? MOVE_EXTEND
                                           : MOVE_NARROW;
    if (!(native->wishes & ASF_RECORD_ANY_NUMBER) ||
        !(wire_float ? is_integer(native) : native_float && is_integer(wire)))
        return contradict(native, "is of another kind in the record");
    return native_float ? MOVE_FROM_INT : MOVE_TO_INT;
}

static int leaf(struct match *m, const struct asf__field *wire, const struct asf__field *native,
                struct asf__move move) {
    int op = op_for(swaps(m->plan), wire, native);
    if (op < 0)
        return op;
    move.op = (uint8_t)op;
    move.swap = swaps(m->plan);
    move.from = wire->size;
    move.to = native->size;
    move.from_signed = is_signed(wire);
    move.to_signed = is_signed(native);
    move.field = native;
    return add(m, move);
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
        return false; /* a slot: filled later */
    const struct asf_record_layout *s = native->sub == NONE ? NULL : &plan->native->structs[native->sub];
    bool has = native->fallback != NULL;
    for (uint32_t i = 0; !has && s && i < s->fields_count; i++)
        has = has_fallback(plan, &s->fields[i]);
    return has;
}

/* Elements that the record does not have; slots are filled later. */
static int zeros(struct match *m, const struct asf__field *native, uint32_t dst, uint32_t count) {
    if (count == 0 || native->kind == ASF_RECORD_STRING || native->shape == ASF_RECORD_DYNAMIC)
        return 0;
    return add(m, (struct asf__move){.op = MOVE_ZERO, .to = 1, .dst = dst, .count = count * native->stride});
}

static int absent_structs(struct match *m, const struct asf__field *native, uint32_t dst, uint32_t count);

/* The fallback of a field, or those of its fields; the rest is zero. */
static int absent(struct match *m, const struct asf__field *native, uint32_t dst) {
    if (!has_fallback(m->plan, native))
        return zeros(m, native, dst, native->count);
    if (!native->fallback)
        return absent_structs(m, native, dst, native->count);
    return add(m, (struct asf__move){.op = MOVE_FIXED,
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

/* An array of structs; a loop whose body is one copy is a copy. */
static int match_structs(struct match *m, const struct asf__field *wire, const struct asf__field *native,
                         uint32_t src, uint32_t dst, uint32_t count) {
    struct match inner = {m->plan, m->r, 0, 0, m->level + 1};
    int rc = fill_up(m, dst);
    uint32_t at = m->r->moves_count;
    struct asf__move loop = {.op = MOVE_LOOP,
                             .src = src,
                             .dst = dst,
                             .count = count,
                             .sstep = wire->stride,
                             .dstep = native->stride,
                             .field = native};
    if (rc == 0)
        rc = append(m, loop);
    inner.since = at + 1;
    if (rc == 0)
        rc = match_struct(&inner, &m->plan->wire->structs[wire->sub], &m->plan->native->structs[native->sub],
                          0, 0);
    if (rc == 0)
        rc = fill_up(&inner, native->stride);
    if (rc < 0)
        return rc;
    struct asf__move *moves = m->r->moves;
    moves[at].body = m->r->moves_count - at - 1;
    if (moves[at].body == 1 && moves[at + 1].op == MOVE_COPY && moves[at + 1].src == 0 &&
        moves[at + 1].count == wire->stride && wire->stride == native->stride) {
        m->r->moves_count = at;
        return add(
            m,
            (struct asf__move){
                .op = MOVE_COPY, .from = 1, .to = 1, .src = src, .dst = dst, .count = count * wire->stride});
    }
    m->done = dst + count * native->stride;
    return 0;
}

/* Structs that the record does not have. */
static int absent_structs(struct match *m, const struct asf__field *native, uint32_t dst, uint32_t count) {
    const struct asf_record_layout *s = &m->plan->native->structs[native->sub];
    struct asf__move loop = {
        .op = MOVE_LOOP, .dst = dst, .count = count, .dstep = native->stride, .field = native};
    if (count == 0 || !has_fallback(m->plan, native))
        return zeros(m, native, dst, count);
    const struct asf__field **sorted = asf__in_order(s);
    int rc = sorted ? fill_up(m, dst) : asf__record_no_memory("to match the formats");
    uint32_t at = m->r->moves_count;
    struct match inner = {m->plan, m->r, at + 1, 0, m->level + 1};
    if (rc == 0)
        rc = append(m, loop);
    for (uint32_t i = 0; rc == 0 && i < s->fields_count; i++)
        if (!sorted[i]->counts)
            rc = absent(&inner, sorted[i], sorted[i]->offset);
    free(sorted);
    if (rc == 0)
        rc = fill_up(&inner, native->stride);
    if (rc < 0)
        return rc;
    m->r->moves[at].body = m->r->moves_count - at - 1;
    m->done = dst + count * native->stride;
    return 0;
}

static int match_field(struct match *m, const struct asf__field *wire, const struct asf__field *native,
                       uint32_t src, uint32_t dst) {
    bool wire_struct = wire->kind == ASF_RECORD_STRUCT, native_struct = native->kind == ASF_RECORD_STRUCT;
    uint32_t count = wire->count < native->count ? wire->count : native->count;
    if ((wire->shape == ASF_RECORD_DYNAMIC) != (native->shape == ASF_RECORD_DYNAMIC))
        return contradict(native, "is a dynamic array on one side alone");
    if (wire_struct != native_struct ||
        (wire->kind == ASF_RECORD_STRING) != (native->kind == ASF_RECORD_STRING))
        return contradict(native, "is of another kind in the record");
    if (m->level == 0 && wire->count > native->count)
        m->plan->receipt.cut++;
    if (native->shape == ASF_RECORD_DYNAMIC || native->kind == ASF_RECORD_STRING)
        return 0; /* slots are filled later */
    if (native_struct && native->count == 1 && wire->count == 1)
        return match_struct(m, &m->plan->wire->structs[wire->sub], &m->plan->native->structs[native->sub],
                            src, dst);
    if (native_struct) {
        int rc = match_structs(m, wire, native, src, dst, count);
        return rc < 0 ? rc : absent_structs(m, native, dst + count * native->stride, native->count - count);
    }
    int rc = leaf(m, wire, native, (struct asf__move){.src = src, .dst = dst, .count = count});
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
            continue; /* set when its array is */
        rc = source ? match_field(m, source, field, src + source->offset, dst + field->offset)
                    : missing(m, field, dst + field->offset);
    }
    free(sorted);
    m->plan->receipt.ignored += wire->fields_count - found;
    return rc;
}

int asf__match_moves(struct asf__plan *plan, uint32_t routine) {
    struct asf__routine *r = &plan->routines[routine];
    struct match m = {plan, r, 0, 0, 0};
    int rc = match_struct(&m, &plan->wire->structs[r->wire], &plan->native->structs[r->native], 0, 0);
    return rc < 0 ? rc : fill_up(&m, r->to);
}

int asf__match_leaf(struct asf__plan *plan, uint32_t routine, const struct asf__field *wire,
                    const struct asf__field *native) {
    struct match m = {plan, &plan->routines[routine], 0, 0, 0};
    return leaf(&m, wire, native, (struct asf__move){.count = 1});
}
