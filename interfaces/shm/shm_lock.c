/* SPDX-License-Identifier: MIT
 *
 * shm_lock.c - the process-shared lock of <asf/shm.h>.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "lib/shm/robust.h"
#include "lib/sys/race_detector.h"

int asf_shm_lock_init(struct asf_shm_lock *lock) {
    return asf__robust_init(lock);
}

static __attribute__((noinline)) int obtain_with_race_detector(struct asf_shm_lock *lock, bool wait) {
    int rc = asf__robust_obtain(&lock->word, wait);
    if (rc == 0 || rc == -EOWNERDEAD)
        asf__tell_acquired(lock);
    return rc;
}

int asf_shm_obtain(struct asf_shm_lock *lock) {
    return asf__has_race_detector() ? obtain_with_race_detector(lock, true)
                                    : asf__robust_obtain(&lock->word, true);
}

int asf_shm_obtain_no_wait(struct asf_shm_lock *lock) {
    return asf__has_race_detector() ? obtain_with_race_detector(lock, false)
                                    : asf__robust_obtain(&lock->word, false);
}

int asf_shm_release(struct asf_shm_lock *lock) {
    asf__tell_released(lock);
    return asf__robust_release(&lock->word);
}
