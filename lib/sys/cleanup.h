/* SPDX-License-Identifier: MIT
 *
 * cleanup.h - handlers for a thread that is cancelled in a call.  In C, pthread_cleanup_push saves the
 * registers at each call, as setjmp does; libc's older pair of functions only adds the handler to the
 * thread's list.
 */
#ifndef ASF_LIB_CLEANUP_H
#define ASF_LIB_CLEANUP_H

#include <pthread.h>
#include <sys/single_threaded.h>

#include "lib/sys/export.h"

extern OF_LIBC void _pthread_cleanup_push(struct _pthread_cleanup_buffer *b, void (*handler)(void *),
                                          void *arg);
extern OF_LIBC void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *b, int run);

/* ASF_CLEANUP: evaluates `call`; if the thread is cancelled in it, handler(arg) is called. */
#define ASF_CLEANUP(handler, arg, call)                                                                      \
    (__extension__({                                                                                         \
        struct _pthread_cleanup_buffer buffer_;                                                              \
        _pthread_cleanup_push(&buffer_, handler, arg);                                                       \
        __typeof__(call) result_ = call;                                                                     \
        _pthread_cleanup_pop(&buffer_, 0);                                                                   \
        result_;                                                                                             \
    }))

/* asf__forbid_cancellation: returns the previous state, which asf__permit_cancellation restores.  Does
 * nothing while the process has one thread. */
static inline int asf__forbid_cancellation(void) {
    int before = -1;
    if (!__libc_single_threaded)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void asf__permit_cancellation(int before) {
    if (before >= 0)
        pthread_setcancelstate(before, &before);
}

#endif
