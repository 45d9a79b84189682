/* SPDX-License-Identifier: MIT
 *
 * scan.c - chooses the scanning kernels, once, at the first use: no program
 * that never scans pays for them at its start.
 * Layer: lib.  May include: lib, include/asf.
 */
#include <asf/scan.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/platform/x86.h>

#include "lib/sys/syscalls.h"
#include "lib/text/scan_kernels.h"

/* From the simplest to the widest, as asf_scan_kernels says. */
static const struct asf_scan_table *const all[] = {&asf__scan_scalar, &asf__scan_sse2, &asf__scan_avx2,
                                                   &asf__scan_avx512};
enum { SCALAR, SSE2, AVX2, AVX512, KERNELS };

const struct asf_scan_table *asf__scan_chosen;

/* Asked of libc, which asked the CPU and the kernel at its start: in a virtual
 * machine each cpuid instruction costs microseconds. */
static bool supported(int which) {
    bool bits = CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(BMI2) && CPU_FEATURE_ACTIVE(POPCNT) &&
                CPU_FEATURE_ACTIVE(LZCNT);
    if (which == AVX2)
        return bits && CPU_FEATURE_ACTIVE(AVX2);
    if (which == AVX512)
        return bits && CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW);
    return true;
}

/* The first CPUs with AVX-512, those without VBMI, slow down as a whole for a
 * while when they meet it; scanning is bound by memory and would not pay. */
static int best(void) {
    if (supported(AVX512) && CPU_FEATURE_ACTIVE(AVX512_VBMI))
        return AVX512;
    return supported(AVX2) ? AVX2 : SSE2;
}

/* The index of a name, or -EINVAL, or -ENOTSUP. */
static int named(const char *name) {
    for (int i = 0; i < KERNELS; i++)
        if (strcmp(all[i]->name, name) == 0)
            return supported(i) ? i : -ENOTSUP;
    return -EINVAL;
}

static void complain(const char *name, int error) {
    const char *why = error == -EINVAL ? "unknown, one of scalar, sse2, avx2, avx512 is expected"
                                       : "this CPU does not have it";
    const char *const parts[] = {"asf: ASF_SCAN=", name, ": ", why, "; using ", all[best()]->name, "\n"};
    char line[200];
    size_t at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *p = parts[i]; *p && p - parts[i] < 64 && at < sizeof line; p++)
            line[at++] = *p;
    asf__sys.write(2, line, at);
}

/* Several threads may come here at once: they choose the same, one tells. */
const struct asf_scan_table *asf__scan_choose(void) {
    const char *name = secure_getenv("ASF_SCAN");
    int which = name && *name ? named(name) : best();
    const struct asf_scan_table *before = NULL;
    const struct asf_scan_table *now = all[which < 0 ? best() : which];
    if (!__atomic_compare_exchange_n(&asf__scan_chosen, &before, now, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return before;
    if (which < 0)
        complain(name, which);
    return now;
}

const char *const *asf_scan_kernels(void) {
    static const char *const names[] = {"scalar", "sse2", "avx2", "avx512", NULL};
    return names;
}

const char *asf_scan_kernel(void) {
    return asf__scan()->name;
}

int asf_scan_use(const char *name) {
    int which = name ? named(name) : best();
    if (which < 0)
        return which;
    __atomic_store_n(&asf__scan_chosen, all[which], __ATOMIC_RELAXED);
    return 0;
}

size_t asf_scan_count(const void *s, int c, size_t n) {
    return asf__scan()->count(s, c, n);
}

void *asf_scan_find(const void *s, int c, size_t n) {
    return asf__scan()->find(s, c, n);
}

void *asf_scan_rfind(const void *s, int c, size_t n) {
    return asf__scan()->rfind(s, c, n);
}

size_t asf_scan_differ(const void *a, const void *b, size_t n) {
    return asf__scan()->differ(a, b, n);
}

size_t asf_scan_ascii(const void *s, size_t n) {
    return asf__scan()->ascii(s, n);
}

void asf_scan_words(struct asf_scan_counts *counts, const void *s, size_t n) {
    asf__scan()->words(counts, s, n);
}

void asf_scan_masks(const void *s, size_t n, int a, int b, uint64_t *at_a, uint64_t *at_b) {
    asf__scan()->masks(s, n, a, b, at_a, at_b);
}
