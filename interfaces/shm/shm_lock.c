/* SPDX-License-Identifier: MIT
 *
 * shm_lock.c - the lock that processes share, for programs.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "lib/shm/robust.h"

int asf_shm_lock_init(struct asf_shm_lock *lock) {
    return asf__robust_init(lock);
}

int asf_shm_obtain(struct asf_shm_lock *lock) {
    return asf__robust_obtain(&lock->word, true);
}

int asf_shm_obtain_no_wait(struct asf_shm_lock *lock) {
    return asf__robust_obtain(&lock->word, false);
}

int asf_shm_release(struct asf_shm_lock *lock) {
    return asf__robust_release(&lock->word);
}
