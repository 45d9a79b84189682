/* SPDX-License-Identifier: MIT
 *
 * record_reader.h - the reader and its current record.
 */
#ifndef ASF_RECORD_READER_H
#define ASF_RECORD_READER_H

#include "interfaces/record/record_frame.h"
#include "interfaces/record/record_plan.h"

#pragma GCC visibility push(hidden)

struct asf_record {
    struct asf_record_reader *reader;
    struct asf_record_format *format;
    const unsigned char *data;
    size_t length;
    struct asf__parts parts;
    bool handed_over; /* the reader may write to the message */
};

struct asf_record_reader {
    struct asf_cios *stream;
    struct asf_record_options options; /* with defaults in place of zeros */
    void *region;                      /* region of the stream that contains the current record */

    struct asf_record_format **formats; /* indexed by token */
    size_t formats_count, formats_room;
    size_t formats_memory;              /* bytes of memory of the current formats */
    uint64_t formats_total, bytes_read; /* bytes of memory of all formats ever read, even if freed; bytes of
                                           the stream that were read */
    struct asf_record_format **hashed;  /* formats loaded from the store */
    size_t hashed_count;

    struct asf__plan **plans;
    size_t plans_count, next_plan;
    size_t plans_memory;
    struct asf__plan *last;

    struct asf_record record;
    unsigned char *converted; /* buffer for records that asf_record_view converts */
    size_t converted_room;

    struct asf__offsets records; /* offsets of all record frames, once indexed */
    uint64_t records_end;        /* offset after the last record */
    bool indexed;
};

/* asf__free_plans: free the plans that asf_record_view and others have kept. */
void asf__free_plans(struct asf_record_reader *r);

#pragma GCC visibility pop

#endif
