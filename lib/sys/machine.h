/* SPDX-License-Identifier: MIT
 *
 * machine.h - processor instructions and libc internals that C cannot express.  Each machine_*.h
 * defines the same names:
 *   asf__raw, asf__raw6      a system call; returns -errno
 *   asf__ticks               a number without a unit that orders events, also on two processors: if a
 *                            call has seen the effect of another, its number is greater.  Waits for
 *                            earlier loads.  Measured on x86-64: 12 ns; asf__nanoseconds (clock.h): 20 ns
 *   asf__pause               for a loop that waits for another thread
 *   asf__demangled           libc's PTR_DEMANGLE
 *   asf__owner               the value that names this thread in libc's locks
 *   asf__rounds_to_nearest   the rounding mode that libc's printf and scanf ask for
 *   asf__long_double_is_exact   whether an operation on long doubles rounds once, to nearest
 *   asf__page, ASF_PAGE_MOST the size of the kernel's pages, and the largest size possible
 *   asf__divide              128 bits by 64
 *   asf__high_bits           the highest bits of 16 bytes
 *   ASF_PASS_THROUGH         defines a function that calls `first`, and jumps to the function that it returns
 *   asf__arguments, ...      a va_list that called functions advance
 *   ASF_GLIBC_LOADER, ASF_MUSL_LOADER, ASF_ELF   loaders and ELF machine of programs that libasf_stdio is
 *                            preloaded into
 */
#ifndef ASF_LIB_MACHINE_H
#define ASF_LIB_MACHINE_H

#if defined(__x86_64__)
#include "lib/sys/machine_x86_64.h"
#elif defined(__aarch64__)
#include "lib/sys/machine_aarch64.h"
#else
#error "asf knows x86-64 and AArch64"
#endif

/* asf__failed: whether a result is -errno: -4095 to -1, as in the kernel.  Smaller negative numbers
 * can be offsets: offsets in /proc/PID/mem are addresses. */
static inline __attribute__((always_inline)) bool asf__failed(long result) {
    return (unsigned long)result >= -4095UL;
}

#endif
