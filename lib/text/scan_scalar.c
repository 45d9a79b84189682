/* SPDX-License-Identifier: MIT
 *
 * scan_scalar.c - the scanning functions a byte at a time: the reference for tests of the other kernels.
 */
#include "lib/text/scan_kernels.h"

static size_t count_byte(const void *s, int c, size_t n) {
    const unsigned char *p = s;
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += p[i] == (unsigned char)c;
    return found;
}

static void *find_byte(const void *s, int c, size_t n) {
    const unsigned char *p = s;
    for (size_t i = 0; i < n; i++)
        if (p[i] == (unsigned char)c)
            return (void *)(p + i);
    return NULL;
}

static void *rfind_byte(const void *s, int c, size_t n) {
    const unsigned char *p = s;
    while (n-- > 0)
        if (p[n] == (unsigned char)c)
            return (void *)(p + n);
    return NULL;
}

static size_t differ(const void *a, const void *b, size_t n) {
    const unsigned char *p = a, *q = b;
    size_t i = 0;
    while (i < n && p[i] == q[i])
        i++;
    return i;
}

static size_t ascii(const void *s, size_t n) {
    const unsigned char *p = s;
    size_t i = 0;
    while (i < n && p[i] < 0x80)
        i++;
    return i;
}

static void words(struct asf_scan_counts *counts, const void *s, size_t n) {
    const unsigned char *p = s;
    for (size_t i = 0; i < n; i++) {
        counts->lines += p[i] == '\n';
        int in_word = p[i] != 0x20 && (p[i] < 0x09 || p[i] > 0x0d);
        counts->words += in_word && !counts->in_word;
        counts->in_word = in_word;
    }
}

static void masks(const void *s, size_t n, int a, int b, uint64_t *at_a, uint64_t *at_b) {
    const unsigned char *p = s;
    for (size_t i = 0; i < n; i++) {
        if (i % 64 == 0)
            at_a[i / 64] = at_b[i / 64] = 0;
        at_a[i / 64] |= (uint64_t)(p[i] == (unsigned char)a) << i % 64;
        at_b[i / 64] |= (uint64_t)(p[i] == (unsigned char)b) << i % 64;
    }
}

static uint64_t ends(const void *s, size_t n, int c) {
    const unsigned char *p = s;
    uint64_t at = n < 64 ? (uint64_t)1 << n : 0;
    for (size_t i = 0; i < n && i < 64; i++)
        at |= (uint64_t)(p[i] == (unsigned char)c) << i;
    return at;
}

static size_t places(const void *s, size_t *n, int c, uint16_t *at) {
    const unsigned char *p = s;
    size_t found = 0, i = 0;
    for (; i < *n && found < ASF_SCAN_PLACES; i++)
        if (p[i] == (unsigned char)c)
            at[found++] = (uint16_t)i;
    *n = i;
    return found;
}

const struct asf_scan_table asf__scan_scalar = {"scalar", count_byte, find_byte, rfind_byte, differ,
                                                ascii,    words,      masks,     ends,       places};
