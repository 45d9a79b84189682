/* SPDX-License-Identifier: MIT
 *
 * record_check.h - a record from outside, checked against its format; whoever
 * converts it later uses what was found here and reads no offset and no count
 * of the record again.
 */
#ifndef ASF_RECORD_CHECK_H
#define ASF_RECORD_CHECK_H

#include "interfaces/record/record_format.h"

#pragma GCC visibility push(hidden)

/* What a slot refers to.  The parts of the record's own slots come first, in
 * the order of its struct's; those of each array's elements stand together. */
struct asf__part {
    uint64_t at;    /* 0: nothing */
    uint64_t count; /* elements; of a string its bytes and the null */
    uint64_t child; /* the first part of the first element */
};

struct asf__parts {
    struct asf__part *all;
    size_t count, room;
};

/* asf__check_record: a record of `length` bytes; `parts` has what its slots refer to. */
int asf__check_record(const struct asf_record_format *f, const unsigned char *record, size_t length,
                      struct asf__parts *parts);

/* asf__slots_of: how many slots each element has that a slot refers to. */
static inline uint32_t asf__slots_of(const struct asf_record_format *f, const struct asf__slot *slot) {
    return slot->strings ? 1 : slot->sub == NONE ? 0 : f->structs[slot->sub].slots_count;
}

#pragma GCC visibility pop

#endif
