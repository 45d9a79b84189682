/* SPDX-License-Identifier: MIT
 *
 * record_description.c - parses the description of a format.  To declare a struct of this program, it writes
 * the struct's description and parses that.  It accepts only descriptions that it could have written, byte
 * for byte.
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

/* --- names ------------------------------------------------------------------------------------- */

/* Reads a name's offset.  Names must be in order of use, without gaps. */
static const char *get_name(struct parse *in) {
    uint32_t at = get(in, 4);
    const char *name = in->names + at;
    if (at != in->names_used || at >= in->names_length || *name == '\0')
        return NULL;
    in->names_used += (uint32_t)strlen(name) + 1;
    return name;
}

static int compare_fields(const void *a, const void *b, void *fields) {
    const struct asf__field *f = fields;
    return strcmp(f[*(const uint16_t *)a].name, f[*(const uint16_t *)b].name);
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

/* --- one field --------------------------------------------------------------------------------- */

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

/* --- one struct -------------------------------------------------------------------------------- */

static int check_overlaps(const struct asf_record_format *f, const struct asf_record_layout *s) {
    const struct asf__field **sorted = asf__in_order(s);
    int rc = sorted ? 0 : asf__record_no_memory("for the format");
    for (uint32_t i = 0; rc == 0 && i < s->fields_count; i++) {
        bool dynamic = sorted[i]->shape == ASF_RECORD_DYNAMIC;
        uint64_t bytes = dynamic ? f->slot : (uint64_t)sorted[i]->stride * sorted[i]->count;
        uint64_t end = sorted[i]->offset + bytes;
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

/* --- the description --------------------------------------------------------------------------- */

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

/* Counts slots and flags twice, because up to half of their arrays' memory is unused. */
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

/* --- declaring the struct types of this program ------------------------------------------------ */

/* The struct types of a format; each comes after the types that it contains. */
struct types {
    const struct asf_record_type *all[STRUCTS_MOST];
    unsigned count, fields;
    size_t names;
};

static unsigned index_of(const struct types *t, const struct asf_record_type *type) {
    unsigned i = 0;
    while (i < t->count && t->all[i] != type)
        i++;
    return i;
}

static bool has_text(const char *name) {
    return name && *name;
}

static int count_names(struct types *t, const struct asf_record_type *type) {
    if (!has_text(type->name))
        return asf__record_fail(-EINVAL, "a struct has no name");
    if (type->count == 0)
        return asf__record_fail(-EINVAL, "'%.64s' has no fields", type->name);
    t->names += strlen(type->name) + 1;
    for (size_t i = 0; i < type->count; i++) {
        const char *name = type->fields[i].name;
        if (!has_text(name))
            return asf__record_fail(-EINVAL, "field %zu of '%.64s' has no name", i, type->name);
        t->names += strlen(name) + 1;
        if (t->names > DESCRIPTION_MOST)
            return asf__record_fail(-E2BIG, "the names take more than %d bytes", DESCRIPTION_MOST);
    }
    return 0;
}

static int collect(struct types *t, const struct asf_record_type *type, int depth) {
    if (!type)
        return asf__record_fail(-EINVAL, "a field is a struct but has no type");
    if (index_of(t, type) < t->count)
        return 0;
    if (depth > DEPTH_MOST)
        return asf__record_fail(-E2BIG, "'%.64s' is nested deeper than %d levels", type->name, DEPTH_MOST);
    for (size_t i = 0; i < type->count && i <= FIELDS_MOST; i++) {
        int rc = type->fields[i].kind == ASF_RECORD_STRUCT ? collect(t, type->fields[i].type, depth + 1) : 0;
        if (rc < 0)
            return rc;
    }
    if (t->count == STRUCTS_MOST || type->count > FIELDS_MOST - t->fields)
        return asf__record_fail(-E2BIG, "there are more than %d structs or %d fields", STRUCTS_MOST,
                                FIELDS_MOST);
    t->all[t->count++] = type;
    t->fields += (unsigned)type->count;
    return count_names(t, type);
}

/* --- writing the description ------------------------------------------------------------------- */

struct out {
    unsigned char *p;
    char *names;
    uint32_t used;
};

static void put(struct out *out, uint64_t value, unsigned size) {
    asf__store(out->p, value, size, ASF__FOREIGN);
    out->p += size;
}

static void put_name(struct out *out, const char *name) {
    put(out, out->used, 4);
    strcpy(out->names + out->used, name);
    out->used += (uint32_t)strlen(name) + 1;
}

static int counter_of(const struct asf_record_type *type, const struct asf_record_field *field,
                      uint16_t *counter) {
    *counter = NONE;
    if (field->shape != ASF_RECORD_DYNAMIC)
        return 0;
    for (size_t i = 0; field->counter && i < type->count; i++)
        if (!strcmp(type->fields[i].name, field->counter))
            *counter = (uint16_t)i;
    return *counter != NONE
               ? 0
               : asf__record_fail(-EINVAL, "field '%.64s' has no counter '%.64s' in the same struct",
                                  field->name, field->counter ? field->counter : "");
}

static int put_field(struct out *out, const struct types *t, const struct asf_record_type *type,
                     const struct asf_record_field *field) {
    bool of_struct = field->kind == ASF_RECORD_STRUCT;
    uint16_t counter;
    int rc = counter_of(type, field, &counter);
    if (rc < 0)
        return rc;
    if (of_struct && field->size != field->type->size)
        return asf__record_fail(-EINVAL, "field '%.64s' differs in size from '%.64s'", field->name,
                                field->type->name);
    if (field->offset > SIZE_MOST || field->count > SIZE_MOST || (!of_struct && field->size > 8))
        return asf__record_fail(-EINVAL, "field '%.64s' has an invalid size, count or offset", field->name);
    put_name(out, field->name);
    put(out, field->offset, 4);
    put(out, field->count, 4);
    put(out, of_struct ? index_of(t, field->type) : NONE, 2);
    put(out, counter, 2);
    put(out, field->kind & 0xff, 1);
    put(out, of_struct ? 0 : field->size, 1);
    put(out, field->shape & 0xff, 1);
    put(out, 0, 1);
    return 0;
}

static int describe(struct out *out, const struct types *t, size_t length) {
    unsigned first = 0;
    int rc = 0;
    put(out, length, 4);
    put(out, 1, 1);
    put(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 1);
    put(out, sizeof(void *), 1);
    put(out, 0, 1);
    put(out, t->count, 2);
    put(out, t->fields, 2);
    put(out, t->names, 4);
    for (unsigned i = 0; i < t->count; i++) {
        const struct asf_record_type *type = t->all[i];
        if (type->size > SIZE_MOST)
            return asf__record_fail(-E2BIG, "'%.64s' has more than 16 MiB", type->name);
        if (type->alignment > 64)
            return asf__record_fail(-EINVAL, "'%.64s' is aligned to more than 64 bytes", type->name);
        put_name(out, type->name);
        put(out, type->size, 4);
        put(out, first, 2);
        put(out, type->count, 2);
        put(out, type->alignment, 1);
        put(out, 0, 1);
        put(out, 0, 2);
        first += (unsigned)type->count;
    }
    for (unsigned i = 0; i < t->count; i++)
        for (size_t j = 0; rc == 0 && j < t->all[i]->count; j++)
            rc = put_field(out, t, t->all[i], &t->all[i]->fields[j]);
    return rc;
}

int asf_record_declare(const struct asf_record_type *type, struct asf_record_format **format) {
    struct types t = {0};
    *format = NULL;
    int rc = collect(&t, type, 1);
    if (rc < 0)
        return rc;
    size_t length = HEADER + t.count * STRUCT_ENTRY + t.fields * FIELD_ENTRY + t.names;
    unsigned char *description = malloc(length);
    if (!description)
        return asf__record_no_memory("for the format");
    struct out out = {.p = description, .names = (char *)description + length - t.names};
    rc = describe(&out, &t, length);
    if (rc == 0)
        rc = asf_record_parse(description, length, format);
    free(description);
    for (unsigned i = 0; rc == 0 && i < t.count; i++)
        for (size_t j = 0; j < t.all[i]->count; j++) { /* a description lacks wishes and fallbacks */
            (*format)->structs[i].fields[j].wishes = (uint8_t)t.all[i]->fields[j].wishes;
            (*format)->structs[i].fields[j].fallback = t.all[i]->fields[j].fallback;
        }
    return rc == -EBADMSG ? -EINVAL : rc;
}
