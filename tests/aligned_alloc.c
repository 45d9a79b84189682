/* SPDX-License-Identifier: MIT
 *
 * aligned_alloc.c - preloaded with a sanitizer's runtime, whose
 * aligned_alloc refuses what glibc's takes: a size that is no multiple of the
 * alignment, as coreutils ask for.
 */
#include <malloc.h>
#include <stdlib.h>

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}
