/* SPDX-License-Identifier: MIT
 *
 * record_parse.c - parses a description to a format.  It accepts only descriptions that the library itself
 * could have written, byte for byte.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_format.h"

/* The next byte to read, and the names. */
struct parse {
    const unsigned char *p;
    const char *names;
    uint32_t names_length, names_used;
};

static uint32_t get(struct parse *in, unsigned size) {
    uint32_t value = (uint32_t)asf__load(in->p, size, ASF__FOREIGN);
    in->p += size;
    return value;
}

static int broken(const struct asf__field *field, const char *what) {
    return asf__record_fail(-EBADMSG, "the description's field '%.64s' %s", field->name, what);
}

/* --- names ------------------------------------------------------------------------ */

/* Reads a name's offset.  Names must be in order of use, without gaps. */
static const char *get_name(struct parse *in) {
    uint32_t at = get(in, 4);
    const char *name = in->names + at;
    if (at != in->names_used || at >= in->names_length || *name == '\0')
        return NULL;
    in->names_used += (uint32_t)strlen(name) + 1;
    return name;
}

/* Key of a search for a field by name. */
struct wanted {
    const struct asf__field *fields;
    const char *name;
};

static int compare(const void *wanted, const void *number) {
    const struct wanted *w = wanted;
    return strcmp(w->name, w->fields[*(const uint16_t *)number].name);
}

static int compare_fields(const void *a, const void *b, void *fields) {
    const struct asf__field *f = fields;
    return strcmp(f[*(const uint16_t *)a].name, f[*(const uint16_t *)b].name);
}

const struct asf__field *asf__field_named(const struct asf_record_layout *s, const char *name) {
    const struct wanted wanted = {s->fields, name};
    const uint16_t *at = bsearch(&wanted, s->by_name, s->fields_count, sizeof *at, compare);
    return at ? &s->fields[*at] : NULL;
}

static int sort_names(struct asf_record_layout *s) {
    s->by_name = malloc(s->fields_count * sizeof *s->by_name);
    if (!s->by_name)
        return asf__record_no_memory("for the format");
    for (uint32_t i = 0; i < s->fields_count; i++)
        s->by_name[i] = (uint16_t)i;
    qsort_r(s->by_name, s->fields_count, sizeof *s->by_name, compare_fields, s->fields);
    for (uint32_t i = 1; i < s->fields_count; i++)
        if (!compare_fields(&s->by_name[i - 1], &s->by_name[i], s->fields))
            return broken(&s->fields[s->by_name[i]], "occurs twice");
    return 0;
}

/* --- one field ----------------------------------------------------------------------- */

static bool is_size(unsigned size) {
    return size == 1 || size == 2 || size == 4 || size == 8;
}

static const char *wrong_kind(const struct asf_record_format *f, const struct asf__field *field) {
    switch (field->kind) {
    case ASF_RECORD_INT:
    case ASF_RECORD_UINT:
    case ASF_RECORD_BOOL:
    case ASF_RECORD_ENUM:
        return is_size(field->size) ? NULL : "has an invalid size for a number";
    case ASF_RECORD_FLOAT:
        return field->size == 4 || field->size == 8 ? NULL : "has an invalid size for a float";
    case ASF_RECORD_CHAR:
        return field->size == 1 ? NULL : "has characters of more than a byte";
    case ASF_RECORD_STRING:
        return field->size == f->slot ? NULL : "is a pointer of another size than the format's";
    case ASF_RECORD_STRUCT:
        return field->size == 0 ? NULL : "is a struct with a size of its own";
    default:
        return "is of an unknown kind";
    }
}

static const char *wrong_shape(const struct asf__field *field) {
    bool dynamic = field->shape == ASF_RECORD_DYNAMIC;
    if (field->shape > ASF_RECORD_DYNAMIC)
        return "is of an unknown shape";
    if (dynamic != (field->counter != NONE))
        return dynamic ? "has no counter" : "has a counter but is not a dynamic array";
    if ((field->kind == ASF_RECORD_STRUCT) != (field->sub != NONE))
        return "has a struct although it is none, or lacks one";
    if (field->count == 0 || (field->shape != ASF_RECORD_ARRAY && field->count != 1))
        return "has a count that is invalid for its shape";
    return NULL;
}

