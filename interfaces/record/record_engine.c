/* SPDX-License-Identifier: MIT
 *
 * record_engine.c - chooses the conversion engine, and executes ops one by one, on any CPU: all ops of the
 * scalar engine, and the ops that a vector engine does not translate.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_vector.h"

/* --- choosing ---------------------------------------------------------------------------------- */

static bool always(void) {
    return true;
}

static const struct asf__engine scalar = {.name = "scalar", .available = always};

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

static int no_fit(const struct asf__op *m) {
    return asf__record_fail(-ERANGE, "field '%.64s' has a value that does not fit", m->field->name);
}

/* --- numbers of one size ----------------------------------------------------------------------- */

/* Inlined for each size, so that the size is a constant in the loop. */
static inline __attribute__((always_inline)) void swap_each(const unsigned char *src, unsigned char *dst,
                                                            uint32_t count, unsigned size) {
    for (uint32_t i = 0; i < count; i++)
        asf__store(dst + (size_t)i * size, asf__load(src + (size_t)i * size, size, true), size, false);
}

static void swap_all(const struct asf__op *m, const unsigned char *src, unsigned char *dst) {
    if (m->from == 2)
        swap_each(src, dst, m->count, 2);
    else if (m->from == 4)
        swap_each(src, dst, m->count, 4);
    else
        swap_each(src, dst, m->count, 8);
}

static void extend_all(const struct asf__op *m, const unsigned char *src, unsigned char *dst) {
    for (uint32_t i = 0; i < m->count; i++, src += m->from, dst += m->to)
        asf__store(dst, asf__load(src, m->from, m->swap), m->to, false);
}

static void sign_all(const struct asf__op *m, const unsigned char *src, unsigned char *dst) {
    for (uint32_t i = 0; i < m->count; i++, src += m->from, dst += m->to)
        asf__store(dst, (uint64_t)asf__load_signed(src, m->from, m->swap), m->to, false);
}

/* --- integers that may be out of range --------------------------------------------------------- */

static bool fits(const struct asf__op *m, uint64_t value) {
    unsigned bits = 8u * m->to;
    if (m->from_signed && (int64_t)value < 0)
        return m->to_signed && (int64_t)value >= -1 - (int64_t)(UINT64_MAX >> (65 - bits));
    return value <= UINT64_MAX >> (64 - bits + m->to_signed);
}

static uint64_t load_integer(const unsigned char *src, const struct asf__op *m) {
    return m->from_signed ? (uint64_t)asf__load_signed(src, m->from, m->swap)
                          : asf__load(src, m->from, m->swap);
}

static int narrow_all(const struct asf__op *m, const unsigned char *src, unsigned char *dst) {
    for (uint32_t i = 0; i < m->count; i++, src += m->from, dst += m->to) {
        uint64_t value = load_integer(src, m);
        if (!fits(m, value))
            return no_fit(m);
        asf__store(dst, value, m->to, false);
    }
    return 0;
}

/* --- floats ------------------------------------------------------------------------------------ */

static double load_float(const unsigned char *src, const struct asf__op *m) {
    uint64_t bits = asf__load(src, m->from, m->swap);
    uint32_t low = (uint32_t)bits;
    double value;
    float narrow;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&value, &bits, sizeof value);
    return m->from == 4 ? (double)narrow : value;
}

/* Refuses a finite double that rounds to infinity as a float.  Infinities and NaNs are valid. */
static int store_float(const struct asf__op *m, unsigned char *dst, double value) {
    if (m->to == 8) {
        memcpy(dst, &value, sizeof value);
        return 0;
    }
    if (isfinite(value) && fabs(value) >= 0x1.ffffffp127)
        return no_fit(m);
    float narrow = (float)value;
    memcpy(dst, &narrow, sizeof narrow);
    return 0;
}

static int float_all(const struct asf__op *m, const unsigned char *src, unsigned char *dst) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < m->count; i++, src += m->from, dst += m->to)
        rc = store_float(m, dst, load_float(src, m));
    return rc;
}

/* Converts an integer directly to float, because a conversion through double would round twice. */
static void from_int_all(const struct asf__op *m, const unsigned char *src, unsigned char *dst) {
    for (uint32_t i = 0; i < m->count; i++, src += m->from, dst += m->to) {
        uint64_t value = load_integer(src, m);
        double wide = m->from_signed ? (double)(int64_t)value : (double)value;
        float narrow = m->from_signed ? (float)(int64_t)value : (float)value;
        memcpy(dst, m->to == 4 ? (const void *)&narrow : &wide, m->to);
    }
}

/* Drops the fraction.  Refuses NaN and values that the integer type cannot represent. */
static int to_int_all(const struct asf__op *m, const unsigned char *src, unsigned char *dst) {
    double beyond = ldexp(1, 8 * m->to - m->to_signed);
    double least = m->to_signed ? -beyond - 1 : -1;
    for (uint32_t i = 0; i < m->count; i++, src += m->from, dst += m->to) {
        double value = load_float(src, m);
        bool low = m->to_signed && m->to == 8 ? value >= -beyond : value > least;
        if (!low || !(value < beyond))
            return no_fit(m);
        asf__store(dst, m->to_signed ? (uint64_t)(int64_t)value : (uint64_t)value, m->to, false);
    }
    return 0;
}

/* --- all ops ----------------------------------------------------------------------------------- */

static int loop(const struct asf__op *m, const unsigned char *src, unsigned char *dst) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < m->count; i++, src += m->sstep, dst += m->dstep)
        rc = asf__do_ops(m + 1, m->body, src, dst);
    return rc;
}

static int do_op(const struct asf__op *m, const unsigned char *src, unsigned char *dst) {
    src += m->src;
    dst += m->dst;
    switch ((enum asf__opcode)m->code) {
    case OP_COPY:
        if (dst != src)
            memcpy(dst, src, m->count);
        return 0;
    case OP_SWAP:
        swap_all(m, src, dst);
        return 0;
    case OP_EXTEND:
        extend_all(m, src, dst);
        return 0;
    case OP_ZERO:
        memset(dst, 0, m->count);
        return 0;
    case OP_FIXED:
        memcpy(dst, m->bytes, m->count);
        return 0;
    case OP_SIGNED:
        sign_all(m, src, dst);
        return 0;
    case OP_NARROW:
        return narrow_all(m, src, dst);
    case OP_FLOAT:
        return float_all(m, src, dst);
    case OP_FROM_INT:
        from_int_all(m, src, dst);
        return 0;
    case OP_TO_INT:
        return to_int_all(m, src, dst);
    case OP_LOOP:
        break;
    }
    return loop(m, src, dst);
}

int asf__do_ops(const struct asf__op *ops, uint32_t count, const unsigned char *src, unsigned char *dst) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i += 1 + ops[i].body)
        rc = do_op(&ops[i], src, dst);
    return rc;
}
