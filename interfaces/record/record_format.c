/* SPDX-License-Identifier: MIT
 *
 * record_format.c - formats in memory: their references and fields, the public calls that inspect them, the
 * options that limit them, and the text of the thread's last failure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_format.h"

/* --- the last failure -------------------------------------------------------------------------- */

static __thread char why[256];

int asf__record_fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return code;
}

int asf__record_no_memory(const char *what) {
    return asf__record_fail(-ENOMEM, "there is no memory %s", what);
}

const char *asf_record_why(void) {
    return why[0] ? why : "nothing has failed";
}

/* --- limits ------------------------------------------------------------------------------------ */

static size_t limit(size_t given, size_t standard) {
    return given ? given : standard;
}

int asf__record_options(const struct asf_record_options *given, struct asf_record_options *options) {
    if (given && given->size != sizeof *given)
        return asf__record_fail(-EINVAL, "the options have the size of another version of the library");
    *options = given ? *given : (struct asf_record_options){0};
    options->most_bytes = limit(options->most_bytes, (size_t)256 << 20);
    options->most_expanded = limit(options->most_expanded, (size_t)1 << 30);
    options->most_formats = limit(options->most_formats, 1024);
    options->most_plans = limit(options->most_plans, 256);
    options->most_memory = limit(options->most_memory, 64 << 20);
    return 0;
}

int asf__check_native(const struct asf_record_format *f) {
    if (!f->swapped && f->slot == sizeof(void *))
        return 0;
    return asf__record_fail(-EINVAL, "'%.64s' is not a format of this machine", asf__root(f)->name);
}

int asf__fits_stream(const struct asf_record_options *o, size_t count, size_t footprint,
                     const struct asf_record_format *f) {
    if (count >= o->most_formats)
        return asf__record_fail(-E2BIG, "the stream has more than %zu formats", o->most_formats);
    if (footprint > o->most_memory || f->footprint > o->most_memory - footprint)
        return asf__record_fail(-E2BIG, "the stream's formats take more than %zu bytes", o->most_memory);
    return 0;
}

/* --- references -------------------------------------------------------------------------------- */

struct asf_record_format *asf__record_keep(struct asf_record_format *f) {
    __atomic_add_fetch(&f->users, 1, __ATOMIC_RELAXED);
    return f;
}

/* Functions of ThreadSanitizer; NULL without it.  ThreadSanitizer does not see the atomics of a library that
 * was built without it. */
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

/* --- fields ------------------------------------------------------------------------------------ */

/* Key of a search for a field by name. */
struct wanted {
    const struct asf__field *fields;
    const char *name;
};

static int compare(const void *wanted, const void *number) {
    const struct wanted *w = wanted;
    return strcmp(w->name, w->fields[*(const uint16_t *)number].name);
}

const struct asf__field *asf__field_named(const struct asf_record_layout *s, const char *name) {
    const struct wanted wanted = {s->fields, name};
    const uint16_t *at = bsearch(&wanted, s->by_name, s->fields_count, sizeof *at, compare);
    return at ? &s->fields[*at] : NULL;
}

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

/* --- layouts ----------------------------------------------------------------------------------- */

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

int asf_record_layout_field(const struct asf_record_layout *s, size_t i, struct asf_record_member *member) {
    if (i >= s->fields_count)
        return asf__record_fail(-ENOENT, "'%.64s' has no field %zu", s->name, i);
    const struct asf__field *field = &s->fields[i];
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
    return 0;
}

int asf_record_layout_find(const struct asf_record_layout *s, const char *name,
                           struct asf_record_member *member) {
    const struct asf__field *field = asf__field_named(s, name);
    if (!field)
        return asf__record_fail(-ENOENT, "'%.64s' has no field '%.64s'", s->name, name);
    return asf_record_layout_field(s, (size_t)(field - s->fields), member);
}
