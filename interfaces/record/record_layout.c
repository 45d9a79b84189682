/* SPDX-License-Identifier: MIT
 *
 * record_layout.c - the public calls that inspect a format.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "interfaces/record/record_format.h"

const struct asf_record_layout *asf_record_layout_of(const struct asf_record_format *f) {
    return asf__root(f);
}

const char *asf_record_layout_name(const struct asf_record_layout *s) {
    return s->name;
}

size_t asf_record_layout_size(const struct asf_record_layout *s) {
    return s->size;
}

int asf_record_layout_order(const struct asf_record_layout *s) {
    return s->format->big ? 4321 : 1234;
}

size_t asf_record_layout_fields(const struct asf_record_layout *s) {
    return s->fields_count;
}

void asf__member(const struct asf_record_layout *s, const struct asf__field *field,
                 struct asf_record_member *member) {
    *member = (struct asf_record_member){
        .name = field->name,
        .kind = (enum asf_record_kind)field->kind,
        .shape = (enum asf_record_shape)field->shape,
        .offset = field->offset,
        .size = field->stride,
        .count = field->count,
        .counter = field->counter == NONE ? NULL : s->fields[field->counter].name,
        .layout = field->sub == NONE ? NULL : &s->format->structs[field->sub],
    };
}

int asf_record_layout_field(const struct asf_record_layout *s, size_t i, struct asf_record_member *member) {
    if (i >= s->fields_count)
        return asf__record_fail(-ENOENT, "'%.64s' has no field %zu", s->name, i);
    asf__member(s, &s->fields[i], member);
    return 0;
}

int asf_record_layout_find(const struct asf_record_layout *s, const char *name,
                           struct asf_record_member *member) {
    const struct asf__field *field = asf__field_named(s, name);
    if (!field)
        return asf__record_fail(-ENOENT, "'%.64s' has no field '%.64s'", s->name, name);
    asf__member(s, field, member);
    return 0;
}
