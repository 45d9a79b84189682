/* SPDX-License-Identifier: MIT
 *
 * scan_kernels.h - the table of scanning functions that each instruction set
 * fills; include/asf/scan.h says what they do.
 * Layer: lib.  May include: lib, include/asf.
 */
#ifndef ASF_LIB_SCAN_KERNELS_H
#define ASF_LIB_SCAN_KERNELS_H

#include <asf/scan.h>

struct asf_scan_table {
    const char *name;
    size_t (*count)(const void *s, int c, size_t n);
    void *(*find)(const void *s, int c, size_t n);
    void *(*rfind)(const void *s, int c, size_t n);
    size_t (*differ)(const void *a, const void *b, size_t n);
    size_t (*ascii)(const void *s, size_t n);
    void (*words)(struct asf_scan_counts *counts, const void *s, size_t n);
    void (*masks)(const void *s, size_t n, int a, int b, uint64_t *at_a, uint64_t *at_b);
};

extern const struct asf_scan_table asf__scan_scalar;
extern const struct asf_scan_table asf__scan_sse2;
extern const struct asf_scan_table asf__scan_avx2;
extern const struct asf_scan_table asf__scan_avx512;

#endif
