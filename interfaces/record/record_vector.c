/* SPDX-License-Identifier: MIT
 *
 * record_vector.c - translates ops to vector code, or to code of the program's generator, and runs it without
 * accessing memory outside the buffers.  The engines differ only in their pick().
 *
 * A lane always stores sixteen bytes, of which the last may be invalid.  The next lane or op overwrites
 * the invalid bytes.  So lanes and ops run in order of native offsets, and near the end of a buffer lanes are
 * executed byte by byte.  When a record is swapped in place, a lane stores the bytes after its `length`
 * unchanged.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <asf/record_generator.h>

#include "interfaces/record/record_vector.h"

enum {
    BIG = 256,      /* arrays of numbers with more bytes than this get their own loop */
    LONG_COPY = 64, /* memcpy copies this many bytes, or more, faster than lanes do */
};

/* Machine code of the program's generator. */
struct generated {
    asf_record_code code; /* the generated function, or NULL */
    void *kept;
    const struct asf_record_generator *by;
};

/* The conversion of an array whose elements have no inner loops: first the shuffles of all elements, then the
 * other ops, element by element.  Generated code does both for one element after the other. */
struct flat {
    struct asf__run one, many; /* `many` converts several elements in one iteration */
    uint32_t from, to;         /* bytes of an element, on the wire and native */
    bool copies;               /* elements are the same on the wire and native: memcpy converts them */
    bool in_place;             /* source and target may be the same memory */
    bool only_lanes;           /* lanes do all ops: `others` is empty */
    size_t several;            /* an array with fewer elements is converted by `one` alone */
    struct asf__op *others;
    uint32_t others_count;
    struct generated generated; /* converts one element per iteration, lanes and other ops */
};

enum step_kind { STEP_FLAT, STEP_OP, STEP_LOOP };

struct step {
    enum step_kind kind;
    uint32_t src, dst, count;
    uint32_t body; /* STEP_LOOP: number of steps of the body */
    uint32_t src_step, dst_step;
    struct flat *flat;
    struct asf__op op;
};

struct asf__code {
    const struct asf__engine *engine;
    bool in_place;
    struct flat *whole; /* the whole element; NULL: the steps convert it */
    struct step *steps;
    uint32_t count;
};

/* --- code generated at run time ---------------------------------------------------------------- */

static const struct asf_record_generator *chosen;

int asf_record_generate_with(const struct asf_record_generator *g) {
    if (g && (g->size != sizeof *g || g->version != ASF_RECORD_GENERATOR_VERSION || !g->make || !g->discard))
        return asf__record_fail(-EINVAL, "the generator has another version, or lacks functions");
    __atomic_store_n(&chosen, g, __ATOMIC_RELEASE);
    return 0;
}

/* Describes an op to the generator.  Returns false if generators do not support ops of this kind. */
static bool describe_op(const struct asf__op *m, struct asf_record_step *step) {
    *step = (struct asf_record_step){.from = m->from,
                                     .to = m->to,
                                     .swap = m->swap,
                                     .from_signed = m->from_signed,
                                     .to_signed = m->to_signed,
                                     .src = m->src,
                                     .dst = m->dst,
                                     .count = m->count,
                                     .bytes = m->bytes};
    switch ((enum asf__opcode)m->code) {
    case OP_FIXED:
        step->kind = ASF_RECORD_STEP_BYTES;
        return true;
    case OP_SIGNED:
        step->kind = ASF_RECORD_STEP_SIGNED;
        return true;
    case OP_NARROW:
        step->kind = ASF_RECORD_STEP_NARROW;
        return true;
    case OP_FLOAT:
        step->kind = ASF_RECORD_STEP_FLOAT;
        return true;
    default:
        return false;
    }
}

/* Generates code for the lanes of a run and the other ops, if a generator is set and supports all of
 * them.  `to` is the size of the target element in bytes. */
