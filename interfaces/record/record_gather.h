/* SPDX-License-Identifier: MIT
 *
 * record_gather.h - a struct with pointers, and what they point to, as a record.
 * Layer: interfaces/record.  May include: lib, include/asf.
 */
#ifndef ASF_RECORD_GATHER_H
#define ASF_RECORD_GATHER_H

#include "interfaces/record/record_format.h"

#pragma GCC visibility push(hidden)

/* asf__gather_size: bytes of the record. */
int asf__gather_size(const struct asf_record_format *f, const void *data, size_t *size);

/* asf__gather_fields: the record, into room for so many bytes. */
int asf__gather_fields(const struct asf_record_format *f, const void *data, unsigned char *record,
                       size_t size);

#pragma GCC visibility pop

#endif
