/* SPDX-License-Identifier: MIT
 *
 * fault.c - the SIGBUS handler and the table of guarded mappings.  The handler reads the table without
 * a lock.  A slot is claimed by one atomic exchange and never moves.  The table grows by blocks, which
 * are never freed.
 */
#define _GNU_SOURCE
#include "lib/sys/fault.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/sys/syscalls.h"

enum { SLOTS = 512 }; /* in a block */

struct slot {
    bool used;
    uintptr_t base, end;
    uintptr_t lowest; /* the lowest page that was replaced; 0: none */
    bool *truncated;
    char **end_of_window;
};

struct block {
    struct slot slots[SLOTS];
    struct block *next;
};

static struct block *table; /* made by the first asf__watch */
static int hint; /* slots before this index are in use, except a few that threads freed at the same time */
static struct sigaction program; /* the program's own action for SIGBUS */
static bool installed;
static size_t page; /* read once: a symbol lookup in the handler is unsafe */

extern int __sigaction(int, const struct sigaction *, struct sigaction *);

static struct slot *find_slot(uintptr_t at) {
    struct block *b = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    for (; b; b = __atomic_load_n(&b->next, __ATOMIC_ACQUIRE))
        for (struct slot *s = b->slots; s < b->slots + SLOTS; s++)
            if (__atomic_load_n(&s->used, __ATOMIC_ACQUIRE) && at >= s->base &&
                at < __atomic_load_n(&s->end, __ATOMIC_RELAXED))
                return s;
    return NULL;
}

/* Records the truncation before the page is replaced: a thread that reads the page's zeros then finds it
 * recorded. */
static void note_replaced(struct slot *s, uintptr_t at) {
    uintptr_t lowest = __atomic_load_n(&s->lowest, __ATOMIC_RELAXED);
    while ((lowest == 0 || at < lowest) &&
           !__atomic_compare_exchange_n(&s->lowest, &lowest, at, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    __atomic_store_n(s->truncated, true, __ATOMIC_RELEASE);
    uintptr_t end = s->end_of_window ? (uintptr_t)__atomic_load_n(s->end_of_window, __ATOMIC_RELAXED) : 0;
    if (end > s->base && end <= s->end)
        __atomic_store_n(s->end_of_window, (char *)s->base, __ATOMIC_RELEASE); // NOLINT
}

static bool replace_page(const siginfo_t *info) {
    const uintptr_t at = (uintptr_t)info->si_addr & ~(uintptr_t)(page - 1);
    struct slot *s = info->si_code == BUS_ADRERR ? find_slot(at) : NULL;
    if (!s)
        return false;
    note_replaced(s, at);
    /* mmap by number: a race detector would report mmap as a write of this thread.  Writable: the segment
     * may have been attached for writing. */
    return asf__raw6(SYS_mmap, (long)at, (long)page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) >= 0;
}

/* Raises the signal by system-call number: a call by name could cause a symbol lookup in the handler. */
static void raise_now(int sig) {
    asf__raw_syscall(SYS_tgkill, asf__raw_syscall(SYS_getpid, 0, 0, 0, 0),
                     asf__raw_syscall(SYS_gettid, 0, 0, 0, 0), sig, 0);
}

enum { KERNEL_SET = 8 }; /* bytes of the kernel's signal set */

/* Calls the program's handler as the kernel would, but does not block SIGBUS: a truncated page could
 * not be replaced while the handler runs. */
static void call_program(int sig, siginfo_t *info, void *context) {
    struct sigaction act = program;
    sigdelset(&act.sa_mask, SIGBUS);
    asf__raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&act.sa_mask, 0, KERNEL_SET);
    if (act.sa_flags & (int)SA_RESETHAND)
        program.sa_handler = SIG_DFL;
    if (act.sa_flags & SA_SIGINFO)
        act.sa_sigaction(sig, info, context);
    else
        act.sa_handler(sig);
}

static bool has_handler(const struct sigaction *act) {
    return act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
}

static void on_sigbus(int sig, siginfo_t *info, void *context) {
    bool sent = info->si_code <= 0;
    if (replace_page(info))
        return;
    if (has_handler(&program)) {
        call_program(sig, info, context);
    } else if (program.sa_handler == SIG_DFL || !sent) {
        /* Returning repeats the access, which ends the process. */
        struct sigaction dfl = {.sa_handler = SIG_DFL};
        __sigaction(SIGBUS, &dfl, NULL);
        if (sent)
            raise_now(SIGBUS);
    }
}

/* Installs our handler.  Two of its flags are copied from the program's action, since the program can
 * notice them: the stack, and whether system calls are restarted.  An ignored signal interrupts no system
 * call. */
static int set_ours(const struct sigaction *act, struct sigaction *old) {
    int shows = has_handler(act) ? act->sa_flags & (SA_ONSTACK | SA_RESTART) : SA_ONSTACK | SA_RESTART;
    struct sigaction ours = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER | shows};
    return __sigaction(SIGBUS, &ours, old);
}

/* Installs the handler for the first time.  If several threads do so at once, only one reads the
 * program's action. */