static void generate(struct generated *made, const struct asf__run *run, const struct asf__op *others,
                     uint32_t count, uint32_t to) {
    const struct asf_record_generator *g = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
    if (!g)
        return;
    struct asf_record_lane *lanes = calloc(run->lanes_count, sizeof *lanes);
    struct asf_record_step *steps = calloc(count, sizeof *steps);
    bool all = lanes && steps;
    for (uint32_t i = 0; all && i < run->lanes_count; i++) {
        lanes[i] = (struct asf_record_lane){.src = run->lanes[i].src, .dst = run->lanes[i].dst};
        memcpy(lanes[i].mask, run->lanes[i].mask, LANE);
    }
    for (uint32_t i = 0; all && i < count; i++)
        all = describe_op(&others[i], &steps[i]);
    const struct asf_record_element element = {run->src_step, to, lanes, run->lanes_count, steps, count};
    if (all && g->make(&element, &made->code, &made->kept) == 0)
        made->by = g;
    else
        made->code = NULL;
    free(lanes);
    free(steps);
}

/* --- translating ------------------------------------------------------------------------------- */

static void free_run(struct asf__run *run) {
    free(run->lanes);
    free(run->items);
}

static void free_flat(struct flat *flat) {
    if (!flat)
        return;
    if (flat->generated.code)
        flat->generated.by->discard(flat->generated.kept);
    free_run(&flat->one);
    free_run(&flat->many);
    free(flat->others);
    free(flat);
}

static int make_run(struct asf__run *run, const struct asf__map *map, const struct flat *flat,
                    uint32_t elements, const struct asf__engine *engine) {
    run->elements = elements;
    run->shift = (uint32_t)__builtin_ctz(elements);
    run->src_step = flat->from * elements;
    run->dst_step = flat->to * elements;
    int rc = asf__cover(map, run);
    if (rc == 0)
        rc = asf__join_lanes(run, engine->width);
    if (rc < 0)
        return rc;
    run->inside = run->src_reach <= run->src_step && run->dst_reach <= run->dst_step;
    run->go = engine->pick(run);
    return 0;
}

/* Returns how many elements, a power of two, fill whole vectors; fewer if these do not fit into a map. */
static uint32_t whole_vectors(uint32_t bytes, unsigned width) {
    uint32_t n = 1;
    while (n * bytes % width != 0 && 2 * n * bytes <= MAP_MOST)
        n *= 2;
    return n;
}

/* Makes a struct flat of `count` ops.  `base` is the native offset of the first target byte. */
static int make_flat(struct flat **made, const struct asf__op *ops, uint32_t count, uint32_t base,
                     struct flat size, const struct asf__engine *engine) {
    struct asf__map map = {
        .length = size.to, .src_length = size.from, .in_place = size.in_place, .base = base};
    struct flat *flat = *made = calloc(1, sizeof *flat);
    bool any = false;
    if (!flat)
        return asf__record_no_memory("to plan the conversion");
    *flat = size;
    flat->others = malloc((count + 1) * sizeof *ops);
    if (!flat->others)
        return asf__record_no_memory("to plan the conversion");
    memset(map.at, 0xff, map.length * sizeof *map.at);
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i].code <= OP_ZERO) { /* the op only rearranges bytes */
            asf__map_op(&map, &ops[i], base);
            any = true;
        } else {
            flat->others[flat->others_count] = ops[i];
            flat->others[flat->others_count++].dst -= base;
        }
    }
    flat->copies = count == 1 && ops->code == OP_COPY && flat->from == flat->to && ops->count == flat->to;
    if (!any || flat->copies)
        return 0;
    flat->only_lanes = flat->others_count == 0;
    int rc = make_run(&flat->one, &map, flat, 1, engine);
    uint32_t n = flat->in_place && flat->from != flat->to ? 1 : whole_vectors(flat->to, engine->width);
    flat->several = n > 1 ? n : SIZE_MAX;
    if (rc == 0 && flat->others_count > 0)
        generate(&flat->generated, &flat->one, flat->others, flat->others_count, flat->to);
    if (rc < 0 || n == 1)
        return rc;
    asf__map_repeat(&map, n, flat->from);
    return make_run(&flat->many, &map, flat, n, engine);
}

