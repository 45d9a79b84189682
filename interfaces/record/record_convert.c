/* SPDX-License-Identifier: MIT
 *
 * record_convert.c - converts a record by its plan: the engine converts the struct, then each pointer's part
 * is converted.  The same traversal first measures the result and then writes it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "interfaces/record/record_plan.h"

struct walk {
    size_t used;
    const struct asf__plan *plan;
    const struct asf__part *parts;
    const unsigned char *src;
    struct asf__bounds bounds;
    const struct asf__target *target; /* NULL: only measure */
    size_t most;
};

static int too_large(const struct asf__field *field) {
    return asf__record_fail(-E2BIG, "field '%.64s': the record would be too large when converted",
                            field->name);
}

/* Reserves memory for a part; *at is its offset in the block. */
static inline int reserve(struct walk *w, const struct asf__fill *fill, uint64_t bytes, size_t *at) {
    size_t align = fill->slot->alignment;
    *at = (w->used + align - 1) & -align;
    if (bytes > w->most || *at > w->most - bytes)
        return too_large(fill->field);
    w->used = *at + bytes;
    return 0;
}

static inline void set_slot(const struct walk *w, const struct asf__fill *fill, unsigned char *dst,
                            size_t at) {
    uint64_t value = w->target->pointers ? (uint64_t)(uintptr_t)(w->target->block + at) : at;
    asf__store(dst + fill->slot->at, value, sizeof(void *), false);
}

/* Sets the counter of an array.  Arrays that share a counter must have the same length. */
static inline int set_counter(const struct asf__fill *fill, unsigned char *dst, uint64_t count) {
    const struct asf__slot *slot = fill->slot;
    unsigned char *at = dst + slot->counter_at;
    if (count > fill->most)
        return asf__record_fail(-ERANGE, "field '%.64s' has more elements than its counter can hold",
                                fill->field->name);
    if (fill->first)
        asf__store(at, count, slot->counter_size, false);
    else if (asf__load(at, slot->counter_size, false) != count)
        return asf__record_fail(-EPROTOTYPE,
                                "field '%.64s' differs in length from other arrays with the same counter",
                                fill->field->name);
    return 0;
}

/* --- strings ----------------------------------------------------------------------------------- */

static int put_text(struct walk *w, const struct asf__fill *fill, unsigned char *dst, const void *text,
                    uint64_t bytes) {
    size_t at;
    int rc = reserve(w, fill, bytes, &at);
    if (rc < 0 || !dst)
        return rc;
    memcpy(w->target->block + at, text, bytes);
    w->target->block[at + bytes - 1] = '\0'; /* another process may have changed the record meanwhile */
    set_slot(w, fill, dst, at);
    return 0;
}

SELDOM static int put_string(struct walk *w, const struct asf__fill *fill, unsigned char *dst,
                             const struct asf__part *part) {
    const char *fallback = fill->field->shape == ASF_RECORD_DYNAMIC ? NULL : fill->field->fallback;
    if (part && part->at)
        return put_text(w, fill, dst, dst ? w->src + part->at : NULL, part->count);
    if (!part && fallback)
        return put_text(w, fill, dst, fallback, strlen(fallback) + 1);
    if (dst)
        memset(dst + fill->slot->at, 0, sizeof(void *));
    return 0;
}

/* --- arrays ------------------------------------------------------------------------------------ */

static int fill_all(struct walk *w, const struct asf__routine *r, unsigned char *dst,
                    const struct asf__part *parts);

/* Sets the pointers of each element.  `elements` is NULL: only measure. */
SELDOM static int fill_elements(struct walk *w, const struct asf__routine *r, unsigned char *elements,
                                const struct asf__part *part) {
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < part->count; i++)
        rc = fill_all(w, r, elements ? elements + i * r->to : NULL, w->parts + part->child + i * r->slots);
    return rc;
}

static inline int put_elements(struct walk *w, const struct asf__fill *fill, unsigned char *dst,
                               const struct asf__part *part) {
    const struct asf__routine *r = &w->plan->routines[fill->routine];
    size_t at;
    uint64_t bytes;
    if (__builtin_mul_overflow(part->count, r->to, &bytes))
        return too_large(fill->field);
    int rc = reserve(w, fill, bytes, &at);
    unsigned char *elements = dst ? w->target->block + at : NULL;
    if (rc == 0 && dst) {
        set_slot(w, fill, dst, at);
        w->bounds.dst_end = elements + bytes;
        if (r->ops_count > 0)
            rc = asf__convert_elements(r, w->src + part->at, elements, part->count, &w->bounds);
    }
    return rc == 0 && r->fills_count > 0 ? fill_elements(w, r, elements, part) : rc;
}

static inline int put_array(struct walk *w, const struct asf__fill *fill, unsigned char *dst,
                            const struct asf__part *part) {
    int rc = dst ? set_counter(fill, dst, part->count) : 0;
    if (rc == 0 && part->count > 0)
        return put_elements(w, fill, dst, part);
    if (rc == 0 && dst)
        memset(dst + fill->slot->at, 0, sizeof(void *));
    return rc;
}

