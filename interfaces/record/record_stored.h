/* SPDX-License-Identifier: MIT
 *
 * record_stored.h - a format store as writers and readers see it.
 */
#ifndef ASF_INTERFACES_RECORD_STORED_H
#define ASF_INTERFACES_RECORD_STORED_H

#include <asf/record_store.h>

#include "interfaces/record/record_format.h"

/* Its contract for programs is <asf/record_store.h>. */

#pragma GCC visibility push(hidden)

/* asf__load_format: the format of a hash, with a user more. */
int asf__load_format(struct asf_record_store *store, const unsigned char hash[16],
                     struct asf_record_format **f);

#pragma GCC visibility pop

#endif
