/* SPDX-License-Identifier: MIT
 *
 * rseq.h - glibc's rseq symbols: musl registers no thread for restartable sequences.
 */
#ifndef ASF_LIB_SYS_GLIBC_ON_MUSL_RSEQ_H
#define ASF_LIB_SYS_GLIBC_ON_MUSL_RSEQ_H

static __thread __attribute__((unused)) char asf__no_rseq[32];

#define __rseq_size   0
#define __rseq_offset (asf__no_rseq - (char *)__builtin_thread_pointer())

#endif
