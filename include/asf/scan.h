/* SPDX-License-Identifier: MIT
 *
 * scan.h - scanning kernels: the searches and counts that filters do on the bytes of a region.
 *
 * A region from salloc is scanned in place.  These functions use the widest instructions that the CPU
 * has: AVX-512BW, AVX2 or SSE2 on x86-64, NEON on AArch64, or none ("scalar").  The kernels are chosen
 * at the first call.  The environment variable ASF_SCAN=scalar|sse2|avx2|avx512|neon forces them,
 * except in set-uid programs; for a name that is unknown or that this CPU lacks, an error is printed
 * on stderr and the best kernels are used.
 *
 * All functions take any address and any length, read no byte outside [s, s + n) and never fail; s may
 * be NULL when n is 0.
 * errors   none, and errno is not changed
 * lock     none: they may be called from any thread and from signal handlers
 * source   extensions; the byte classes are those of the C locale
 */
#ifndef ASF_SCAN_H
#define ASF_SCAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ASF_EXPORT
#define ASF_EXPORT __attribute__((visibility("default")))
#endif

/* asf_scan_count: how often the byte `c` occurs.
 *   c        converted to unsigned char, as for memchr
 * returns  the number of occurrences, 0 to n. */
ASF_EXPORT size_t asf_scan_count(const void *s, int c, size_t n);

/* asf_scan_find, asf_scan_rfind: the first and the last byte `c`.
 * returns  a pointer to it, or NULL: as memchr and memrchr. */
ASF_EXPORT void *asf_scan_find(const void *s, int c, size_t n);
ASF_EXPORT void *asf_scan_rfind(const void *s, int c, size_t n);

/* asf_scan_differ: compare two blocks.
 * returns  the offset of the first byte that differs, or n. */
ASF_EXPORT size_t asf_scan_differ(const void *a, const void *b, size_t n);

/* asf_scan_ascii: the length of a block's ASCII beginning.
 * returns  the offset of the first byte above 0x7f, or n. */
ASF_EXPORT size_t asf_scan_ascii(const void *s, size_t n);

/* asf_scan_words: count lines and words as POSIX's wc does in the C locale.  A word is a run of bytes
 * other than white space (0x09 to 0x0d and 0x20): "a\001b" is one word, and so are "\001" and "\200".
 * (GNU's wc before 9.5 does not count words without a graphic byte.)
 *   counts   added to.  Set it to zero before the first block; in_word then
 *            continues a word from block to block. */
struct asf_scan_counts {
    uint64_t lines; /* newlines */
    uint64_t words; /* words that have started */
    int in_word;    /* whether the last byte is in a word */
};
ASF_EXPORT void asf_scan_words(struct asf_scan_counts *counts, const void *s, size_t n);

/* ASF_SCAN_MASKS: the number of 64-bit masks for n bytes. */
#define ASF_SCAN_MASKS(n) (((size_t)(n) + 63) / 64)

/* asf_scan_masks: find two bytes, as bit masks.
 *   a, b     the bytes to look for; they may be equal
 *   at_a     ASF_SCAN_MASKS(n) masks: bit i of mask k is set when byte
 *            64 * k + i is `a`; bits beyond n are 0
 *   at_b     the same for `b`
 * To visit the bits, use __builtin_ctzll(mask) and mask &= mask - 1. */
ASF_EXPORT void asf_scan_masks(const void *s, size_t n, int a, int b, uint64_t *at_a, uint64_t *at_b);

/* asf_scan_kernels: the names that asf_scan_use and ASF_SCAN accept, the simplest first, then NULL.  A
 * CPU may lack some.
 * lifetime static. */
ASF_EXPORT const char *const *asf_scan_kernels(void);

/* asf_scan_kernel: the name of the kernels in use. */
ASF_EXPORT const char *asf_scan_kernel(void);

/* asf_scan_use: use other kernels from now on, in all threads.
 *   name     one of asf_scan_kernels, or NULL for the best
 * returns  0; -EINVAL for an unknown name; -ENOTSUP when this CPU lacks the
 *          instructions.  After an error nothing has changed. */
ASF_EXPORT int asf_scan_use(const char *name);

#ifdef __cplusplus
}
#endif
#endif
