/* SPDX-License-Identifier: MIT
 *
 * utf8_sse2.h - sixteen characters of ASCII at a time, by instructions of every x86-64.
 */
#ifndef ASF_LIB_UTF8_SSE2_H
#define ASF_LIB_UTF8_SSE2_H

#include <emmintrin.h>
#include <wchar.h>

enum { RUN = 16 };

static inline void widen_run(__m128i bytes, wchar_t *to) {
    const __m128i zero = _mm_setzero_si128();
    __m128i low = _mm_unpacklo_epi8(bytes, zero), high = _mm_unpackhi_epi8(bytes, zero);
    _mm_storeu_si128((__m128i *)(void *)to, _mm_unpacklo_epi16(low, zero));
    _mm_storeu_si128((__m128i *)(void *)(to + 4), _mm_unpackhi_epi16(low, zero));
    _mm_storeu_si128((__m128i *)(void *)(to + 8), _mm_unpacklo_epi16(high, zero));
    _mm_storeu_si128((__m128i *)(void *)(to + 12), _mm_unpackhi_epi16(high, zero));
}

/* Converts the ASCII at p, up to sixteen characters; returns their number.  Overwrites all sixteen
 * elements of `to`. */
static inline int widen_ascii(const char *p, wchar_t *to) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    unsigned others = (unsigned)_mm_movemask_epi8(bytes);
    widen_run(bytes, to);
    return others ? __builtin_ctz(others) : RUN;
}

/* Converts sixteen characters, four a register, if all are ASCII; returns whether they are. */
static inline int narrow_run(const wchar_t *from, char *to) {
    const __m128i *p = (const __m128i *)(const void *)from;
    __m128i a = _mm_loadu_si128(p), b = _mm_loadu_si128(p + 1), c = _mm_loadu_si128(p + 2),
            d = _mm_loadu_si128(p + 3);
    __m128i all = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
    __m128i others = _mm_andnot_si128(_mm_set1_epi32(0x7f), all);
    if (_mm_movemask_epi8(_mm_cmpeq_epi32(others, _mm_setzero_si128())) != 0xffff)
        return 0;
    _mm_storeu_si128((__m128i *)(void *)to, _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
    return 1;
}

#endif
