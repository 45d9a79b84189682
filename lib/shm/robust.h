/* SPDX-License-Identifier: MIT
 *
 * robust.h - the lock that processes share: the unsequenced lock of the DG/UX
 * brief with its two words, held and contended, made one (the holder's thread
 * id and a bit), since the kernel marks that word when the holder ends, and a
 * futex in the place of the semaphore.  Whoever can write to a lock can forge its
 * links, which this library does not read; but the kernel does, and musl, so that those
 * of a ring's locks are not in the memory that is shared.
 */
#ifndef ASF_LIB_ROBUST_H
#define ASF_LIB_ROBUST_H

#include <stdbool.h>
#include <stdint.h>

#include <asf/shm.h>

#pragma GCC visibility push(hidden)

/* A lock is its word, and so many bytes behind this begin and end its links. */
enum {
    ASF_ROBUST_LINKS = 2 * sizeof(uint64_t),
    ASF_ROBUST_END = sizeof(struct asf_shm_lock),
};

/* As the public calls of <asf/shm.h>. */
int asf__robust_init(struct asf_shm_lock *l);
int asf__robust_obtain(uint32_t *word, bool wait);
int asf__robust_release(uint32_t *word);
/* asf__robust_pass: wake who sleeps on a lock that this process holds, and goes
 * on to hold. */
void asf__robust_pass(uint32_t *word);

#pragma GCC visibility pop

#endif