/* Returns the bytes that a field occupies in its struct. */
static uint64_t extent(const struct asf_record_format *f, const struct asf__field *field) {
    return field->shape == ASF_RECORD_DYNAMIC ? f->slot : (uint64_t)field->stride * field->count;
}

static int parse_field(struct parse *in, struct asf_record_format *f, unsigned number,
                       struct asf__field *field) {
    field->name = get_name(in);
    if (!field->name)
        return asf__record_fail(-EBADMSG, "the description's names are not in order");
    field->offset = get(in, 4);
    field->count = get(in, 4);
    field->sub = (uint16_t)get(in, 2);
    field->counter = (uint16_t)get(in, 2);
    field->kind = (uint8_t)get(in, 1);
    field->size = (uint8_t)get(in, 1);
    field->shape = (uint8_t)get(in, 1);
    if (get(in, 1) != 0)
        return broken(field, "has an unused byte that is not 0");
    const char *wrong = wrong_kind(f, field);
    if (!wrong)
        wrong = wrong_shape(field);
    if (!wrong && field->sub != NONE && field->sub >= number)
        wrong = "contains a struct that does not come before its own";
    if (wrong)
        return broken(field, wrong);
    field->stride = field->sub == NONE ? field->size : f->structs[field->sub].size;
    return 0;
}

/* --- one struct ------------------------------------------------------------------------ */

