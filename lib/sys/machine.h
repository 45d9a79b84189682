/* SPDX-License-Identifier: MIT
 *
 * machine.h - what C cannot say of the processor and of libc's interface on it.  Each
 * machine_*.h defines the same names:
 *   asf__raw, asf__raw6      a system call; returns -errno
 *   asf__ticks               which of two events came first, also on two processors: what a
 *                            call notes after it has seen another's effect is later.  In no
 *                            unit.  It waits for the loads before it; by itself it was measured
 *                            to take 12 ns on x86-64, asf__nanoseconds (clock.h) 20
 *   asf__pause               for a loop that waits for another thread
 *   asf__demangled           libc's PTR_DEMANGLE
 *   asf__owner               what libc's locks call this thread
 *   asf__rounds_to_nearest   the rounding mode that libc's printf and scanf ask for
 *   asf__long_double_is_exact   whether an operation on long doubles rounds once, to nearest
 *   asf__page, ASF_PAGE_MOST how large the kernel's pages are, and the largest that there are
 *   asf__divide              128 bits by 64
 *   asf__high_bits           the highest bits of 16 bytes
 *   ASF_PASS_THROUGH         a function that calls another one first, and then becomes libc's
 *   asf__arguments, ...      a va_list that called functions move on
 *   ASF_LOADER, ASF_ELF      of the programs that libasf_stdio is preloaded into
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

/* asf__failed: whether a result is -errno, as the kernel has it.  An offset may be below that: those of
 * /proc/PID/mem are addresses. */
static inline __attribute__((always_inline)) bool asf__failed(long result) {
    return (unsigned long)result >= -4095UL;
}

#endif