/* `steps` has room for one step per op, which is enough. */
static struct step *add_step(struct asf__code *code, enum step_kind kind) {
    struct step *s = &code->steps[code->count++];
    *s = (struct step){.kind = kind, .count = 1};
    return s;
}

static bool is_flat(const struct asf__op *ops, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (ops[i].code == OP_LOOP)
            return false;
    return true;
}

static uint32_t bytes_of(const struct asf__op *m) {
    return m->count * m->to;
}

/* Whether libc's memcpy or memset does the op faster than shuffles. */
static bool is_long(const struct asf__op *m) {
    return (m->code == OP_COPY || m->code == OP_ZERO || m->code == OP_FIXED) && bytes_of(m) >= LONG_COPY;
}

static bool is_array(const struct asf__op *m) {
    return m->code != OP_COPY && m->code != OP_ZERO && m->code != OP_FIXED && bytes_of(m) > BIG;
}

/* Makes the step that converts an array of numbers; the step's flat converts one number. */
static int make_array(struct asf__code *code, const struct asf__op *m) {
    struct asf__op body = *m;
    struct step *s = add_step(code, STEP_FLAT);
    s->src = m->src;
    s->dst = m->dst;
    s->count = m->count;
    body.src = body.dst = 0;
    body.count = 1;
    struct flat size = {.from = m->from, .to = m->to, .in_place = code->in_place};
    return make_flat(&s->flat, &body, 1, 0, size, code->engine);
}

/* Returns how many consecutive short ops fit into one map. */
static uint32_t count_small_ops(const struct asf__op *ops, uint32_t count) {
    uint32_t n = 0;
    while (n < count && ops[n].code != OP_LOOP && !is_long(&ops[n]) && !is_array(&ops[n]) &&
           ops[n].dst + bytes_of(&ops[n]) - ops->dst <= MAP_MOST)
        n++;
    return n;
}

static int make_small_ops(struct asf__code *code, const struct asf__op *ops, uint32_t n, uint32_t from) {
    const struct asf__op *last = &ops[n - 1];
    struct step *s = add_step(code, STEP_FLAT);
    s->dst = ops->dst;
    struct flat size = {
        .from = from, .to = last->dst + bytes_of(last) - ops->dst, .in_place = code->in_place};
    return make_flat(&s->flat, ops, n, ops->dst, size, code->engine);
}

static int make_steps(struct asf__code *code, const struct asf__op *ops, uint32_t count, uint32_t from);

static int make_loop(struct asf__code *code, const struct asf__op *m) {
    bool flat = is_flat(m + 1, m->body) && m->dstep <= MAP_MOST;
    struct step *s = add_step(code, flat ? STEP_FLAT : STEP_LOOP);
    s->src = m->src;
    s->dst = m->dst;
    s->count = m->count;
    s->src_step = m->sstep;
    s->dst_step = m->dstep;
    struct flat size = {.from = m->sstep, .to = m->dstep, .in_place = code->in_place};
    if (flat)
        return make_flat(&s->flat, m + 1, m->body, 0, size, code->engine);
    uint32_t before = code->count;
    int rc = make_steps(code, m + 1, m->body, m->sstep);
    s->body = code->count - before;
    return rc;
}

static int make_steps(struct asf__code *code, const struct asf__op *ops, uint32_t count, uint32_t from) {
    int rc = 0;
    for (uint32_t i = 0, n; rc == 0 && i < count; i += n) {
        n = 1 + ops[i].body;
        if (ops[i].code == OP_LOOP)
            rc = make_loop(code, &ops[i]);
        else if (is_array(&ops[i]))
            rc = make_array(code, &ops[i]);
        else if (is_long(&ops[i]))
            add_step(code, STEP_OP)->op = ops[i];
        else
            rc = make_small_ops(code, &ops[i], n = count_small_ops(&ops[i], count - i), from);
    }
    return rc;
}

/* Whether one struct flat can convert a whole element: the element and all ops must be short.  A single op
 * may also be a long copy. */
