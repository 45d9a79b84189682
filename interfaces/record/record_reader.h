/* SPDX-License-Identifier: MIT
 *
 * record_reader.h - the reader and its record, as the files that read have them.
 */
#ifndef ASF_RECORD_READER_H
#define ASF_RECORD_READER_H

#include "interfaces/record/record_frame.h"
#include "interfaces/record/record_index.h"
#include "interfaces/record/record_plan.h"

#pragma GCC visibility push(hidden)

struct asf_record {
    struct asf_record_reader *reader;
    struct asf_record_format *format;
    const unsigned char *data;
    size_t length;
    struct asf__parts parts;
    bool handed_over; /* the message may be written to */
};

struct asf_record_reader {
    struct asf_cios *stream;
    struct asf_record_options options; /* with the limits that were left out */
    void *region;                      /* of the stream, held for the record */

    struct asf_record_format **formats; /* by token */
    size_t formats_count, formats_room;
    size_t formats_memory;             /* of these */
    uint64_t made, taken;              /* bytes of all formats so far, forgotten ones too; of the stream */
    struct asf_record_format **hashed; /* from the store */
    size_t hashed_count;

    struct asf__plan **plans;
    size_t plans_count, next_plan;
    size_t plans_memory;
    struct asf__plan *last;

    struct asf_record record;
    unsigned char *converted; /* room for what asf_record_view converts */
    size_t converted_room;

    struct asf__places records; /* where they start, once asked for */
    uint64_t behind;            /* the last of them */
    bool indexed;
};

/* asf__reader_release: the record is no longer used. */
void asf__reader_release(struct asf_record_reader *r);

/* asf__reader_frame: the next head, and its payload as a region, held until
 * asf__reader_release.
 * returns  1; 0 at the end. */
int asf__reader_frame(struct asf_record_reader *r, struct asf__frame *frame, const unsigned char **payload);

/* asf__reader_format: take a FORMAT frame. */
int asf__reader_format(struct asf_record_reader *r, const struct asf__frame *frame,
                       const unsigned char *payload);

/* asf__drop_plan: free the oldest of the plans, which stand in a circle. */
void asf__drop_plan(struct asf_record_reader *r);

/* asf__reader_start: forget the formats of the stream. */
void asf__reader_start(struct asf_record_reader *r);

#pragma GCC visibility pop

#endif
