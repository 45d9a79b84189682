/* SPDX-License-Identifier: MIT
 *
 * record_stored.h - format stores, for writers and readers.
 */
#ifndef ASF_INTERFACES_RECORD_STORED_H
#define ASF_INTERFACES_RECORD_STORED_H

#include <asf/record_store.h>

#include "interfaces/record/record_format.h"

/* <asf/record_store.h> documents stores for programs. */

#pragma GCC visibility push(hidden)

/* asf__load_format: set *f to the format with this hash; the caller owns a reference.  -ENOENT: `store` is
 * NULL, or lacks it. */
int asf__load_format(struct asf_record_store *store, const unsigned char hash[16],
                     struct asf_record_format **f);

#pragma GCC visibility pop

#endif