static bool is_whole(const struct asf__routine *r) {
    if (!is_flat(r->ops, r->ops_count) || r->to > MAP_MOST)
        return false;
    for (uint32_t i = 0; i < r->ops_count; i++)
        if (is_array(&r->ops[i]) || (r->ops_count > 1 && is_long(&r->ops[i])))
            return false;
    return true;
}

int asf__translate(struct asf__routine *r) {
    const struct asf__engine *engine = asf__engine_now();
    if (!engine->pick || r->ops_count == 0)
        return 0;
    struct asf__code *code = r->code = calloc(1, sizeof *code);
    if (!code)
        return asf__record_no_memory("to plan the conversion");
    code->engine = engine;
    code->in_place = r->in_place;
    struct flat size = {.from = r->from, .to = r->to, .in_place = r->in_place};
    if (is_whole(r))
        return make_flat(&code->whole, r->ops, r->ops_count, 0, size, engine);
    code->steps = calloc(r->ops_count, sizeof *code->steps);
    return code->steps ? make_steps(code, r->ops, r->ops_count, r->from)
                       : asf__record_no_memory("to plan the conversion");
}

void asf__code_free(struct asf__code *code) {
    if (!code)
        return;
    free_flat(code->whole);
    for (uint32_t i = 0; i < code->count; i++)
        free_flat(code->steps[i].flat);
    free(code->steps);
    free(code);
}

/* --- running ----------------------------------------------------------------------------------- */

/* Executes lanes byte by byte, near the end of a buffer. */
static void run_exactly(const struct asf__run *run, const unsigned char *src, unsigned char *dst,
                        const struct asf__bounds *b) {
    for (uint32_t i = 0; i < run->lanes_count; i++) {
        const struct asf__lane *lane = &run->lanes[i];
        unsigned char window[LANE] = {0}, bytes[LANE];
        size_t there = (size_t)(b->src_end - src) > lane->src ? (size_t)(b->src_end - src) - lane->src : 0;
        if (there > 0)
            memcpy(window, src + lane->src, there < LANE ? there : LANE);
        for (uint32_t j = 0; j < lane->length; j++)
            bytes[j] = lane->mask[j] & 0x80 ? 0 : window[lane->mask[j] & 15];
        memcpy(dst + lane->dst, bytes, lane->length);
    }
}

/* Returns how many of n iterations access only the first `room` bytes. */
static inline size_t within(size_t n, size_t step, size_t reach, size_t room) {
    if ((n - 1) * step + reach <= room)
        return n;
    return room < reach ? 0 : (room - reach) / step + 1;
}

static void run_all(const struct asf__run *run, const unsigned char *src, unsigned char *dst, size_t n,
                    const struct asf__bounds *b) {
    size_t fast = within(n, run->src_step, run->src_reach, (size_t)(b->src_end - src));
    fast = fast ? within(fast, run->dst_step, run->dst_reach, (size_t)(b->dst_end - dst)) : 0;
    if (fast > 0)
        run->go(run, src, dst, fast);
    for (; fast < n; fast++)
        run_exactly(run, src + fast * run->src_step, dst + fast * run->dst_step, b);
}

/* Converts the elements that remain after the last full iteration of `many`.  Usually runs `many` once more
 * on the last elements of the array, so that some are converted twice.  Uses `one` if this would exceed the
 * buffers, if `many` has not run yet, and in place, where the source has already changed. */
static void run_rest(const struct flat *f, const unsigned char *src, unsigned char *dst, size_t count,
                     size_t done, const struct asf__bounds *b) {
    const struct asf__run *run = &f->many;
    const bool twice = done > 0 && src != dst;
    size_t again = twice ? count - run->elements : 0;
    const unsigned char *from = src + again * f->from;
    unsigned char *to = dst + again * f->to;
    if (twice && run->src_reach <= (size_t)(b->src_end - from) && run->dst_reach <= (size_t)(b->dst_end - to))
        run->go(run, from, to, 1);
    else
        run_all(&f->one, src + done * f->from, dst + done * f->to, count - done, b);
}

