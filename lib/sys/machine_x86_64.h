/* SPDX-License-Identifier: MIT
 *
 * machine_x86_64.h - see machine.h.
 */
#ifndef ASF_LIB_MACHINE_X86_64_H
#define ASF_LIB_MACHINE_X86_64_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The kernel returns -errno, which libc's syscall() would turn into -1 and errno. */
static inline __attribute__((always_inline)) long asf__raw(long number, long a, long b, long c, long d) {
    long r;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return r;
}

static inline __attribute__((always_inline)) long asf__raw6(long number, long a, long b, long c, long d,
                                                            long e, long f) {
    long r;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return r;
}

enum { ASF_PAGE_MOST = 4096 };

static inline size_t asf__page(void) {
    return ASF_PAGE_MOST;
}

static inline uint64_t asf__ticks(void) {
    unsigned processor;
    return __builtin_ia32_rdtscp(&processor);
}

static inline void asf__pause(void) {
    __builtin_ia32_pause();
}

static inline uintptr_t asf__demangled(uintptr_t p) {
    __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(p));
    return p;
}

static inline void *asf__owner(void) {
    return __builtin_thread_pointer();
}

enum { ASF__X87_ROUNDING = 0xc00, ASF__X87_PRECISION = 0x300 };

static inline unsigned asf__x87_control(void) {
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control;
}

/* libc also reads the x87 control word.  Reading it takes as long as half of a conversion. */
static inline bool asf__rounds_to_nearest(void) {
    return !(asf__x87_control() & ASF__X87_ROUNDING);
}

/* asf__long_double_is_exact: rounding is to nearest, with all the bits of a long double. */
static inline bool asf__long_double_is_exact(void) {
    return (asf__x87_control() & (ASF__X87_ROUNDING | ASF__X87_PRECISION)) == ASF__X87_PRECISION;
}

/* asf__divide: 128 bits by 64.  The quotient must fit into 64 bits: high < divisor. */
static inline uint64_t asf__divide(uint64_t high, uint64_t low, uint64_t divisor, uint64_t *remainder) {
    uint64_t quotient;
    __asm__("divq %4" : "=a"(quotient), "=d"(*remainder) : "a"(low), "d"(high), "r"(divisor) : "cc");
    return quotient;
}

static inline unsigned asf__high_bits(unsigned char __attribute__((vector_size(16))) v) {
    typedef char signed_bytes __attribute__((vector_size(16)));
    return (unsigned)__builtin_ia32_pmovmskb128((signed_bytes)v);
}

#define ASF_PASS_THROUGH(name, first)                                                                        \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                              \
            "    .cfi_startproc\n    endbr64\n"                                                              \
            "    sub $8, %rsp\n    .cfi_adjust_cfa_offset 8\n"                                               \
            "    call " #first "\n"                                                                          \
            "    add $8, %rsp\n    .cfi_adjust_cfa_offset -8\n"                                              \
            "    jmp *%rax\n"                                                                                \
            "    .cfi_endproc\n.size " #name ", . - " #name "\n")

/* A va_list parameter points to the caller's own object (System V ABI, AMD64 3.5.7).  It is used in
 * place and restored afterwards.  A copy would load several words at once and so wait for the stores
 * that va_start has just made. */
typedef __typeof__(&(*(va_list *)NULL)[0]) asf__arguments;
#define ASF_ARGUMENTS(list)    (list)
#define asf__list(ap)          (ap)
#define asf__next_of(ap, type) va_arg(ap, type)

/* The position of va_arg in an argument list. */
struct asf__place {
    unsigned general, floating;
    void *in_memory;
};

#ifndef __cplusplus /* C++ has no names for the members */
/* volatile: two loads.  One load of both words would wait for the stores of va_start. */
static inline struct asf__place asf__place_in(asf__arguments ap) {
    return (struct asf__place){*(volatile unsigned *)&ap->gp_offset, *(volatile unsigned *)&ap->fp_offset,
                               ap->overflow_arg_area};
}

static inline void asf__go_to(asf__arguments ap, struct asf__place place) {
    ap->gp_offset = place.general;
    ap->fp_offset = place.floating;
    ap->overflow_arg_area = place.in_memory;
}

/* asf__place_behind: the position at which all registers are used up and `argument` is next. */
static inline struct asf__place asf__place_behind(void *argument) {
    enum { GENERAL_END = 48, FLOATING_END = 176 };
    return (struct asf__place){GENERAL_END, FLOATING_END, argument};
}

static inline unsigned asf__general(asf__arguments ap) {
    return ap->gp_offset;
}

/* asf__untake: the general argument taken last becomes the next one again.  `general`: the value of
 * asf__general before it was taken. */
static inline void asf__untake(asf__arguments ap, unsigned general) {
    if (ap->gp_offset != general)
        ap->gp_offset = general;
    else
        ap->overflow_arg_area = (char *)ap->overflow_arg_area - sizeof(long);
}
#endif

#pragma GCC visibility pop

#define ASF_MACHINE      "x86-64"
#define ASF_ELF          EM_X86_64
#define ASF_GLIBC_LOADER "ld-linux-x86-64.so.2"
#define ASF_MUSL_LOADER  "ld-musl-x86_64.so.1"

#endif
