/* SPDX-License-Identifier: MIT
 *
 * fields.c - the fields of a line: returns the ends of fields in 64 bytes as bits, for the inline functions
 * of <asf/lines.h>.
 */
#include <asf/lines.h>

#include "lib/text/scan_kernels.h"

uint64_t asf_fields_ends(const char *text, size_t n, int separator) {
    return asf__scan()->ends(text, n, separator);
}
