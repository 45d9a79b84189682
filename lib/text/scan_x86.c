/* SPDX-License-Identifier: MIT
 *
 * scan_x86.c - the scanning kernels that an x86-64 CPU has.
 */
#include <sys/platform/x86.h>

#include "lib/text/scan_kernels.h"

const struct asf_scan_table *const asf__scan_all[] = {&asf__scan_scalar, &asf__scan_sse2, &asf__scan_avx2,
                                                      &asf__scan_avx512, NULL};
enum { SCALAR, SSE2, AVX2, AVX512 };

/* Asks libc, which asked the CPU and the kernel at its start: in a virtual machine each cpuid instruction
 * costs microseconds. */
bool asf__scan_has(int which) {
    bool bits = CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(BMI2) && CPU_FEATURE_ACTIVE(POPCNT) &&
                CPU_FEATURE_ACTIVE(LZCNT);
    if (which == AVX2)
        return bits && CPU_FEATURE_ACTIVE(AVX2);
    if (which == AVX512)
        return bits && CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW);
    return true;
}

/* Excludes AVX-512 without VBMI: the first CPUs with AVX-512 run more slowly for a while after such
 * instructions, and scanning, which memory limits, would not win that back. */
int asf__scan_best(void) {
    if (asf__scan_has(AVX512) && CPU_FEATURE_ACTIVE(AVX512_VBMI))
        return AVX512;
    return asf__scan_has(AVX2) ? AVX2 : SSE2;
}