static int by_offset(const void *a, const void *b) {
    const struct asf__field *const *x = a, *const *y = b;
    return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

const struct asf__field **asf__in_order(const struct asf_record_layout *s) {
    const struct asf__field **sorted = malloc(s->fields_count * sizeof(void *));
    bool ordered = true;
    for (uint32_t i = 0; sorted && i < s->fields_count; i++) {
        sorted[i] = &s->fields[i];
        ordered = ordered && (i == 0 || sorted[i]->offset > sorted[i - 1]->offset);
    }
    if (sorted && !ordered)
        qsort(sorted, s->fields_count, sizeof(void *), by_offset);
    return sorted;
}

static int check_overlaps(const struct asf_record_format *f, const struct asf_record_layout *s) {
    const struct asf__field **sorted = asf__in_order(s);
    int rc = sorted ? 0 : asf__record_no_memory("for the format");
    for (uint32_t i = 0; rc == 0 && i < s->fields_count; i++) {
        uint64_t end = sorted[i]->offset + extent(f, sorted[i]);
        if (end > s->size)
            rc = broken(sorted[i], "is not within its struct");
        else if (i + 1 < s->fields_count && end > sorted[i + 1]->offset)
            rc = broken(sorted[i + 1], "overlaps with another");
    }
    free(sorted);
    return rc;
}

static int check_counters(struct asf_record_layout *s) {
    for (uint32_t i = 0; i < s->fields_count; i++) {
        const struct asf__field *field = &s->fields[i];
        if (field->counter == NONE)
            continue;
        if (field->counter >= s->fields_count)
            return broken(field, "has a counter that does not exist");
        struct asf__field *counter = &s->fields[field->counter];
        if (counter->shape != ASF_RECORD_SINGLE ||
            (counter->kind != ASF_RECORD_INT && counter->kind != ASF_RECORD_UINT))
            return broken(field, "has a counter that is not an integer");
        counter->counts = true;
    }
    return 0;
}

static int measure_depth(struct asf_record_format *f, struct asf_record_layout *s) {
    s->depth = 1;
    for (uint32_t i = 0; i < s->fields_count; i++)
        if (s->fields[i].sub != NONE && f->structs[s->fields[i].sub].depth >= s->depth)
            s->depth = f->structs[s->fields[i].sub].depth + 1;
    return s->depth <= DEPTH_MOST
               ? 0
               : asf__record_fail(-E2BIG, "structs are nested deeper than %d levels", DEPTH_MOST);
}

static int parse_fields(struct parse *in, struct asf_record_format *f, unsigned number) {
    struct asf_record_layout *s = &f->structs[number];
    for (uint32_t i = 0; i < s->fields_count; i++) {
        int rc = parse_field(in, f, number, &s->fields[i]);
        if (rc < 0)
            return rc;
    }
    int rc = check_counters(s);
    if (rc == 0)
        rc = check_overlaps(f, s);
    if (rc == 0)
        rc = sort_names(s);
    return rc < 0 ? rc : measure_depth(f, s);
}

static int parse_struct(struct parse *in, struct asf_record_format *f, unsigned number, uint32_t *first,
                        uint32_t fields) {
    struct asf_record_layout *s = &f->structs[number];
    s->format = f;
    s->name = get_name(in);
    s->size = get(in, 4);
    uint32_t at = get(in, 2);
    s->fields_count = get(in, 2);
    s->alignment = get(in, 1);
    uint32_t zeros = get(in, 1) | get(in, 2);
    s->fields = f->fields + at;
    if (!s->name)
        return asf__record_fail(-EBADMSG, "the description's names are not in order");
    if (at != *first || s->fields_count == 0 || s->fields_count > fields - at || zeros)
        return asf__record_fail(-EBADMSG, "the description's struct '%.64s' is not in order", s->name);
    *first += s->fields_count;
    bool power = s->alignment > 0 && s->alignment <= 64 && (s->alignment & (s->alignment - 1)) == 0;
    if (s->size > SIZE_MOST)
        return asf__record_fail(-E2BIG, "the description's struct '%.64s' has more than 16 MiB", s->name);
    if (s->size == 0 || !power || s->size % s->alignment != 0)
        return asf__record_fail(-EBADMSG, "the description's struct '%.64s' has an invalid size", s->name);
    return 0;
}

/* --- the description ----------------------------------------------------------------------- */

static int parse_head(struct parse *in, struct asf_record_format *f, size_t length, uint32_t *fields) {
    uint32_t whole = get(in, 4), version = get(in, 1), order = get(in, 1);
    f->slot = (uint8_t)get(in, 1);
    uint32_t zero = get(in, 1);
    f->count = (uint16_t)get(in, 2);
    *fields = get(in, 2);
    in->names_length = get(in, 4);
    if (version != 1 || order > 1 || (f->slot != 4 && f->slot != 8) || zero)
        return asf__record_fail(-EBADMSG, "the description is of an unknown version");
    if (f->count > STRUCTS_MOST || *fields > FIELDS_MOST)
        return asf__record_fail(-E2BIG, "the description has more than %d structs or %d fields", STRUCTS_MOST,
                                FIELDS_MOST);
    uint64_t sum =
        HEADER + (uint64_t)f->count * STRUCT_ENTRY + (uint64_t)*fields * FIELD_ENTRY + in->names_length;
    if (whole != length || sum != length || f->count == 0 || *fields == 0 || in->names_length == 0)
        return asf__record_fail(-EBADMSG, "the description's length differs from the sum of its parts");
    f->big = order != 0;
    f->swapped = f->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    in->names = (const char *)f->description + length - in->names_length;
    if (in->names[in->names_length - 1] != '\0')
        return asf__record_fail(-EBADMSG, "the description's names are not null-terminated");
    return 0;
}

/* Each struct but the last must be used: otherwise equal formats could have different descriptions and
 * hashes. */
static int check_use(const struct asf_record_format *f) {
    bool used[STRUCTS_MOST] = {false};
    used[f->count - 1] = true;
    for (unsigned i = 0; i < f->count; i++)
        for (uint32_t j = 0; j < f->structs[i].fields_count; j++)
            if (f->structs[i].fields[j].sub != NONE)
                used[f->structs[i].fields[j].sub] = true;
    for (unsigned i = 0; i < f->count; i++)
        if (!used[i])
            return asf__record_fail(-EBADMSG, "the description's struct '%.64s' is not used",
                                    f->structs[i].name);
    return 0;
}

static int parse_all(struct parse *in, struct asf_record_format *f, size_t length) {
    uint32_t fields = 0, first = 0;
    int rc = parse_head(in, f, length, &fields);
    if (rc < 0)
        return rc;
    f->structs = calloc(f->count, sizeof *f->structs);
    f->fields = calloc(fields, sizeof *f->fields);
    if (!f->structs || !f->fields)
        return asf__record_no_memory("for the format");
    for (unsigned i = 0; rc == 0 && i < f->count; i++)
        rc = parse_struct(in, f, i, &first, fields);
    if (rc == 0 && first != fields)
        rc = asf__record_fail(-EBADMSG, "the description has fields without a struct");
    for (unsigned i = 0; rc == 0 && i < f->count; i++)
        rc = parse_fields(in, f, i);
    if (rc == 0 && in->names_used != in->names_length)
        rc = asf__record_fail(-EBADMSG, "the description has unused names");
    if (rc == 0)
        rc = check_use(f);
    return rc < 0 ? rc : asf__list_slots(f);
}

/* Slots and flags count twice, since at most half of their arrays' memory is unused. */
static size_t memory_of(const struct asf_record_format *f) {
    size_t bytes = sizeof *f + f->length + f->count * sizeof *f->structs;
    for (unsigned i = 0; i < f->count; i++) {
        const struct asf_record_layout *s = &f->structs[i];
        bytes += s->fields_count * (sizeof *s->fields + sizeof *s->by_name);
        bytes += 2 * (s->slots_count * sizeof *s->slots + s->flags_count * sizeof *s->flags);
    }
    return bytes;
}

int asf_record_parse(const void *description, size_t length, struct asf_record_format **format) {
    *format = NULL;
    if (length < HEADER)
        return asf__record_fail(-EBADMSG, "the description is shorter than its header");
    if (length > DESCRIPTION_MOST)
        return asf__record_fail(-E2BIG, "the description has more than %d bytes", DESCRIPTION_MOST);
    struct asf_record_format *f = calloc(1, sizeof *f);
    unsigned char *copy = f ? malloc(length + 1) : NULL;
    if (!copy) {
        free(f);
        return asf__record_no_memory("for the format");
    }
    f->users = 1;
    f->description = memcpy(copy, description, length);
    f->length = (uint32_t)length;
    struct parse in = {.p = copy};
    int rc = parse_all(&in, f, length);
    if (rc < 0) {
        asf_record_format_free(f);
        return rc;
    }
    f->footprint = memory_of(f);
    asf__hash(copy, length, f->hash);
    *format = f;
    return 0;
}

int asf__fits_stream(const struct asf_record_options *o, size_t count, size_t footprint,
                     const struct asf_record_format *f) {
    if (count >= o->most_formats)
        return asf__record_fail(-E2BIG, "the stream has more than %zu formats", o->most_formats);
    if (footprint > o->most_memory || f->footprint > o->most_memory - footprint)
        return asf__record_fail(-E2BIG, "the stream's formats take more than %zu bytes", o->most_memory);
    return 0;
}

struct asf_record_format *asf__record_keep(struct asf_record_format *f) {
    __atomic_add_fetch(&f->users, 1, __ATOMIC_RELAXED);
    return f;
}

/* Functions of ThreadSanitizer; NULL without it.  It does not see the atomics of a library that was built
 * without it. */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static bool was_last_user(struct asf_record_format *f) {
    if (__tsan_release)
        __tsan_release(f);
    if (__atomic_sub_fetch(&f->users, 1, __ATOMIC_ACQ_REL) > 0)
        return false;
    if (__tsan_acquire)
        __tsan_acquire(f);
    return true;
}

void asf_record_format_free(struct asf_record_format *f) {
    if (!f || !was_last_user(f))
        return;
    for (unsigned i = 0; f->structs && i < f->count; i++) {
        free(f->structs[i].by_name);
        free(f->structs[i].slots);
        free(f->structs[i].flags);
    }
    free(f->structs);
    free(f->fields);
    free(f->description);
    free(f);
}

const void *asf_record_describe(const struct asf_record_format *f, size_t *length) {
    *length = f->length;
    return f->description;
}

const unsigned char *asf_record_hash(const struct asf_record_format *f) {
    return f->hash;
}
