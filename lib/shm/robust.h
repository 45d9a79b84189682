/* SPDX-License-Identifier: MIT
 *
 * robust.h - the lock that processes share: the unsequenced lock of the DG/UX
 * brief with its two words, held and contended, made one (the holder's thread
 * id and a bit), since the kernel marks that word when the holder ends, and a
 * futex in the place of the semaphore.
 * Layer: lib.  May include: lib, include/asf.
 */
#ifndef ASF_LIB_ROBUST_H
#define ASF_LIB_ROBUST_H

#include <stdbool.h>

#include <asf/shm.h>

#pragma GCC visibility push(hidden)

/* As the public calls of <asf/shm.h>. */
int asf__robust_init(struct asf_shm_lock *l);
int asf__robust_obtain(struct asf_shm_lock *l, bool wait);
int asf__robust_release(struct asf_shm_lock *l);
/* asf__robust_pass: wake who sleeps on a lock that this process holds, and goes
 * on to hold. */
void asf__robust_pass(struct asf_shm_lock *l);

#pragma GCC visibility pop

#endif
