/* SPDX-License-Identifier: MIT
 *
 * record_plan.h - how the records of one format become those of another.
 *
 * Matching two formats by name gives moves: what to do to get each byte of the
 * native struct, in the order of the native struct.  An engine carries them
 * out, as they are (scalar) or after making vector code of them: most moves
 * only put bytes elsewhere, and sixteen of them at once are a load, a shuffle
 * and a store.  What a record's slots refer to is converted part by part.
 */
#ifndef ASF_RECORD_PLAN_H
#define ASF_RECORD_PLAN_H

#include "interfaces/record/record_check.h"

#pragma GCC visibility push(hidden)

/* A small record is converted in some three hundred instructions: what only few
 * records need is kept out of the functions that all of them pass. */
#define SELDOM __attribute__((noinline))
#define OFTEN  static inline __attribute__((always_inline))

enum { MOVES_MOST = 64 * 1024, ROUTINES_MOST = 4096 };

enum asf__op {
    MOVE_COPY,   /* bytes as they are; so and the next three only put bytes somewhere */
    MOVE_SWAP,   /* numbers of one size, their bytes turned round */
    MOVE_EXTEND, /* unsigned numbers widened */
    MOVE_ZERO,
    MOVE_FIXED,  /* bytes of the plan: a fallback */
    MOVE_SIGNED, /* signed numbers widened */
    MOVE_NARROW, /* numbers that might not fit */
    MOVE_FLOAT,  /* floats of another size */
    MOVE_FROM_INT,
    MOVE_TO_INT,
    MOVE_LOOP, /* an array of structs: the moves that follow, for each */
};

struct asf__move {
    uint8_t op;
    uint8_t from, to; /* bytes of an element */
    bool swap;        /* the source is in the other byte order */
    bool from_signed, to_signed;
    uint32_t src, dst;
    uint32_t count;
    uint32_t body;         /* of a loop: how many moves */
    uint32_t sstep, dstep; /* of a loop: bytes from one element to the next */
    const struct asf__field *field;
    const void *bytes;
};

/* How one slot of the native struct is filled. */
struct asf__fill {
    const struct asf__slot *slot;   /* the native one */
    const struct asf__slot *source; /* the wire's, or NULL: the field is missing */
    const struct asf__field *field;
    uint32_t part;    /* the wire slot's number */
    uint32_t routine; /* for the elements */
    bool first;       /* of those that share a counter */
    uint64_t most;    /* elements that the counter can tell */
};

struct asf__code;
struct asf__engine;
struct asf__run;

/* Carries out `n` iterations of a run of shuffles.
 * returns  0, so that it can be called last by what returns a code */
typedef int asf__runner(const struct asf__run *run, const unsigned char *src, unsigned char *dst, size_t n);

/* How an element, or the record itself, is converted. */
struct asf__routine {
    uint16_t wire, native;                    /* structs, or NONE */
    const struct asf__field *source, *target; /* or the elements of two dynamic arrays */
    uint32_t from, to;                        /* bytes of one */
    uint32_t slots;                           /* of one on the wire */
    bool turns;                               /* the engine's code may find source and target to be one */
    struct asf__move *moves;
    uint32_t moves_count;
    struct asf__fill *fills;
    uint32_t fills_count;
    struct asf__code *code; /* the engine's */
};

struct asf__plan {
    struct asf_record_format *wire, *native;
    bool same_layout; /* but for the byte order */
    bool turns;       /* a record may be converted where it lies */
    int obtained;     /* how a record is: IN_PLACE, SWAPPED or CONVERTED */
    const struct asf__engine *engine;
    struct asf__routine *routines; /* the first is the record's */
    uint32_t count, room, moves;
    size_t footprint; /* bytes, about, with the wire format's, which may have no other user */
    struct asf_record_receipt receipt;
    size_t absent_room;
    const char **absent;
};

/* asf__plan_make: match two formats. */
int asf__plan_make(struct asf_record_format *wire, struct asf_record_format *native, struct asf__plan **plan);
void asf__plan_free(struct asf__plan *plan);

/* asf__match_moves: the moves of one struct or element.  asf__match_fills: its
 * slots. */
int asf__match_moves(struct asf__plan *plan, uint32_t routine);
int asf__match_leaf(struct asf__plan *plan, uint32_t routine, const struct asf__field *wire,
                    const struct asf__field *native);
int asf__match_fills(struct asf__plan *plan, uint32_t routine);

/* asf__routine_for: the number of the routine for the elements of two dynamic arrays. */
int asf__routine_for(struct asf__plan *plan, const struct asf__field *wire, const struct asf__field *native,
                     uint32_t *number);

/* Where a conversion may read and write. */
struct asf__bounds {
    const unsigned char *src_end;
    unsigned char *dst_end;
};

/* --- engines ----------------------------------------------------------------------- */

struct asf__engine {
    const char *name;
    bool (*available)(void);
    /* prepare: make code of a routine's moves; may leave it NULL.  NULL: none. */
    int (*prepare)(const struct asf__engine *engine, struct asf__routine *r);
    /* convert: `count` elements that follow one another. */
    int (*convert)(const struct asf__routine *r, const unsigned char *src, unsigned char *dst, size_t count,
                   const struct asf__bounds *bounds);
    void (*discard)(struct asf__code *code);
    /* Of a vector engine: bytes of its widest vector, and which of its loops
     * carries out a run. */
    unsigned width;
    asf__runner *(*pick)(const struct asf__run *run);
};

/* asf__engine_now: the one in use. */
const struct asf__engine *asf__engine_now(void);

/* asf__do_move: carry out one move, that of one element. */
int asf__do_move(const struct asf__move *m, const unsigned char *src, unsigned char *dst);

/* asf__do_moves: carry out some. */
int asf__do_moves(const struct asf__move *moves, uint32_t count, const unsigned char *src,
                  unsigned char *dst);

/* --- converting records ----------------------------------------------------------------- */

/* asf__plan_size: where the parts of a converted record end that start at `from`. */
int asf__plan_size(const struct asf__plan *plan, const struct asf__parts *parts, size_t from, size_t most,
                   size_t *end);

/* asf__plan_turn: a record that has been checked, where it lies, by a plan that
 * turns; afterwards it is one of the native format, with the same parts.
 * returns  false: two of its parts overlap; nothing is done */
bool asf__plan_turn(const struct asf__plan *plan, unsigned char *record, size_t length,
                    const struct asf__parts *parts);

/* asf__plan_convert: a record that has been checked.
 *   root    the native struct
 *   block   where its parts go, behind the struct or, with pointers, elsewhere
 * returns  as asf__plan_size; -E2BIG with a part of it done */
struct asf__target {
    unsigned char *root;
    unsigned char *block;
    size_t from; /* the first part's place in the block */
    size_t room; /* bytes of the block at most */
    bool pointers;
};
int asf__plan_convert(const struct asf__plan *plan, const unsigned char *record, size_t length,
                      const struct asf__parts *parts, const struct asf__target *target);

#pragma GCC visibility pop

#endif
