/* SPDX-License-Identifier: MIT
 *
 * single_threaded.h - whether the process has one thread.  musl has no function for this, but it links its
 * threads in a ring, by the fourth word of each thread's control block (`prev` and `next` of struct pthread,
 * which musl calls an external interface since 1.1.22).  A thread that starts is not in the ring yet, but
 * never sees a ring of one.
 */
#ifndef ASF_LIB_SYS_GLIBC_ON_MUSL_SINGLE_THREADED_H
#define ASF_LIB_SYS_GLIBC_ON_MUSL_SINGLE_THREADED_H

#define __libc_single_threaded (asf__is_only_thread())

static inline int asf__is_only_thread(void) {
    void **thread = (void **)__builtin_thread_pointer();
    return __atomic_load_n(&thread[3], __ATOMIC_ACQUIRE) == (void *)thread;
}

#endif
