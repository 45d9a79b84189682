/* SPDX-License-Identifier: MIT
 *
 * record_check.h - checks a received record against its format.  The check stores the offsets and counts that
 * it has found valid.  Conversions use these and never read them from the record again, since it may change.
 */
#ifndef ASF_RECORD_CHECK_H
#define ASF_RECORD_CHECK_H

#include "interfaces/record/record_format.h"

#pragma GCC visibility push(hidden)

/* The data that a pointer refers to.  The parts of the record's own pointers come first, in order of the
 * struct's slots.  The parts of an array's elements are consecutive. */
struct asf__part {
    uint64_t at;    /* offset in the record; 0: a null pointer */
    uint64_t count; /* elements; for a string, its bytes including the null */
    uint64_t child; /* index of the first part of the first element */
};

struct asf__parts {
    struct asf__part *all;
    size_t count, room;
};

/* asf__check_record: check a record of `length` bytes, and set `parts`.  Returns 0, -EBADMSG or -ENOMEM. */
int asf__check_record(const struct asf_record_format *f, const unsigned char *record, size_t length,
                      struct asf__parts *parts);

/* asf__slots_of: the number of pointers in each element that a slot refers to. */
static inline uint32_t asf__slots_of(const struct asf_record_format *f, const struct asf__slot *slot) {
    return slot->strings ? 1 : slot->sub == NONE ? 0 : f->structs[slot->sub].slots_count;
}

#pragma GCC visibility pop

#endif
