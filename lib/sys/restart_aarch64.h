/* SPDX-License-Identifier: MIT
 *
 * restart_aarch64.h - see restart.h.
 */
#ifndef ASF_LIB_RESTART_AARCH64_H
#define ASF_LIB_RESTART_AARCH64_H

#include <sys/rseq.h>

#include "lib/sys/lock.h"

/* Describes the sequence from label 1 to label 2 to the kernel, which continues at label 4 when it
 * interrupts the sequence.  The word before label 4 is the signature that the kernel checks.  At label
 * 3 `r` is -1 unless the sequence was completed.  The kernel's fence of all threads (lock.c) orders
 * these loads and stores with those of another holder. */
#define ASF_RESTARTABLE                                                                                      \
    ".pushsection .data.rel.ro.asf_rseq, \"aw\"\n"                                                           \
    ".balign 32\n"                                                                                           \
    "7: .word 0, 0\n"                                                                                        \
    ".xword 1f, 2f - 1f, 4f\n"                                                                               \
    ".popsection\n"                                                                                          \
    ".pushsection .text.unlikely, \"ax\"\n"                                                                  \
    ".inst 0xd428bc00\n" /* a breakpoint: never executed */                                                  \
    "4: mov %w[r], -1\n"                                                                                     \
    "b 3f\n"                                                                                                 \
    ".popsection\n"                                                                                          \
    "adrp %[p], 7b\n"                                                                                        \
    "add %[p], %[p], :lo12:7b\n"                                                                             \
    "mov %w[r], -1\n"                                                                                        \
    "str %[p], [%[rseq], 8]\n"                                                                               \
    "1: ldr %[p], %[fast]\n"                                                                                 \
    "cmp %[p], %[me]\n"                                                                                      \
    "b.ne 3f\n"                                                                                              \
    "ldr %[p], %[at]\n"                                                                                      \
    "ldr %[last], %[end]\n"                                                                                  \
    "cmp %[p], %[last]\n"                                                                                    \
    "b.hs 3f\n"

static inline char *asf__rseq(void) {
    return (char *)__builtin_thread_pointer() + __rseq_offset;
}

static inline int asf__take_byte(const asf__tag *fast, char **at, char *const *end) {
    int r;
    char *p, *last;
    __asm__ volatile(ASF_RESTARTABLE "ldrb %w[r], [%[p]], 1\n"
                                     "str %[p], %[at]\n"
                                     "2: 3:\n"
                     : [r] "=&r"(r), [p] "=&r"(p), [last] "=&r"(last), [at] "+m"(*at)
                     : [fast] "m"(*fast), [me] "r"(asf__my_tag()), [end] "m"(*end), [rseq] "r"(asf__rseq())
                     : "cc", "memory");
    return r;
}

static inline int asf__put_byte(const asf__tag *fast, char **at, char *const *end, int byte) {
    int r;
    char *p, *last;
    __asm__ volatile(ASF_RESTARTABLE "strb %w[byte], [%[p]], 1\n"
                                     "str %[p], %[at]\n"
                                     "2: and %w[r], %w[byte], 0xff\n"
                                     "3:\n"
                     : [r] "=&r"(r), [p] "=&r"(p), [last] "=&r"(last), [at] "+m"(*at)
                     : [fast] "m"(*fast), [me] "r"(asf__my_tag()), [end] "m"(*end), [rseq] "r"(asf__rseq()),
                       [byte] "r"(byte)
                     : "cc", "memory");
    return r;
}

#endif
