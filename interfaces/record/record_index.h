/* SPDX-License-Identifier: MIT
 *
 * record_index.h - where the formats and records of a file start.
 */
#ifndef ASF_RECORD_INDEX_H
#define ASF_RECORD_INDEX_H

#include "interfaces/record/record_frame.h"

#pragma GCC visibility push(hidden)

struct asf__places {
    uint64_t *all;
    size_t count, room;
};

/* What has come since the last INDEX frame. */
struct asf__index {
    struct asf__places formats, records;
    uint64_t first;    /* the number of the first record */
    uint64_t previous; /* where the last INDEX frame starts, or 0 */
};

enum { INDEX_RECORDS = 64 * 1024 }; /* records of one INDEX frame */

/* asf__places_add: one more place; -ENOMEM. */
int asf__places_add(struct asf__places *places, uint64_t at);

void asf__index_free(struct asf__index *index);

/* asf__index_payload: of the INDEX frame; the caller frees it. */
unsigned char *asf__index_payload(const struct asf__index *index, size_t *length);

/* asf__index_written: the INDEX frame at this place has them. */
void asf__index_written(struct asf__index *index, uint64_t at);

/* asf__index_parse: an INDEX frame's payload; the places are still to be
 * looked at. */
int asf__index_parse(struct asf__index *index, const unsigned char *payload, size_t length);

#pragma GCC visibility pop

#endif
