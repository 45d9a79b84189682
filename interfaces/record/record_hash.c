/* SPDX-License-Identifier: MIT
 *
 * record_hash.c - the hash that identifies a format: the first 128 bits of SHA-256, computed by nettle.
 */
#include <nettle/sha2.h>

#include "interfaces/record/record_format.h"

void asf__hash(const void *data, size_t length, unsigned char hash[16]) {
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, length, data);
    sha256_digest(&context, 16, hash);
}
