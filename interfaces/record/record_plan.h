/* SPDX-License-Identifier: MIT
 *
 * record_plan.h - converts records of one format, the wire's, to structs of another, the native one.
 *
 * Matching two formats by field names gives a list of ops, in order of offsets in the native struct. Together
 * they set every byte of that struct.  An engine executes the list: the scalar engine directly, the others
 * after translating it to vector code.  Most ops only rearrange bytes, and sixteen such bytes are one load,
 * shuffle and store.  The data that a record's pointers refer to, its parts, is converted part by part.
 */
#ifndef ASF_RECORD_PLAN_H
#define ASF_RECORD_PLAN_H

#include "interfaces/record/record_format.h"

#pragma GCC visibility push(hidden)

/* A small record is converted in some 300 instructions.  So the code for rare cases is kept out of line
 * (SELDOM), and functions that every record needs are inlined (OFTEN). */
#define SELDOM __attribute__((noinline))
#define OFTEN  static inline __attribute__((always_inline))

enum { OPS_MOST = 64 * 1024, ROUTINES_MOST = 4096 };

enum asf__opcode {
    OP_COPY,   /* bytes; this op and the next three only rearrange bytes */
    OP_SWAP,   /* numbers of the same size in the other byte order */
    OP_EXTEND, /* unsigned numbers to a larger size */
    OP_ZERO,
    OP_FIXED,  /* constant bytes from the plan: a fallback value */
    OP_SIGNED, /* signed numbers to a larger size */
    OP_NARROW, /* integers that may be out of range */
    OP_FLOAT,  /* floats to another size */
    OP_FROM_INT,
    OP_TO_INT,
    OP_LOOP, /* an array of structs: the next `body` ops, for each element */
};

struct asf__op {
    uint8_t code;
    uint8_t from, to; /* bytes of an element */
    bool swap;        /* source is in the other byte order */
    bool from_signed, to_signed;
    uint32_t src, dst;
    uint32_t count;
    uint32_t body;         /* OP_LOOP: number of ops of the body */
    uint32_t sstep, dstep; /* OP_LOOP: bytes from one element to the next, of source and target */
    const struct asf__field *field;
    const void *bytes;
};

/* How one pointer of the native struct is set. */
struct asf__fill {
    const struct asf__slot *slot;   /* in the native struct */
    const struct asf__slot *source; /* in the wire's struct; NULL: the record lacks the field */
    const struct asf__field *field;
    uint32_t part;    /* index of `source` among the slots of the wire's struct */
    uint32_t routine; /* routine for the elements */
    bool first;       /* first fill with this counter: it sets the counter */
    uint64_t most;    /* largest value of the counter */
};

struct asf__code;

/* The conversion of a struct, or of an element of an array. */
struct asf__routine {
    uint16_t wire, native;                    /* indices of the structs, or NONE */
    const struct asf__field *source, *target; /* fields: dynamic arrays of numbers or strings; or NULL */
    uint32_t from, to;                        /* bytes of an element, on the wire and native */
    uint32_t slots;                           /* pointers in an element on the wire */
    bool in_place;                            /* source and target may be the same memory */
    struct asf__op *ops;
    uint32_t ops_count;
    struct asf__fill *fills;
    uint32_t fills_count;
    struct asf__code *code; /* vector code; NULL: the scalar engine runs the ops */
};

struct asf__plan {
    struct asf_record_format *wire, *native;
    bool in_place;                 /* a record may be byte-swapped in its own memory */
    int how;                       /* ASF_RECORD_IN_PLACE, _SWAPPED or _CONVERTED */
    struct asf__routine *routines; /* the first one converts the record's struct */
    uint32_t count, room, ops;
    size_t footprint; /* estimated bytes of memory, including the wire format, because the plan may hold its
                         last reference */
    struct asf_record_receipt receipt;
    size_t absent_room;
    const char **absent;
};

/* asf__plan_make: match two formats.  Returns 0 or an error of asf_record_view. */
int asf__plan_make(struct asf_record_format *wire, struct asf_record_format *native, struct asf__plan **plan);
void asf__plan_free(struct asf__plan *plan);

/* The ends of the memory that a conversion may read and write. */
struct asf__bounds {
    const unsigned char *src_end;
    unsigned char *dst_end;
};

/* --- executing routines ------------------------------------------------------------------------ */

/* asf__translate: translate a routine's ops to r->code, if the engine in use is a vector engine.
 * returns  0; -ENOMEM */
int asf__translate(struct asf__routine *r);
void asf__code_free(struct asf__code *code);

/* asf__convert_elements: convert `count` consecutive elements. */
int asf__convert_elements(const struct asf__routine *r, const unsigned char *src, unsigned char *dst,
                          size_t count, const struct asf__bounds *bounds);

/* --- converting records ------------------------------------------------------------------------ */

/* asf__plan_size: set *end to the offset after the last part of the converted record, if the first part
 * begins at `from`.  Returns 0; -E2BIG if *end exceeds `most`; or another error of the conversion. */
int asf__plan_size(const struct asf__plan *plan, const struct asf__parts *parts, size_t from, size_t most,
                   size_t *end);

/* asf__plan_swap_in_place: convert a checked record in its own memory, if plan->in_place is set.  Afterwards
 * it is a record of the native format with the same parts.  Returns false, and changes nothing, if two parts
 * overlap. */
bool asf__plan_swap_in_place(const struct asf__plan *plan, unsigned char *record, size_t length,
                             const struct asf__parts *parts);

/* asf__plan_convert: convert a checked record.
 *   root      the native struct
 *   block     memory for the parts; it begins with the struct, unless `pointers` is set
 *   pointers  store addresses in the pointers, not offsets in the block
 * returns  as asf__plan_size; after -E2BIG the target is incomplete */
struct asf__target {
    unsigned char *root;
    unsigned char *block;
    size_t from; /* offset of the first part in the block */
    size_t room; /* size of the block in bytes */
    bool pointers;
};
int asf__plan_convert(const struct asf__plan *plan, const unsigned char *record, size_t length,
                      const struct asf__parts *parts, const struct asf__target *target);

#pragma GCC visibility pop

#endif
