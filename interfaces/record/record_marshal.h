/* SPDX-License-Identifier: MIT
 *
 * record_marshal.h - makes a record of a struct and the data that its pointers refer to.
 */
#ifndef ASF_RECORD_MARSHAL_H
#define ASF_RECORD_MARSHAL_H

#include <sys/uio.h>

#include "interfaces/record/record_format.h"

#pragma GCC visibility push(hidden)

/* asf__marshal_size: set *size to the bytes of the record. */
int asf__marshal_size(const struct asf_record_format *f, const void *data, size_t *size);

/* asf__marshal: write the record into `size` bytes. */
int asf__marshal(const struct asf_record_format *f, const void *data, unsigned char *record, size_t size);

/* A record as a list of chunks: copied bytes, from `start` on, and strings and arrays that are referenced,
 * not copied. */
struct asf__chunks {
    struct iovec *all;
    size_t count, most;
    unsigned char *start, *end; /* the chunk being filled, and the end of its memory */
};

/* asf__marshal_chunks: write the record's copied bytes to `record`, with zeros after its end up to `padded`
 * bytes, and list the chunks.  -E2BIG: the memory is too small, or chunks->most is 0. */
int asf__marshal_chunks(const struct asf_record_format *f, const void *data, unsigned char *record,
                        size_t size, size_t padded, struct asf__chunks *chunks);

#pragma GCC visibility pop

#endif
