/* SPDX-License-Identifier: MIT
 *
 * record_generator.h - machine code for conversions, made at run time: the interface of a
 * generator, which makes code for the conversions that profit from it.
 *
 * libasf_xbyak (-lasf_xbyak), built where xbyak is installed, has a generator;
 * asf_record_generate_xbyak switches it on.  If memory cannot be made executable, records are
 * converted without generated code.
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
    ASF_RECORD_STEP_NARROW, /* integers made narrower; each must fit */
    ASF_RECORD_STEP_FLOAT,  /* floats to another size; a finite one must not become infinite */
};

/* A step converts `count` consecutive numbers at offset src of the source to offset dst of the result, or
 * stores `count` constant bytes there. */
struct asf_record_step {
    enum asf_record_step_kind kind;
    uint8_t from, to; /* bytes of a number */
    uint8_t swap;     /* the source's bytes are in the other order */
    uint8_t from_signed, to_signed;
    uint32_t src, dst, count;
    const unsigned char *bytes;
};

/* Conversion of one element of `from` bytes to one of `to` bytes: the lanes in their order, then the
 * steps. */
struct asf_record_element {
    uint32_t from, to;
    const struct asf_record_lane *lanes;
    size_t lanes_count;
    const struct asf_record_step *steps;
    size_t steps_count;
};

/* Converts `count` consecutive elements.
 * returns  0, or the number, from 1 on, of the step with a value that does
 *          not fit. */
typedef size_t (*asf_record_code)(const unsigned char *src, unsigned char *dst, size_t count);

struct asf_record_generator {
    size_t size;      /* sizeof(struct asf_record_generator), as compiled */
    unsigned version; /* ASF_RECORD_GENERATOR_VERSION */
    const char *name;
    /* make: make code for a shape.  After any failure the shape is converted without generated code.
     *   memory  out: passed to discard later
     * Several threads may call it at once. */
    int (*make)(const struct asf_record_element *shape, asf_record_code *code, void **memory);
    void (*discard)(void *memory);
};

/* asf_record_generate_with: let a generator make code for the conversions that are planned from now
 * on; it must remain valid until the process ends.  NULL: none.  The vector engines call it for elements
 * that need more than shuffles.
 * returns  0; -EINVAL: another version, or a function is missing. */
ASF_EXPORT int asf_record_generate_with(const struct asf_record_generator *generator);

#ifdef __cplusplus
}
#endif
#endif