/* Returns the length of an array that the record lacks: that of another array with the same counter, or 0. */
static uint64_t elements_of(const struct asf__routine *r, const struct asf__fill *fill,
                            const struct asf__part *parts) {
    for (uint32_t i = 0; !fill->first && i < r->fills_count; i++)
        if (r->fills[i].source && r->fills[i].slot->counter_size > 0 &&
            r->fills[i].slot->counter_at == fill->slot->counter_at)
            return parts[r->fills[i].part].count;
    return 0;
}

SELDOM static int put_missing_array(struct walk *w, const struct asf__routine *r,
                                    const struct asf__fill *fill, unsigned char *dst,
                                    const struct asf__part *parts) {
    uint64_t bytes, count = elements_of(r, fill, parts);
    size_t at;
    if (dst)
        memset(dst + fill->slot->at, 0, sizeof(void *));
    int rc = dst ? set_counter(fill, dst, count) : 0;
    if (rc < 0 || count == 0)
        return rc;
    if (__builtin_mul_overflow(count, fill->slot->stride, &bytes))
        return too_large(fill->field);
    rc = reserve(w, fill, bytes, &at);
    if (rc == 0 && dst) {
        memset(w->target->block + at, 0, bytes);
        set_slot(w, fill, dst, at);
    }
    return rc;
}

/* Sets the pointers of one struct; `parts` are those of the wire's struct. */
static int fill_all(struct walk *w, const struct asf__routine *r, unsigned char *dst,
                    const struct asf__part *parts) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < r->fills_count; i++) {
        const struct asf__fill *fill = &r->fills[i];
        const struct asf__part *part = fill->source ? parts + fill->part : NULL;
        if (fill->slot->text)
            rc = put_string(w, fill, dst, part);
        else if (part)
            rc = put_array(w, fill, dst, part);
        else
            rc = put_missing_array(w, r, fill, dst, parts);
    }
    return rc;
}

/* --- in place ---------------------------------------------------------------------------------- */

/* Whether the parts are in order and do not overlap, as this library writes them.  Bytes shared by two parts
 * would be swapped twice. */
static bool are_apart(const struct asf__routine *r, const struct asf__parts *parts) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < r->fills_count; i++) {
        const struct asf__fill *fill = &r->fills[i];
        const struct asf__part *part = &parts->all[fill->part];
        if (part->at < end && part->count > 0)
            return false;
        if (part->count > 0)
            end = part->at + part->count * fill->slot->stride;
    }
    return true;
}

static void swap_part(const struct asf__plan *plan, const struct asf__fill *fill,
                      const struct asf__part *part, unsigned char *record, const struct asf__bounds *bounds) {
    const struct asf__slot *slot = fill->slot;
    asf__store(record + slot->at, part->count ? part->at : 0, sizeof(void *), false);
    if (slot->text)
        return;
    asf__store(record + slot->counter_at, part->count, slot->counter_size, false);
    unsigned char *elements = record + part->at;
    const struct asf__routine *r = &plan->routines[fill->routine];
    if (part->count > 0 && r->ops_count > 0)
        asf__convert_elements(r, elements, elements, part->count, bounds);
}

bool asf__plan_swap_in_place(const struct asf__plan *plan, unsigned char *record, size_t length,
                             const struct asf__parts *parts) {
    const struct asf__routine *r = &plan->routines[0];
    const struct asf__bounds bounds = {record + length, record + length};
    if (!are_apart(r, parts))
        return false;
    asf__convert_elements(r, record, record, 1, &bounds);
    for (uint32_t i = 0; i < r->fills_count; i++)
        swap_part(plan, &r->fills[i], &parts->all[r->fills[i].part], record, &bounds);
    return true;
}

/* --- the record -------------------------------------------------------------------------------- */

static int too_long(const struct asf__plan *plan, const struct asf__routine *r) {
    return asf__record_fail(-E2BIG, "'%.64s' has %u bytes, which exceeds the limit",
                            asf__root(plan->native)->name, r->to);
}

int asf__plan_size(const struct asf__plan *plan, const struct asf__parts *parts, size_t from, size_t most,
                   size_t *end) {
    const struct asf__routine *r = &plan->routines[0];
    struct walk w = {.plan = plan, .parts = parts->all, .used = from, .most = most};
    if (r->to > most)
        return too_long(plan, r);
    int rc = r->fills_count ? fill_all(&w, r, NULL, w.parts) : 0;
    *end = w.used;
    return rc;
}

int asf__plan_convert(const struct asf__plan *plan, const unsigned char *record, size_t length,
                      const struct asf__parts *parts, const struct asf__target *target) {
    const struct asf__routine *r = &plan->routines[0];
    struct walk w = {.used = target->from,
                     .plan = plan,
                     .parts = parts->all,
                     .src = record,
                     .bounds.src_end = record + length,
                     .target = target,
                     .most = target->room};
    if (r->to > target->room) /* the block may not be allocated yet */
        return too_long(plan, r);
    w.bounds.dst_end = target->root + r->to;
    int rc = asf__convert_elements(r, record, target->root, 1, &w.bounds);
    return rc < 0 || r->fills_count == 0 ? rc : fill_all(&w, r, target->root, w.parts);
}
