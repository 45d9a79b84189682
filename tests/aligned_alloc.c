/* SPDX-License-Identifier: MIT
 *
 * aligned_alloc.c - is preloaded together with a sanitizer's runtime. The runtime's aligned_alloc rejects
 * a size that is not a multiple of the alignment; glibc's accepts it, and coreutils use such sizes.
 */
#include <malloc.h>
#include <stdlib.h>

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}
