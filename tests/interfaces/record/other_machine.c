/* SPDX-License-Identifier: MIT
 *
 * other_machine.c - stubs for programs for other machines, for which the libraries are not available.
 * These programs use no store and check no hash.
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
