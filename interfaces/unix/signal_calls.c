/* SPDX-License-Identifier: MIT
 *
 * signal_calls.c - signal masks, and actions for SIGBUS.  When another process truncates a file, reading the
 * window of a private descriptor raises SIGBUS, and the kernel kills a process that blocks it.  So a process
 * that blocks SIGBUS has no windows from then on; while a handler of another signal runs, SIGBUS stays
 * unblocked; and our action for SIGBUS runs before the program's (lib/sys/fault.c).
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include "lib/sys/fault.h"

#ifndef ASF_STATIC
extern int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);

void asf__before_mask(const sigset_t *mask) {
    if (mask && sigismember(mask, SIGBUS) == 1)
        asf__never_private();
}

/* --- masks -------------------------------------------------------------------------------- */

static long set_mask(int how, const sigset_t *set, sigset_t *old) {
    if (set && how != SIG_UNBLOCK)
        asf__before_mask(set);
    return asf__libc_set_mask(how, set, old);
}

long asf__unix_sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    return asf__result_or_errno(set_mask(how, set, old));
}

long asf__unix_pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    return -set_mask(how, set, old);
}

/* --- actions ------------------------------------------------------------------------------ */

/* A bit for each signal: set if the program asked to block SIGBUS while the signal's handler runs. */
static uint64_t blocking;

static bool block_in_handler(int sig, bool blocks) {
    const uint64_t bit = (uint64_t)1 << (sig - 1);
    return bit & (blocks ? __atomic_fetch_or(&blocking, bit, __ATOMIC_RELAXED)
                         : __atomic_fetch_and(&blocking, ~bit, __ATOMIC_RELAXED));
}

static long set_action(int sig, const struct sigaction *act, struct sigaction *old) {
    struct sigaction mine;
    const bool blocks = act && sigismember(&act->sa_mask, SIGBUS) == 1;
    if (blocks) {
        mine = *act;
        sigdelset(&mine.sa_mask, SIGBUS);
    }
    if (__sigaction(sig, blocks ? &mine : act, old) < 0)
        return -1;
    const uint64_t bit = (uint64_t)1 << (sig - 1);
    const bool blocked =
        act ? block_in_handler(sig, blocks) : __atomic_load_n(&blocking, __ATOMIC_RELAXED) & bit;
    if (old && blocked)
        sigaddset(&old->sa_mask, SIGBUS);
    return 0;
}

/* A vfork child has its own signal actions, but its parent's memory, where ours are recorded. */
long asf__unix_sigaction(int sig, const struct sigaction *act, struct sigaction *old) {
    if (asf__is_vfork_child())
        return __sigaction(sig, act, old);
    if (sig != SIGBUS)
        return set_action(sig, act, old);
    return asf__program_action(act, old) ? 0 : __sigaction(sig, act, old);
}

void asf__before_action(int sig) {
    if (sig == SIGBUS)
        asf__never_private();
}

typedef void handler(int);

/* As libc's, with BSD's semantics: calls restart, and the signal is blocked in its handler. */
long asf__unix_signal(int sig, handler *action) {
    struct sigaction act = {.sa_handler = action, .sa_flags = SA_RESTART}, old;
    sigaddset(&act.sa_mask, SIGBUS);
    if (sig != SIGBUS)
        return (long)ASF_NEXT(signal)(sig, action);
    return asf__unix_sigaction(sig, &act, &old) < 0 ? (long)SIG_ERR : (long)old.sa_handler;
}
#endif
