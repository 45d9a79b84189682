/* SPDX-License-Identifier: MIT
 *
 * scan_kernels.h - the table of scanning functions, of which each instruction set has its own;
 * include/asf/scan.h documents them.
 */
#ifndef ASF_LIB_SCAN_KERNELS_H
#define ASF_LIB_SCAN_KERNELS_H

#include <asf/scan.h>
#include <stdbool.h>

/* Limits of `places`: offsets found in a call, and bytes searched. */
enum { ASF_SCAN_PLACES = 512, ASF_SCAN_PLACES_BYTES = 1 << 16 };

struct asf_scan_table {
    const char *name;
    size_t (*count)(const void *s, int c, size_t n);
    void *(*find)(const void *s, int c, size_t n);
    void *(*rfind)(const void *s, int c, size_t n);
    size_t (*differ)(const void *a, const void *b, size_t n);
    size_t (*ascii)(const void *s, size_t n);
    void (*words)(struct asf_scan_counts *counts, const void *s, size_t n);
    void (*masks)(const void *s, size_t n, int a, int b, uint64_t *at_a, uint64_t *at_b);
    /* ends: a bit for each `c` in the first 64 bytes, and for the end of the n bytes if they include it. */
    uint64_t (*ends)(const void *s, size_t n, int c);
    /* places: the offsets of `c`, ascending, as many as fit.
     *   n   in: bytes, ASF_SCAN_PLACES_BYTES at most.  out: bytes searched
     *   at  ASF_SCAN_PLACES elements; those after the last offset are overwritten, too
     * returns  the number of offsets. */
    size_t (*places)(const void *s, size_t *n, int c, uint16_t *at);
};

#pragma GCC visibility push(hidden)

extern const struct asf_scan_table asf__scan_scalar, asf__scan_sse2, asf__scan_avx2, asf__scan_avx512;
extern const struct asf_scan_table asf__scan_neon;

/* asf__scan_all: the kernels for this machine, from the simplest to the widest, then NULL.
 * asf__scan_has: whether the CPU has a kernel's instructions.  asf__scan_best: the best kernel that it
 * has. */
extern const struct asf_scan_table *const asf__scan_all[];
bool asf__scan_has(int which);
int asf__scan_best(void);

/* The kernels in use; NULL until asf__scan_choose first chooses them. */
extern const struct asf_scan_table *asf__scan_chosen;
const struct asf_scan_table *asf__scan_choose(void);

static inline const struct asf_scan_table *asf__scan(void) {
    const struct asf_scan_table *now = __atomic_load_n(&asf__scan_chosen, __ATOMIC_RELAXED);
    return __builtin_expect(now != NULL, 1) ? now : asf__scan_choose();
}

#pragma GCC visibility pop

#endif
