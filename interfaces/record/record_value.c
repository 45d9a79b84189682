/* SPDX-License-Identifier: MIT
 *
 * record_value.c - reads values of a record by name, in place, for programs that do not know its struct.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "interfaces/record/record_reader.h"

/* --- fields and elements ------------------------------------------------------------------- */

static void whole(const struct asf_record *record, struct asf_record_value *value) {
    const struct asf_record_layout *root = asf__root(record->format);
    *value = (struct asf_record_value){
        .member = {root->name, ASF_RECORD_STRUCT, ASF_RECORD_SINGLE, 0, root->size, 1, NULL, root},
        .count = 1,
        .record = record,
        .at = record->data,
    };
}

/* Makes the value of a dynamic array refer to its elements. */
static void follow(struct asf_record_value *value, size_t part) {
    const struct asf__part *to = &value->record->parts.all[part];
    value->at = to->at ? value->record->data + to->at : NULL;
    value->count = to->count;
    value->part = to->child;
}

static void field_of(const struct asf_record_value *from, const struct asf__field *field,
                     struct asf_record_value *value) {
    const struct asf_record_layout *s = from->member.layout;
    struct asf_record_value result = {.count = field->count, .record = from->record};
    asf__member(s, field, &result.member);
    result.at = from->at + field->offset;
    result.part = from->part + field->first_slot;
    if (field->shape == ASF_RECORD_DYNAMIC)
        follow(&result, result.part);
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

/* --- paths ---------------------------------------------------------------------------------- */

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
    int rc = 0;
    whole(record, value);
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

/* --- reading values ------------------------------------------------------------------------- */

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