static bool put_in_place(void) {
    static const struct sigaction by_default = {.sa_handler = SIG_DFL};
    struct sigaction before;
    __atomic_store_n(&page, asf__page(), __ATOMIC_RELAXED);
    if (set_ours(&by_default, &before) != 0)
        return false;
    if (before.sa_sigaction == on_sigbus)
        return true;
    program = before;
    if (has_handler(&program))
        set_ours(&program, NULL);
    __atomic_store_n(&installed, true, __ATOMIC_RELEASE);
    return true;
}

static bool install(void) {
    return __atomic_load_n(&installed, __ATOMIC_ACQUIRE) || put_in_place();
}

/* Whether our handler is installed; installs it again if the action has no handler.  A handler that the
 * program has installed since stays in front of ours, which it may call. */
static bool is_in_place(void) {
    struct sigaction now;
    if (!install() || __sigaction(SIGBUS, NULL, &now) != 0)
        return false;
    return now.sa_sigaction == on_sigbus || (!has_handler(&now) && put_in_place());
}

bool asf__faults_are_blocked(void) {
    uint64_t mask = 0;
    asf__raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, KERNEL_SET);
    return mask & (uint64_t)1 << (SIGBUS - 1);
}

bool asf__can_catch_faults(void) {
    return !asf__faults_are_blocked() && is_in_place();
}

bool asf__program_action(const struct sigaction *act, struct sigaction *old) {
    if (!__atomic_load_n(&installed, __ATOMIC_ACQUIRE))
        return false;
    const struct sigaction before = program;
    if (act) {
        const uint64_t signals = asf__hold_signals();
        program = *act;
        set_ours(&program, NULL);
        asf__release_signals(signals);
    }
    if (old)
        *old = before;
    return true;
}

/* Returns the block that `link` points to, made if there is none; NULL: no memory. */
static struct block *block_at(struct block **link) {
    struct block *there = __atomic_load_n(link, __ATOMIC_ACQUIRE);
    struct block *made = there ? NULL : asf__zero_pages(sizeof *made);
    if (!made)
        return there;
    if (__atomic_compare_exchange_n(link, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    asf__sys.unmap(made, sizeof *made); /* another thread has made the block first */
    return there;
}

static bool claim_slot(struct slot *s) {
    return __atomic_load_n(&s->end, __ATOMIC_RELAXED) == 0 &&
           __atomic_exchange_n(&s->end, 1, __ATOMIC_ACQ_REL) == 0;
}

/* Takes a free slot with a number in from..most-1.  Returns NULL if there is none, or no memory for another
 * block. */
static struct slot *claim_from(int from, int most, int *number) {
    struct block **link = &table, *b;
    for (int first = 0; first < most && (b = block_at(link)); first += SLOTS, link = &b->next)
        for (int i = from > first ? from - first : 0; i < SLOTS && first + i < most; i++)
            if (claim_slot(&b->slots[i])) {
                *number = first + i;
                return &b->slots[i];
            }
    return NULL;
}

int asf__watch(char *base, size_t size, bool *truncated, char **end, int most) {
    int i;
    struct slot *s = install() ? claim_from(__atomic_load_n(&hint, __ATOMIC_RELAXED), most, &i) : NULL;
    if (!s)
        return -1;
    s->base = (uintptr_t)base;
    s->lowest = 0;
    s->truncated = truncated;
    s->end_of_window = end;
    __atomic_store_n(&s->end, (uintptr_t)base + size, __ATOMIC_RELAXED);
    __atomic_store_n(&s->used, true, __ATOMIC_RELEASE);
    __atomic_store_n(&hint, i + 1, __ATOMIC_RELAXED);
    return i;
}

static struct slot *slot_of(int number) {
    struct block *b = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    for (int block = number / SLOTS; block > 0; block--)
        b = __atomic_load_n(&b->next, __ATOMIC_ACQUIRE);
    return &b->slots[number % SLOTS];
}

char *asf__replaced_from(int slot) {
    return (char *)__atomic_load_n(&slot_of(slot)->lowest, __ATOMIC_RELAXED); // NOLINT
}

void asf__unwatch(int slot) {
    struct slot *s = slot_of(slot);
    __atomic_store_n(&s->used, false, __ATOMIC_RELEASE);
    __atomic_store_n(&s->end, 0, __ATOMIC_RELEASE);
    if (slot < __atomic_load_n(&hint, __ATOMIC_RELAXED))
        __atomic_store_n(&hint, slot, __ATOMIC_RELAXED);
}

static bool hides_ignored(void) {
    return __atomic_load_n(&installed, __ATOMIC_ACQUIRE) && program.sa_handler == SIG_IGN;
}

void asf__before_exec(void) {
    if (hides_ignored())
        __sigaction(SIGBUS, &program, NULL);
}

void asf__after_exec(void) {
    if (hides_ignored())
        set_ours(&program, NULL);
}

int asf__count_faults(const char *base) {
    struct rusage before, after;
    if (asf__raw_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&before, 0, 0) < 0)
        return -1;
    for (size_t i = 0; i < ASF_FAULTS_MOST; i++)
        (void)*(const volatile char *)(base + i * ASF_FAULT_STEP);
    asf__raw_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&after, 0, 0);
    return (int)(after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt);
}
