/* SPDX-License-Identifier: MIT
 *
 * record_generator.h - machine code for conversions, made at run time: the hook
 * by which a generator takes over the records that are worth it.
 *
 * libasf_xbyak (-lasf_xbyak), built where xbyak is installed, has one; it is
 * switched on by asf_record_generate_xbyak.  Where memory cannot be made
 * executable records are converted without it.
 */
#ifndef ASF_RECORD_GENERATOR_H
#define ASF_RECORD_GENERATOR_H

#include <asf/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASF_RECORD_GENERATOR_VERSION 1

/* Sixteen bytes: load them at src, shuffle them as SSSE3's pshufb does, store
 * them at dst. */
struct asf_record_lane {
    uint32_t src, dst;
    unsigned char mask[16];
};

enum asf_record_step_kind {
    ASF_RECORD_STEP_BYTES,  /* `count` constant bytes */
    ASF_RECORD_STEP_SIGNED, /* signed integers made wider */
    ASF_RECORD_STEP_NARROW, /* integers, of which each must fit */
    ASF_RECORD_STEP_FLOAT,  /* floats of another size; a finite one must not become infinite */
};

/* `count` numbers that follow one another. */
struct asf_record_step {
    enum asf_record_step_kind kind;
    uint8_t from, to; /* bytes of a number */
    uint8_t swap;     /* the source's bytes are in the other order */
    uint8_t from_signed, to_signed;
    uint32_t src, dst, count;
    const unsigned char *bytes;
};

/* One element of `from` bytes becomes one of `to`: the lanes in their order, then
 * the steps. */
struct asf_record_element {
    uint32_t from, to;
    const struct asf_record_lane *lanes;
    size_t lanes_count;
    const struct asf_record_step *steps;
    size_t steps_count;
};

/* Converts `count` elements that follow one another.
 * returns  0, or the number, from 1 on, of the step that has a value that does
 *          not fit. */
typedef size_t (*asf_record_code)(const unsigned char *src, unsigned char *dst, size_t count);

struct asf_record_generator {
    size_t size;      /* sizeof(struct asf_record_generator), as compiled */
    unsigned version; /* ASF_RECORD_GENERATOR_VERSION */
    const char *name;
    /* make: code for a shape.  Any failure: the shape is converted without.
     *   memory  what discard gets later
     * May be called by several threads at once. */
    int (*make)(const struct asf_record_element *shape, asf_record_code *code, void **memory);
    void (*discard)(void *memory);
};

/* asf_record_generate_with: let a generator make code for the conversions that
 * are planned from now on; it stays in use for ever.  NULL: none.  Engines of
 * vectors ask it for elements that are more than shuffles.
 * returns  0; -EINVAL: another version, or a call is missing. */
ASF_EXPORT int asf_record_generate_with(const struct asf_record_generator *generator);

#ifdef __cplusplus
}
#endif
#endif
