/* SPDX-License-Identifier: MIT
 *
 * record_view.c - a record as a struct of the program: used in place, or converted into the reader's memory
 * or the caller's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "interfaces/record/record_reader.h"

/* Largest alignment of a struct; memory for converted records is aligned to it. */
enum { WIDEST = 64 };

/* --- plans ------------------------------------------------------------------------------- */

void asf__drop_plan(struct asf_record_reader *r) {
    size_t most = r->options.most_plans;
    struct asf__plan *oldest = r->plans[(r->next_plan + most - r->plans_count) % most];
    r->plans_memory -= oldest->footprint;
    r->plans_count--;
    asf__plan_free(oldest);
}

static int keep_plan(struct asf_record_reader *r, struct asf__plan *plan) {
    if (!r->plans)
        r->plans = calloc(r->options.most_plans, sizeof(void *));
    if (!r->plans) {
        asf__plan_free(plan);
        return asf__record_no_memory("for one more conversion");
    }
    while (r->plans_count > 0 && (r->plans_count == r->options.most_plans ||
                                  r->plans_memory + plan->footprint > r->options.most_memory))
        asf__drop_plan(r);
    r->plans_count++;
    r->plans_memory += plan->footprint;
    r->plans[r->next_plan] = r->last = plan;
    r->next_plan = (r->next_plan + 1) % r->options.most_plans;
    return 0;
}

SELDOM static int find_plan(struct asf_record_reader *r, struct asf_record_format *wire,
                            struct asf_record_format *native, struct asf__plan **plan) {
    size_t most = r->options.most_plans;
    for (size_t i = 1; i <= r->plans_count; i++) {
        struct asf__plan *one = r->plans[(r->next_plan + most - i) % most];
        if (one->wire == wire && one->native == native) {
            *plan = r->last = one;
            return 0;
        }
    }
    int rc = asf__plan_make(wire, native, plan);
    return rc < 0 ? rc : keep_plan(r, *plan);
}

/* Returns the plan for two formats, from the reader's list or a new one. */
static inline int plan_for(struct asf_record_reader *r, struct asf_record_format *wire,
                           struct asf_record_format *native, struct asf__plan **plan) {
    *plan = r->last;
    if (*plan && (*plan)->wire == wire && (*plan)->native == native)
        return 0;
    return find_plan(r, wire, native, plan);
}

int asf_record_match(struct asf_record_reader *r, struct asf_record_format *wire,
                     struct asf_record_format *native, struct asf_record_receipt *receipt) {
    struct asf__plan *plan;
    int rc = plan_for(r, wire, native, &plan);
    if (rc < 0)
        return rc;
    if (receipt)
        *receipt = plan->receipt;
    return plan->how;
}

/* --- views ---------------------------------------------------------------------------------- */

static bool is_aligned(const struct asf_record *record, const struct asf_record_format *native) {
    return ((uintptr_t)record->data & (asf__root(native)->alignment - 1)) == 0;
}

static int make_room(struct asf_record_reader *r, size_t bytes) {
    if (bytes <= r->converted_room)
        return 0;
    size_t room = (bytes + bytes / 2 + WIDEST) / WIDEST * WIDEST;
    free(r->converted);
    r->converted = aligned_alloc(WIDEST, room);
    r->converted_room = r->converted ? room : 0;
    return r->converted ? 0 : asf__record_no_memory("to convert the record");
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Converts into the reader's buffer.  -E2BIG: the buffer is too small. */
static inline int convert_into_room(const struct asf_record *record, const struct asf__plan *plan) {
    const struct asf_record_reader *r = record->reader;
    return asf__plan_convert(
        plan, record->data, record->length, &record->parts,
        &(struct asf__target){.root = r->converted,
                              .block = r->converted,
                              .from = plan->routines->to,
                              .room = least(r->converted_room, r->options.most_expanded)});
}

SELDOM static int convert_into_more(const struct asf_record *record, const struct asf__plan *plan) {
    struct asf_record_reader *r = record->reader;
    size_t end = 0;
    int rc =
        asf__plan_size(plan, &record->parts, asf__root(plan->native)->size, r->options.most_expanded, &end);
    if (rc == 0)
        rc = make_room(r, end);
    return rc < 0 ? rc : convert_into_room(record, plan);
}

/* A record is mostly no longer than earlier ones.  So the size is measured only after the buffer proved too
 * small. */
static inline int convert(struct asf_record *record, const struct asf__plan *plan, const void **data) {
    int rc = convert_into_room(record, plan);
    if (rc == -E2BIG)
        rc = convert_into_more(record, plan);
    *data = rc < 0 ? NULL : record->reader->converted;
    return rc;
}

/* Swaps the record in place; from then on it has the native format. */
static bool swap_in_place(struct asf_record *record, const struct asf__plan *plan) {
    if (!asf__plan_swap_in_place(plan, (unsigned char *)(uintptr_t)record->data, record->length,
                                 &record->parts))
        return false;
    record->format = plan->native;
    return true;
}

int asf_record_view(struct asf_record *record, struct asf_record_format *native, const void **data) {
    struct asf__plan *plan;
    *data = NULL;
    int rc = plan_for(record->reader, record->format, native, &plan);
    if (rc < 0)
        return rc;
    int got = plan->how;
    if (got == ASF_RECORD_IN_PLACE && is_aligned(record, native)) {
        *data = record->data;
        return got;
    }
    if (record->handed_over && plan->in_place && is_aligned(record, native) && swap_in_place(record, plan)) {
        *data = record->data;
        return got;
    }
    rc = convert(record, plan, data);
    return rc < 0 ? rc : got == ASF_RECORD_IN_PLACE ? (int)ASF_RECORD_COPIED : got;
}

int asf_record_into(struct asf_record *record, struct asf_record_format *native, void *data, void **block) {
    struct asf__plan *plan;
    size_t end = 0;
    unsigned char *room = NULL;
    *block = NULL;
    int rc = plan_for(record->reader, record->format, native, &plan);
    if (rc == 0)
        rc = asf__plan_size(plan, &record->parts, 0, record->reader->options.most_expanded, &end);
    if (rc == 0 && end > 0) {
        room = aligned_alloc(WIDEST, (end + WIDEST - 1) / WIDEST * WIDEST);
        rc = room ? 0 : asf__record_no_memory("for the record's parts");
    }
    if (rc == 0)
        rc = asf__plan_convert(plan, record->data, record->length, &record->parts,
                               &(struct asf__target){data, room, 0, SIZE_MAX, true});
    if (rc < 0) {
        free(room);
        return rc;
    }
    *block = room;
    int got = plan->how;
    return got == ASF_RECORD_IN_PLACE ? (int)ASF_RECORD_COPIED : got;
}
