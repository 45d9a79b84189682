/* SPDX-License-Identifier: MIT
 *
 * sha256.h - SHA-256 of FIPS 180-4, for what is told apart by its contents.
 * Layer: lib.  May include: nothing.
 */
#ifndef ASF_LIB_SHA256_H
#define ASF_LIB_SHA256_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* asf__sha256: of n bytes. */
void asf__sha256(const void *data, size_t n, unsigned char digest[32]);

#pragma GCC visibility pop

#endif
