/* SPDX-License-Identifier: MIT
 *
 * guard.c - run an undo function when a call does not return.  For a cancelled thread the function is in
 * libc's list of handlers.  For an exception our own personality routine calls it: the compiler's routine
 * (-fexceptions) would need libgcc_s, and this library needs libc only.
 */
#include "lib/sys/guard.h"

#include <stdint.h>

#include "lib/sys/cleanup.h"
#include "lib/sys/lock.h"

#pragma GCC visibility push(hidden)

struct asf_guard {
    struct asf_guard *outer;
    void (*undo)(void *);
    void *undone;
    struct _pthread_cleanup_buffer buffer;
};

static __thread struct asf_guard *innermost;

static void run_undo(void *arg) {
    const struct asf_guard *g = arg;
    innermost = g->outer;
    g->undo(g->undone);
}

/* Constants of the unwinder's interface (Itanium C++ ABI, level I). */
enum { CLEANUP_PHASE = 2, FORCED = 8, CONTINUE = 8 };

/* The unwinder calls this before it drops the frame of asf__guarded.  During a forced unwinding, which
 * ends the thread, libc calls run_undo; after an exception this function calls it. */
__attribute__((used)) int asf__guard_personality(int version, int actions, uint64_t class, void *exception,
                                                 void *context);
int asf__guard_personality(int version, int actions, uint64_t class, void *exception, void *context) {
    (void)version, (void)class, (void)exception, (void)context;
    struct asf_guard *g = innermost;
    if (actions & CLEANUP_PHASE && !(actions & FORCED) && g) {
        _pthread_cleanup_pop(&g->buffer, 0);
        run_undo(g);
    }
    return CONTINUE;
}

__attribute__((noinline)) void asf__guarded(void (*call)(void *), void *arg, void (*undo)(void *),
                                            void *undone) {
    struct asf_guard g = {.outer = innermost, .undo = undo, .undone = undone};
    __asm__ volatile(".cfi_personality 0x1b, asf__guard_personality"); /* relative, four bytes */
    _pthread_cleanup_push(&g.buffer, run_undo, &g);
    innermost = &g;
    call(arg);
    innermost = g.outer;
    _pthread_cleanup_pop(&g.buffer, 0);
}

#pragma GCC visibility pop
