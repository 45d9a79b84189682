/* SPDX-License-Identifier: MIT
 *
 * x86.h - glibc's macro for instructions that the processor has and the kernel allows, by a compiler
 * builtin.
 */
#ifndef ASF_LIB_SYS_GLIBC_ON_MUSL_PLATFORM_X86_H
#define ASF_LIB_SYS_GLIBC_ON_MUSL_PLATFORM_X86_H

#define CPU_FEATURE_ACTIVE(name) __builtin_cpu_supports(ASF__##name)

#define ASF__AVX2         "avx2"
#define ASF__AVX512BW     "avx512bw"
#define ASF__AVX512F      "avx512f"
#define ASF__AVX512_VBMI  "avx512vbmi"
#define ASF__AVX512_VBMI2 "avx512vbmi2"
#define ASF__BMI1         "bmi"
#define ASF__BMI2         "bmi2"
#define ASF__LZCNT        "lzcnt"
#define ASF__POPCNT       "popcnt"
#define ASF__SSSE3        "ssse3"

#endif
