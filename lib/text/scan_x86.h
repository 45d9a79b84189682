/* SPDX-License-Identifier: MIT
 *
 * scan_x86.h - functions that scan_loops.h needs in every kernel on x86-64.
 */
#ifndef ASF_LIB_SCAN_X86_H
#define ASF_LIB_SCAN_X86_H

#include "lib/text/scan_loops.h"

INLINE uint64_t equal_16(const unsigned char *p, int c) {
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8((char)c)));
}

INLINE uint64_t equal_8(const unsigned char *p, int c) {
    __m128i x = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return (uint8_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8((char)c)));
}

#endif
