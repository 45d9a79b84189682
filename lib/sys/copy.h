/* SPDX-License-Identifier: MIT
 *
 * copy.h - copying a few bytes inline: a call of memcpy would be most of the cost.
 */
#ifndef ASF_LIB_COPY_H
#define ASF_LIB_COPY_H

#include <stddef.h>
#include <string.h>

#pragma GCC visibility push(hidden)

typedef unsigned long long asf__word8 __attribute__((aligned(1), may_alias));
typedef unsigned int asf__word4 __attribute__((aligned(1), may_alias));
typedef unsigned short asf__word2 __attribute__((aligned(1), may_alias));
typedef long long asf__word16 __attribute__((vector_size(16), aligned(1), may_alias));

/* Copies 1 to 64 bytes.  A call of memcpy would take twice as long. */
static inline __attribute__((always_inline)) void asf__copy_short(char *to, const char *from, size_t n) {
    if (n <= 16) {
        if (n >= 8) {
            asf__word8 a = *(const asf__word8 *)from, b = *(const asf__word8 *)(from + n - 8);
            *(asf__word8 *)to = a;
            *(asf__word8 *)(to + n - 8) = b;
        } else if (n >= 4) {
            asf__word4 a = *(const asf__word4 *)from, b = *(const asf__word4 *)(from + n - 4);
            *(asf__word4 *)to = a;
            *(asf__word4 *)(to + n - 4) = b;
        } else if (n >= 2) {
            asf__word2 a = *(const asf__word2 *)from, b = *(const asf__word2 *)(from + n - 2);
            *(asf__word2 *)to = a;
            *(asf__word2 *)(to + n - 2) = b;
        } else {
            *to = *from;
        }
    } else if (n <= 32) {
        asf__word16 a = *(const asf__word16 *)from, b = *(const asf__word16 *)(from + n - 16);
        *(asf__word16 *)to = a;
        *(asf__word16 *)(to + n - 16) = b;
    } else {
        asf__word16 a = *(const asf__word16 *)from, b = *(const asf__word16 *)(from + 16);
        asf__word16 y = *(const asf__word16 *)(from + n - 32), z = *(const asf__word16 *)(from + n - 16);
        *(asf__word16 *)to = a;
        *(asf__word16 *)(to + 16) = b;
        *(asf__word16 *)(to + n - 32) = y;
        *(asf__word16 *)(to + n - 16) = z;
    }
}

static inline void asf__copy(char *to, const char *from, size_t n) {
    if (n - 1 < 64)
        asf__copy_short(to, from, n);
    else if (n > 0) /* if n is 0, the pointers may be null, which memcpy forbids */
        memcpy(to, from, n);
}

/* asf__copy for blocks that may overlap: asf__copy_short loads all bytes before it stores any. */
static inline void asf__move_bytes(char *to, const char *from, size_t n) {
    if (n - 1 < 64)
        asf__copy_short(to, from, n);
    else if (n > 0)
        memmove(to, from, n);
}

/* Stores c n times. */
static inline __attribute__((always_inline)) void asf__repeat(char *to, char c, size_t n) {
    unsigned long long word = 0x0101010101010101u * (unsigned char)c;
    if (n > 16) {
        memset(to, c, n);
    } else if (n >= 8) {
        *(asf__word8 *)to = word;
        *(asf__word8 *)(to + n - 8) = word;
    } else if (n >= 4) {
        *(asf__word4 *)to = (unsigned)word;
        *(asf__word4 *)(to + n - 4) = (unsigned)word;
    } else {
        for (; n > 0; n--)
            *to++ = c;
    }
}

#pragma GCC visibility pop

#endif
