/* SPDX-License-Identifier: MIT
 *
 * robust.h - the process-shared lock: the unsequenced lock of the DG/UX brief.  That lock has two words, held
 * and contended.  Here they are one futex word, the holder's thread id and a bit, because the kernel marks
 * that word when the holder dies.  A futex replaces the brief's semaphore.  A process with write access to a
 * lock can forge its links; this library never reads the links, but the kernel and musl do.  So a ring keeps
 * its locks' links in private memory.
 */
#ifndef ASF_LIB_ROBUST_H
#define ASF_LIB_ROBUST_H

#include <stdbool.h>
#include <stdint.h>

#include <asf/shm.h>

#pragma GCC visibility push(hidden)

/* Byte offsets, from a lock's word, of the beginning and the end of its links. */
enum {
    ASF_ROBUST_LINKS = 2 * sizeof(uint64_t),
    ASF_ROBUST_END = sizeof(struct asf_shm_lock),
};

/* Contracts: asf_shm_lock_init, asf_shm_obtain and asf_shm_release in <asf/shm.h>. */
int asf__robust_init(struct asf_shm_lock *l);
int asf__robust_obtain(uint32_t *word, bool wait);
int asf__robust_release(uint32_t *word);
/* asf__robust_pass: wake all threads that sleep on a lock that this process holds, and keep the lock. */
void asf__robust_pass(uint32_t *word);

#pragma GCC visibility pop

#endif
