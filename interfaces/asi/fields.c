/* SPDX-License-Identifier: MIT
 *
 * fields.c - the fields of a line: their ends in each 64 bytes as bits, which <asf/lines.h>
 * walks through in line.
 */
#include <asf/lines.h>

#include "lib/text/scan_kernels.h"

uint64_t asf_fields_ends(const char *text, size_t n, int separator) {
    return asf__scan()->ends(text, n, separator);
}
