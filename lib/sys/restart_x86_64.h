/* SPDX-License-Identifier: MIT
 *
 * restart_x86_64.h - see restart.h.
 */
#ifndef ASF_LIB_RESTART_X86_64_H
#define ASF_LIB_RESTART_X86_64_H

#include <sys/rseq.h>

#include "lib/sys/lock.h"

/* Describes the sequence from label 1 to label 2 to the kernel, which continues at label 4 when it
 * interrupts the sequence.  The word before label 4 is the signature that the kernel checks.  At label
 * 3 `r` is -1 unless the sequence was completed.  (An asm goto with outputs would be more natural; GCC
 * 12 loses values on its other exits.) */
#define ASF_RESTARTABLE                                                                                      \
    ".pushsection .data.rel.ro.asf_rseq, \"aw\"\n"                                                           \
    ".balign 32\n"                                                                                           \
    "7: .long 0, 0\n"                                                                                        \
    ".quad 1f, 2f - 1f, 4f\n"                                                                                \
    ".popsection\n"                                                                                          \
    ".pushsection .text.unlikely, \"ax\"\n"                                                                  \
    ".byte 0x0f, 0xb9, 0x3d\n" /* an undefined instruction: never executed */                                \
    ".long 0x53053053\n"                                                                                     \
    "4: mov $-1, %[r]\n"                                                                                     \
    "jmp 3f\n"                                                                                               \
    ".popsection\n"                                                                                          \
    "lea 7b(%%rip), %[p]\n"                                                                                  \
    "mov $-1, %[r]\n"                                                                                        \
    "mov %[p], %%fs:8(%[rseq])\n"                                                                            \
    "1: cmp %[fast], %[me]\n"                                                                                \
    "jne 3f\n"                                                                                               \
    "mov %[at], %[p]\n"                                                                                      \
    "cmp %[end], %[p]\n"                                                                                     \
    "jae 3f\n"

static inline int asf__take_byte(const asf__tag *fast, char **at, char *const *end) {
    int r;
    char *p;
    __asm__ volatile(ASF_RESTARTABLE "movzbl (%[p]), %[r]\n"
                                     "inc %[p]\n"
                                     "mov %[p], %[at]\n"
                                     "2: 3:\n"
                     : [r] "=&r"(r), [p] "=&r"(p), [at] "+m"(*at)
                     : [fast] "m"(*fast), [me] "r"(asf__my_tag()), [end] "m"(*end), [rseq] "r"(__rseq_offset)
                     : "cc", "memory");
    return r;
}

static inline int asf__put_byte(const asf__tag *fast, char **at, char *const *end, int byte) {
    int r;
    char *p;
    __asm__ volatile(ASF_RESTARTABLE "movb %b[byte], (%[p])\n"
                                     "inc %[p]\n"
                                     "mov %[p], %[at]\n"
                                     "2: movzbl %b[byte], %[r]\n"
                                     "3:\n"
                     : [r] "=&r"(r), [p] "=&r"(p), [at] "+m"(*at)
                     : [fast] "m"(*fast), [me] "r"(asf__my_tag()), [end] "m"(*end), [rseq] "r"(__rseq_offset),
                       [byte] "q"(byte)
                     : "cc", "memory");
    return r;
}

#endif
