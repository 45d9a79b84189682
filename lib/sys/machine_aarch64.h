/* SPDX-License-Identifier: MIT
 *
 * machine_aarch64.h - see machine.h.
 */
#ifndef ASF_LIB_MACHINE_AARCH64_H
#define ASF_LIB_MACHINE_AARCH64_H

#include <arm_neon.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#pragma GCC visibility push(hidden)

static inline __attribute__((always_inline)) long asf__raw6(long number, long a, long b, long c, long d,
                                                            long e, long f) {
    register long which __asm__("x8") = number;
    register long r __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    register long fifth __asm__("x4") = e;
    register long sixth __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(r)
                     : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "memory");
    return r;
}

static inline __attribute__((always_inline)) long asf__raw(long number, long a, long b, long c, long d) {
    register long which __asm__("x8") = number;
    register long r __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(r) : "r"(which), "r"(second), "r"(third), "r"(fourth) : "memory");
    return r;
}

enum { ASF_PAGE_MOST = 64 << 10 };

static inline size_t asf__page(void) {
    return getauxval(AT_PAGESZ);
}

/* The number of calls of asf__ticks.  The processor's counter, 25 MHz on many machines, could give events
 * of two threads the same number. */
extern uint64_t asf__tick;

static inline uint64_t asf__ticks(void) {
    return __atomic_add_fetch(&asf__tick, 1, __ATOMIC_ACQ_REL);
}

static inline void asf__pause(void) {
    __asm__ volatile("yield");
}

/* The pointer guard, which libc does not export: the second of the random words from the kernel
 * (AT_RANDOM). */
static inline uintptr_t asf__demangled(uintptr_t p) {
    return p ^ ((const uintptr_t *)getauxval(AT_RANDOM))[1]; // NOLINT(performance-no-int-to-ptr)
}

/* libc's thread descriptor ends at the thread pointer; only libc knows its length. */
extern ptrdiff_t asf__descriptor;

static inline void *asf__owner(void) {
    ptrdiff_t size = __atomic_load_n(&asf__descriptor, __ATOMIC_RELAXED);
    if (__builtin_expect(size == 0, 0)) {
        size = (char *)__builtin_thread_pointer() - (char *)pthread_self(); // NOLINT
        __atomic_store_n(&asf__descriptor, size, __ATOMIC_RELAXED);
    }
    return (char *)__builtin_thread_pointer() - size;
}

static inline bool asf__rounds_to_nearest(void) {
    enum { ROUNDING = 3 << 22 };
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return !(control & ROUNDING);
}

static inline bool asf__long_double_is_exact(void) {
    return asf__rounds_to_nearest();
}

static inline uint64_t asf__divide(uint64_t high, uint64_t low, uint64_t divisor, uint64_t *remainder) {
    unsigned __int128 all = (unsigned __int128)high << 64 | low;
    *remainder = (uint64_t)(all % divisor);
    return (uint64_t)(all / divisor);
}

static inline unsigned asf__high_bits(uint8x16_t v) {
    static const int8_t places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    v = vshlq_u8(vshrq_n_u8(v, 7), vld1q_s8(places));
    return vaddv_u8(vget_low_u8(v)) | (unsigned)vaddv_u8(vget_high_u8(v)) << 8;
}

#define ASF_PASS_THROUGH(name, first)                                                                        \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"                              \
            "    .cfi_startproc\n    bti c\n"                                                                \
            "    stp x29, x30, [sp, -16]!\n    .cfi_adjust_cfa_offset 16\n"                                  \
            "    .cfi_offset 29, -16\n    .cfi_offset 30, -8\n"                                              \
            "    bl " #first "\n    mov x16, x0\n"                                                           \
            "    ldp x29, x30, [sp], 16\n    .cfi_adjust_cfa_offset -16\n"                                   \
            "    .cfi_restore 29\n    .cfi_restore 30\n"                                                     \
            "    br x16\n"                                                                                   \
            "    .cfi_endproc\n.size " #name ", . - " #name "\n")

/* A va_list parameter is a copy (AAPCS64), so functions pass each other its address. */
typedef va_list *asf__arguments;
#define ASF_ARGUMENTS(list)    (&(list))
#define asf__list(ap)          (*(ap))
#define asf__next_of(ap, type) va_arg(*(ap), type)

struct asf__place {
    int general, floating; /* from the end of the registers; 0: used up */
    void *in_memory;
};

#ifndef __cplusplus /* C++ has no names for the members */
static inline struct asf__place asf__place_in(asf__arguments ap) {
    return (struct asf__place){ap->__gr_offs, ap->__vr_offs, ap->__stack};
}

static inline void asf__go_to(asf__arguments ap, struct asf__place place) {
    ap->__gr_offs = place.general;
    ap->__vr_offs = place.floating;
    ap->__stack = place.in_memory;
}

static inline struct asf__place asf__place_behind(void *argument) {
    return (struct asf__place){0, 0, argument};
}

static inline int asf__general(asf__arguments ap) {
    return ap->__gr_offs;
}

static inline void asf__untake(asf__arguments ap, int general) {
    if (ap->__gr_offs != general)
        ap->__gr_offs = general;
    else
        ap->__stack = (char *)ap->__stack - sizeof(long);
}
#endif

#pragma GCC visibility pop

#define ASF_MACHINE      "AArch64"
#define ASF_ELF          EM_AARCH64
#define ASF_GLIBC_LOADER "ld-linux-aarch64.so.1"
#define ASF_MUSL_LOADER  "ld-musl-aarch64.so.1"

#endif
