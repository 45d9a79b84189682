/* SPDX-License-Identifier: MIT
 *
 * other_machine.c - what the record interface needs in programs for other
 * machines, for which libraries are not at hand: no store is used there, and no
 * hash is looked at.
 */
#include <string.h>

#include <asf/record_store.h>

#include "interfaces/record/record_format.h"

int asf_record_store_put(struct asf_record_store *store, struct asf_record_format *f) {
    return store && f ? -1 : 0;
}

void asf__hash(const void *description, size_t length, unsigned char hash[16]) {
    (void)description;
    (void)length;
    memset(hash, 0, 16);
}