SELDOM static int run_lanes(const struct flat *f, const unsigned char *src, unsigned char *dst, size_t count,
                            const struct asf__bounds *b) {
    size_t times = f->many.go ? count >> f->many.shift : 0, done = times << f->many.shift;
    if (times > 0)
        run_all(&f->many, src, dst, times, b);
    if (done < count)
        run_rest(f, src, dst, count, done, b);
    return 0;
}

/* Runs the generated code on the first elements, as long as its lanes access only the buffers.  *done is
 * the number of these elements. */
static int run_generated(const struct flat *f, const unsigned char *src, unsigned char *dst, size_t count,
                         const struct asf__bounds *b, size_t *done) {
    size_t n = within(count, f->from, f->one.src_reach, (size_t)(b->src_end - src));
    n = n ? within(n, f->to, f->one.dst_reach, (size_t)(b->dst_end - dst)) : 0;
    size_t wrong = n ? f->generated.code(src, dst, n) : 0;
    *done = n;
    return wrong ? asf__record_fail(-ERANGE, "field '%.64s' has a value that does not fit",
                                    f->others[wrong - 1].field->name)
                 : 0;
}

SELDOM static int run_mixed(const struct flat *f, const unsigned char *src, unsigned char *dst, size_t count,
                            const struct asf__bounds *b) {
    if (f->generated.code) {
        size_t done;
        int rc = run_generated(f, src, dst, count, b, &done);
        if (rc < 0 || done == count)
            return rc;
        src += done * f->from;
        dst += done * f->to;
        count -= done;
    }
    if (f->copies && dst != src)
        memcpy(dst, src, count * f->to);
    else if (f->one.go)
        run_lanes(f, src, dst, count, b);
    int rc = 0;
    for (size_t i = 0; rc == 0 && f->others_count > 0 && i < count; i++, src += f->from, dst += f->to)
        rc = asf__do_ops(f->others, f->others_count, src, dst);
    return rc;
}

/* Usually one call of `go` converts all elements. */
OFTEN int run_flat(const struct flat *f, const unsigned char *src, unsigned char *dst, size_t count,
                   const struct asf__bounds *b) {
    if (!f->only_lanes)
        return run_mixed(f, src, dst, count, b);
    if (f->one.inside && count < f->several)
        return f->one.go(&f->one, src, dst, count);
    if (f->many.inside && (count & (f->many.elements - 1)) == 0)
        return f->many.go(&f->many, src, dst, count >> f->many.shift);
    return run_lanes(f, src, dst, count, b);
}

static int run_steps(const struct step *steps, uint32_t count, const unsigned char *src, unsigned char *dst,
                     const struct asf__bounds *b) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i += 1 + steps[i].body) {
        const struct step *s = &steps[i];
        if (s->kind == STEP_FLAT)
            rc = run_flat(s->flat, src + s->src, dst + s->dst, s->count, b);
        else if (s->kind == STEP_OP)
            rc = asf__do_ops(&s->op, 1, src, dst);
        for (uint32_t j = 0; rc == 0 && s->kind == STEP_LOOP && j < s->count; j++)
            rc = run_steps(s + 1, s->body, src + s->src + (size_t)j * s->src_step,
                           dst + s->dst + (size_t)j * s->dst_step, b);
    }
    return rc;
}

SELDOM static int convert_each(const struct asf__routine *r, const unsigned char *src, unsigned char *dst,
                               size_t count, const struct asf__bounds *bounds) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++, src += r->from, dst += r->to)
        rc = r->code ? run_steps(r->code->steps, r->code->count, src, dst, bounds)
                     : asf__do_ops(r->ops, r->ops_count, src, dst);
    return rc;
}

int asf__convert_elements(const struct asf__routine *r, const unsigned char *src, unsigned char *dst,
                          size_t count, const struct asf__bounds *bounds) {
    if (r->code && r->code->whole)
        return run_flat(r->code->whole, src, dst, count, bounds);
    return convert_each(r, src, dst, count, bounds);
}
