/* SPDX-License-Identifier: MIT
 *
 * record_declare.c - declares the format of a struct of this program: writes its description and parses it,
 * so that only record_parse.c checks formats.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_format.h"

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

/* --- writing the description --------------------------------------------------------- */

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

static void put_head(struct out *out, const struct types *t, size_t length) {
    put(out, length, 4);
    put(out, 1, 1);
    put(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 1);
    put(out, sizeof(void *), 1);
    put(out, 0, 1);
    put(out, t->count, 2);
    put(out, t->fields, 2);
    put(out, t->names, 4);
}

static int describe(struct out *out, const struct types *t, size_t length) {
    unsigned first = 0;
    int rc = 0;
    put_head(out, t, length);
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

/* Sets the members of fields that a description does not contain. */
static void keep_wishes(struct asf_record_format *f, const struct types *t) {
    for (unsigned i = 0; i < t->count; i++)
        for (size_t j = 0; j < t->all[i]->count; j++) {
            f->structs[i].fields[j].wishes = (uint8_t)t->all[i]->fields[j].wishes;
            f->structs[i].fields[j].fallback = t->all[i]->fields[j].fallback;
        }
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
    if (rc == 0)
        keep_wishes(*format, &t);
    free(description);
    return rc == -EBADMSG ? -EINVAL : rc;
}
