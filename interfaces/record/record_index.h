/* SPDX-License-Identifier: MIT
 *
 * record_index.h - the index of a file: offsets of its formats and records.
 */
#ifndef ASF_RECORD_INDEX_H
#define ASF_RECORD_INDEX_H

#include "interfaces/record/record_frame.h"

#pragma GCC visibility push(hidden)

struct asf__offsets {
    uint64_t *all;
    size_t count, room;
};

/* The formats and records since the last INDEX frame. */
struct asf__index {
    struct asf__offsets formats, records;
    uint64_t first;    /* number of the first record */
    uint64_t previous; /* offset of the last INDEX frame, or 0 */
};

enum { INDEX_RECORDS = 64 * 1024 }; /* records of one INDEX frame, at most */

/* asf__offsets_add: append an offset.  Returns 0 or -ENOMEM. */
int asf__offsets_add(struct asf__offsets *offsets, uint64_t at);

void asf__index_free(struct asf__index *index);

/* asf__index_payload: make the payload of an INDEX frame; the caller frees it.  NULL: no memory. */
unsigned char *asf__index_payload(const struct asf__index *index, size_t *length);

/* asf__index_written: begin the next INDEX frame, after one was written at offset `at`. */
void asf__index_written(struct asf__index *index, uint64_t at);

/* asf__index_parse: read the payload of an INDEX frame.  The caller must check the offsets. */
int asf__index_parse(struct asf__index *index, const unsigned char *payload, size_t length);

#pragma GCC visibility pop

#endif
