/* SPDX-License-Identifier: MIT
 *
 * record_gather.h - a struct with pointers, and what they point to, as a record.
 */
#ifndef ASF_RECORD_GATHER_H
#define ASF_RECORD_GATHER_H

#include <sys/uio.h>

#include "interfaces/record/record_format.h"

#pragma GCC visibility push(hidden)

/* asf__gather_size: bytes of the record. */
int asf__gather_size(const struct asf_record_format *f, const void *data, size_t *size);

/* asf__gather_fields: the record, into room for so many bytes. */
int asf__gather_fields(const struct asf_record_format *f, const void *data, unsigned char *record,
                       size_t size);

/* A record in pieces: what is copied, from `start` on, and arrays that stay
 * where they are. */
struct asf__pieces {
    struct iovec *all;
    size_t count, most;
    unsigned char *start, *end; /* of the piece that is being filled, and of its room */
};

/* asf__gather_pieces: the record to `record`, and zeros behind it up to `padded`
 * bytes; -E2BIG: there is no room, or not one piece. */
int asf__gather_pieces(const struct asf_record_format *f, const void *data, unsigned char *record,
                       size_t size, size_t padded, struct asf__pieces *pieces);

#pragma GCC visibility pop

#endif
