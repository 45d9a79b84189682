/* SPDX-License-Identifier: MIT
 *
 * robust.h - the lock that processes share: the unsequenced lock of the DG/UX brief.  Its two words,
 * held and contended, are one word (the holder's thread id and a bit), since the kernel marks that
 * word when the holder ends; a futex replaces its semaphore.  Whoever can write to a lock can forge
 * its links.  This library does not read the links, but the kernel and musl do.  So the links of a
 * ring's locks are not in the shared memory.
 */
#ifndef ASF_LIB_ROBUST_H
#define ASF_LIB_ROBUST_H

#include <stdbool.h>
#include <stdint.h>

#include <asf/shm.h>

#pragma GCC visibility push(hidden)

/* Offsets in bytes, from a lock's word, of the beginning and the end of its links. */
enum {
    ASF_ROBUST_LINKS = 2 * sizeof(uint64_t),
    ASF_ROBUST_END = sizeof(struct asf_shm_lock),
};

/* The public calls of <asf/shm.h> document these. */
int asf__robust_init(struct asf_shm_lock *l);
int asf__robust_obtain(uint32_t *word, bool wait);
int asf__robust_release(uint32_t *word);
/* asf__robust_pass: wake all that sleep on a lock that this process holds, and keep the lock. */
void asf__robust_pass(uint32_t *word);

#pragma GCC visibility pop

#endif
