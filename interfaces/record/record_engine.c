/* SPDX-License-Identifier: MIT
 *
 * record_engine.c - chooses the conversion engine, at its first use.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_vector.h"

static bool always(void) {
    return true;
}

static int convert(const struct asf__routine *r, const unsigned char *src, unsigned char *dst, size_t count,
                   const struct asf__bounds *bounds) {
    int rc = 0;
    (void)bounds;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = asf__do_ops(r->ops, r->ops_count, src + i * r->from, dst + i * r->to);
    return rc;
}

static const struct asf__engine scalar = {.name = "scalar", .available = always, .convert = convert};

/* In order of vector width. */
static const struct asf__engine *const all[] = {
    &scalar,
#if defined(__x86_64__)
    &asf__engine_ssse3,
    &asf__engine_avx2,
    &asf__engine_avx512,
#elif defined(__aarch64__)
    &asf__engine_neon,
#endif
};
enum { ENGINES = sizeof all / sizeof *all };

static const struct asf__engine *chosen;

static const struct asf__engine *best(void) {
    int i = ENGINES - 1;
    while (!all[i]->available())
        i--;
    return all[i];
}

static int named(const char *name, const struct asf__engine **engine) {
    for (int i = 0; i < ENGINES; i++)
        if (!strcmp(all[i]->name, name)) {
            *engine = all[i];
            return all[i]->available() ? 0 : asf__record_fail(-ENOTSUP, "this CPU does not support %s", name);
        }
    return asf__record_fail(-EINVAL, "unknown engine '%.32s'", name);
}

/* Threads that call it at the same time choose the same engine.  Ignores an invalid name in ASF_RECORD. */
const struct asf__engine *asf__engine_now(void) {
    const struct asf__engine *now = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (__builtin_expect(now != NULL, 1))
        return now;
    const char *name = secure_getenv("ASF_RECORD");
    if (!name || named(name, &now) < 0)
        now = best();
    __atomic_store_n(&chosen, now, __ATOMIC_RELAXED);
    return now;
}

const char *const *asf_record_engines(void) {
    static const char *names[ENGINES + 1];
    for (int i = 0; i < ENGINES; i++)
        __atomic_store_n(&names[i], all[i]->name, __ATOMIC_RELAXED);
    return names;
}

const char *asf_record_engine(void) {
    return asf__engine_now()->name;
}

int asf_record_use(const char *name) {
    const struct asf__engine *engine = name ? NULL : best();
    int rc = name ? named(name, &engine) : 0;
    if (rc == 0)
        __atomic_store_n(&chosen, engine, __ATOMIC_RELAXED);
    return rc;
}
