/* SPDX-License-Identifier: MIT
 *
 * record_view.c - a record as the program sees it: as one of its structs, in place or converted into the
 * reader's memory or the caller's; or as values found by name, in place, without a struct.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_reader.h"

/* Largest alignment of a struct; memory for converted records is aligned to it. */
enum { WIDEST = 64 };

/* --- plans ------------------------------------------------------------------------------------- */

/* Frees the oldest plan.  `plans` is a circular buffer. */
static void drop_plan(struct asf_record_reader *r) {
    size_t most = r->options.most_plans;
    struct asf__plan *oldest = r->plans[(r->next_plan + most - r->plans_count) % most];
    r->plans_memory -= oldest->footprint;
    r->plans_count--;
    asf__plan_free(oldest);
}

void asf__free_plans(struct asf_record_reader *r) {
    while (r->plans_count > 0)
        drop_plan(r);
    free(r->plans);
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
        drop_plan(r);
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

/* --- views ------------------------------------------------------------------------------------- */

static bool is_aligned(const struct asf_record *record, const struct asf_record_format *native) {
    return ((uintptr_t)record->data & (asf__root(native)->alignment - 1)) == 0;
}

/* Converts into the reader's buffer.  -E2BIG: the buffer is too small. */
static inline int convert_into_room(const struct asf_record *record, const struct asf__plan *plan) {
    const struct asf_record_reader *r = record->reader;
    size_t most = r->options.most_expanded;
    return asf__plan_convert(
        plan, record->data, record->length, &record->parts,
        &(struct asf__target){.root = r->converted,
                              .block = r->converted,
                              .from = plan->routines->to,
                              .room = r->converted_room < most ? r->converted_room : most});
}

SELDOM static int convert_into_more(const struct asf_record *record, const struct asf__plan *plan) {
    struct asf_record_reader *r = record->reader;
    size_t end = 0;
    int rc =
        asf__plan_size(plan, &record->parts, asf__root(plan->native)->size, r->options.most_expanded, &end);
    if (rc < 0)
        return rc;
    if (end > r->converted_room) {
        size_t room = (end + end / 2 + WIDEST) / WIDEST * WIDEST;
        free(r->converted);
        r->converted = aligned_alloc(WIDEST, room);
        r->converted_room = r->converted ? room : 0;
    }
    return r->converted ? convert_into_room(record, plan) : asf__record_no_memory("to convert the record");
}

/* Most records fit into the buffer of earlier records, so the size is measured only if the buffer is too
 * small. */
static inline int convert(struct asf_record *record, const struct asf__plan *plan, const void **data) {
    int rc = convert_into_room(record, plan);
    if (rc == -E2BIG)
        rc = convert_into_more(record, plan);
    *data = rc < 0 ? NULL : record->reader->converted;
    return rc;
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
    if (record->handed_over && plan->in_place && is_aligned(record, native) &&
        asf__plan_swap_in_place(plan, (unsigned char *)(uintptr_t)record->data, record->length,
                                &record->parts)) {
        record->format = plan->native; /* the record now has the native format */
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

/* --- fields and elements ----------------------------------------------------------------------- */

static void field_of(const struct asf_record_value *from, const struct asf__field *field,
                     struct asf_record_value *value) {
    const struct asf_record_layout *s = from->member.layout;
    struct asf_record_value result = {.count = field->count, .record = from->record};
    asf_record_layout_field(s, (size_t)(field - s->fields), &result.member);
    result.at = from->at + field->offset;
    result.part = from->part + field->first_slot;
    if (field->shape == ASF_RECORD_DYNAMIC) { /* the value refers to the array's elements */
        const struct asf__part *part = &from->record->parts.all[result.part];
        result.at = part->at ? from->record->data + part->at : NULL;
        result.count = part->count;
        result.part = part->child;
    }
    *value = result;
}

static int no_struct(const struct asf_record_value *value) {
    return asf__record_fail(-EPROTOTYPE, "'%.64s' is not a single struct", value->member.name);
}

static bool is_struct(const struct asf_record_value *value) {
    return value->member.kind == ASF_RECORD_STRUCT && value->member.shape == ASF_RECORD_SINGLE;
}

int asf_record_value_field(const struct asf_record_value *value, size_t i, struct asf_record_value *field) {
    if (!is_struct(value))
        return no_struct(value);
    const struct asf_record_layout *s = value->member.layout;
    if (i >= s->fields_count)
        return asf__record_fail(-ENOENT, "'%.64s' has no field %zu", s->name, i);
    field_of(value, &s->fields[i], field);
    return 0;
}

int asf_record_value_item(const struct asf_record_value *array, size_t i, struct asf_record_value *item) {
    if (i >= array->count)
        return asf__record_fail(-ERANGE, "'%.64s' has %zu elements; element %zu does not exist",
                                array->member.name, array->count, i);
    struct asf_record_value result = *array;
    size_t slots = array->member.kind == ASF_RECORD_STRING ? 1
                   : array->member.layout                  ? array->member.layout->slots_count
                                                           : 0;
    result.at += i * array->member.size;
    result.part += i * slots;
    result.count = 1;
    result.member.shape = ASF_RECORD_SINGLE;
    result.member.counter = NULL;
    *item = result;
    return 0;
}

/* --- paths ------------------------------------------------------------------------------------- */

enum { PATH_NAME = 256 };

static int step_into(struct asf_record_value *value, const char **path) {
    char name[PATH_NAME];
    size_t n = strcspn(*path, ".[");
    if (!is_struct(value))
        return no_struct(value);
    if (n >= sizeof name)
        return asf__record_fail(-ENOENT, "a name of %zu characters", n);
    memcpy(name, *path, n);
    name[n] = '\0';
    *path += n;
    const struct asf__field *field = asf__field_named(value->member.layout, name);
    if (!field)
        return asf__record_fail(-ENOENT, "'%.64s' has no field '%.64s'", value->member.layout->name, name);
    field_of(value, field, value);
    return 0;
}

static int step_item(struct asf_record_value *value, const char **path) {
    size_t i = 0;
    const char *p = *path + 1, *digits = p + (*p == '-');
    bool countable = digits == p;
    for (p = digits; *p >= '0' && *p <= '9'; p++)
        countable = countable && !__builtin_mul_overflow(i, 10, &i) &&
                    !__builtin_add_overflow(i, (size_t)(*p - '0'), &i);
    bool number = p > digits && *p == ']';
    if (!number || !countable)
        return asf__record_fail(number ? -ERANGE : -ENOENT, "'%.64s' has no element '%.64s'",
                                value->member.name, *path);
    *path = p + 1;
    return asf_record_value_item(value, i, value);
}

int asf_record_find(const struct asf_record *record, const char *path, struct asf_record_value *value) {
    const struct asf_record_layout *root = asf__root(record->format);
    *value = (struct asf_record_value){
        .member = {root->name, ASF_RECORD_STRUCT, ASF_RECORD_SINGLE, 0, root->size, 1, NULL, root},
        .count = 1,
        .record = record,
        .at = record->data,
    };
    int rc = 0;
    for (bool first = true; rc == 0 && *path; first = false) {
        if (*path == '[') {
            rc = step_item(value, &path);
        } else if (first || *path == '.') {
            path += *path == '.';
            rc = step_into(value, &path);
        } else {
            rc = asf__record_fail(-ENOENT, "'%.64s' is followed by '%.64s'", value->member.name, path);
        }
    }
    return rc;
}

/* --- reading values ---------------------------------------------------------------------------- */

static bool swapped(const struct asf_record_value *value) {
    return value->record->format->swapped;
}

static int other_kind(const struct asf_record_value *value, const char *wanted) {
    return asf__record_fail(-EPROTOTYPE, "'%.64s' is not a single %s", value->member.name, wanted);
}

/* Reads a number as an integer of 64 bits; *negative is its sign. */
static int integer(const struct asf_record_value *value, uint64_t *bits, bool *negative) {
    *negative = false;
    if (value->member.shape != ASF_RECORD_SINGLE)
        return other_kind(value, "number");
    switch (value->member.kind) {
    case ASF_RECORD_INT:
    case ASF_RECORD_ENUM:
        *bits = (uint64_t)asf__load_signed(value->at, value->member.size, swapped(value));
        *negative = (int64_t)*bits < 0;
        return 0;
    case ASF_RECORD_UINT:
    case ASF_RECORD_BOOL:
    case ASF_RECORD_CHAR:
        *bits = asf__load(value->at, value->member.size, swapped(value));
        return 0;
    default:
        return other_kind(value, "integer");
    }
}

static int no_fit(const struct asf_record_value *value) {
    return asf__record_fail(-ERANGE, "'%.64s' has a value that does not fit", value->member.name);
}

int asf_record_as_int(const struct asf_record_value *value, int64_t *number) {
    uint64_t bits = 0;
    bool negative;
    int rc = integer(value, &bits, &negative);
    *number = (int64_t)bits;
    return rc == 0 && !negative && bits > INT64_MAX ? no_fit(value) : rc;
}

int asf_record_as_uint(const struct asf_record_value *value, uint64_t *number) {
    bool negative;
    *number = 0;
    int rc = integer(value, number, &negative);
    return rc == 0 && negative ? no_fit(value) : rc;
}

int asf_record_as_float(const struct asf_record_value *value, double *number) {
    uint64_t bits = 0;
    float narrow;
    bool negative;
    if (value->member.kind != ASF_RECORD_FLOAT || value->member.shape != ASF_RECORD_SINGLE) {
        int rc = integer(value, &bits, &negative);
        *number = negative ? (double)(int64_t)bits : (double)bits;
        return rc < 0 ? other_kind(value, "number") : 0;
    }
    bits = asf__load(value->at, value->member.size, swapped(value));
    uint32_t low = (uint32_t)bits;
    memcpy(number, &bits, sizeof *number);
    memcpy(&narrow, &low, sizeof narrow);
    if (value->member.size == sizeof narrow)
        *number = (double)narrow;
    return 0;
}

int asf_record_as_string(const struct asf_record_value *value, const char **text) {
    *text = NULL;
    if (value->member.kind != ASF_RECORD_STRING || value->member.shape != ASF_RECORD_SINGLE)
        return other_kind(value, "string");
    const struct asf__part *part = &value->record->parts.all[value->part];
    if (part->at)
        *text = (const char *)value->record->data + part->at;
    return 0;
}
