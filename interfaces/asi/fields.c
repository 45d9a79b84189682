/* SPDX-License-Identifier: MIT
 *
 * fields.c - the fields of a line: their ends in each 64 bytes as bits.
 * Layer: interfaces.  May include: lib, include/asf.
 */
#include <asf/lines.h>

#include "lib/text/scan_kernels.h"

/* The separators in the 64 bytes from `block` on, and the end of the text as one. */
static inline void find_ends(struct asf_fields *f, size_t block) {
    size_t n = f->length - block;
    f->block = block;
    f->ends = asf__scan()->mask(f->text + block, n < 64 ? n : 64, f->separator);
    if (n < 64)
        f->ends |= (uint64_t)1 << n;
}

void asf_fields_begin(struct asf_fields *f, const char *text, ssize_t length, int separator) {
    f->text = text ? text : "";
    f->length = (size_t)length;
    f->next = 0;
    f->separator = separator;
    find_ends(f, 0);
}

const char *asf_fields_more(struct asf_fields *f, ssize_t *length) {
    *length = -1;
    if (f->next > f->length)
        return NULL;
    while (f->ends == 0)
        find_ends(f, f->block + 64);
    return asf_fields_next(f, length);
}
