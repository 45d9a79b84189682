/* SPDX-License-Identifier: MIT
 *
 * descriptors.c - the table of descriptors: how a descriptor becomes private, is shared with a duplicate, and
 * is published.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <unistd.h>

struct asf_fd asf__fds[ASF_FDS];

/* Held during a fork, so that no descriptor becomes private meanwhile.  Rank: after the streams' locks. */
static struct asf_lock forks = {.biasable = false};
int asf__highest;
#ifdef ASF_STATIC
static bool never = true; /* a static program can reach libc without calling us */
#else
static bool never;
#endif

bool asf__move_on(struct asf_fd *d, enum asf_fd_state from, enum asf_fd_state to) {
    uint8_t state = (uint8_t)from;
    return __atomic_compare_exchange_n(&d->state, &state, (uint8_t)to, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

static void set_state(struct asf_fd *d, enum asf_fd_state state) {
    __atomic_store_n(&d->state, (uint8_t)state, __ATOMIC_RELEASE);
}

void asf__note_fd(int fd) {
    if (fd > __atomic_load_n(&asf__highest, __ATOMIC_RELAXED))
        __atomic_store_n(&asf__highest, fd, __ATOMIC_RELAXED);
}

/* --- opening ----------------------------------------------------------------------- */

static void clear_stream(struct asf_fd *d) {
    asf__count_window(d);
    asf__cios_reset(&d->stream);
}

/* Records that `fd` was opened: sets its state to NEW or SHARED.  Sets KERNELS instead if a call on the
 * number's previous file is still in progress, or for standard error, to which libc writes by its number. */
static void set_opened(int fd, int flags, enum asf_fd_state state) {
    struct asf_fd *d = &asf__fds[fd];
    if (!d->stream.lock)
        asf__cios_init(&d->stream, &asf__for_asi, -1, O_RDONLY);
    if (!asf__try(d))
        return;
    bool nested = !asf__lock_is_held_once(&d->stream.lk);
    if (d->state != ASF_FD_KERNELS)
        asf__leave(d, nested);
    if (!nested && d->window.b.refs == 0 && fd != STDERR_FILENO) {
        if (d->stream.buffer)
            clear_stream(d);
        d->flags = flags;
        asf__count_anew(d, asf__reads_before());
        d->users = 0;
        asf__note_fd(fd);
        set_state(d, state);
    }
    asf__unlock(&d->stream.lk);
}

int asf__opened(int fd, int flags) {
    const int harmless = O_ACCMODE | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CREAT | O_EXCL |
                         O_NOATIME | O_TRUNC | 0100000; /* O_LARGEFILE */
    asf__pipe_after_open(fd);
    if (asf__unlikely(asf__options()->decompress) && asf__set_unseen(fd, flags))
        return fd;
    if (asf__is_vfork_child())
        return fd;
    bool suitable = !(flags & ~harmless) && (flags & O_ACCMODE) != O_WRONLY && asf__options()->private_fds;
    if ((unsigned)fd < ASF_FDS && !never && suitable && asf__fds[fd].state != ASF_FD_JOINED) {
        asf__heed_forks(); /* before the first read: a child of a fork has the descriptor, too */
        set_opened(fd, flags, ASF_FD_NEW);
    }
    return fd;
}

/* --- becoming private -------------------------------------------------------------- */

bool asf__begin(struct asf_fd *d) {
    if (never)
        asf__move_on(d, ASF_FD_NEW, ASF_FD_KERNELS);
    if (never || !asf__trylock(&forks))
        return false;
    if (asf__move_on(d, ASF_FD_NEW, ASF_FD_BEGINS)) {
        if (__atomic_load_n(&d->users, __ATOMIC_SEQ_CST) == 0)
            return true;
        asf__move_on(d, ASF_FD_BEGINS, ASF_FD_NEW);
    }
    asf__unlock(&forks);
    return false;
}

void asf__begun(struct asf_fd *d, enum asf_fd_state state) {
    if (!asf__move_on(d, ASF_FD_BEGINS, state) || state == ASF_FD_KERNELS)
        clear_stream(d);
    asf__unlock(&forks);
}

void asf__leave(struct asf_fd *d, bool nested) {
    d->given_up = d->stream.offset;
    set_state(d, ASF_FD_KERNELS);
    if (!nested)
        clear_stream(d);
}

/* --- duplicates -------------------------------------------------------------------- */

/* A shell or dd opens a file, duplicates the descriptor to the number it wants, and closes the first one;
 * the other can still become private. */
bool asf__begin_share(int fd) {
    struct asf_fd *d = asf__fd(fd);
    asf__publish_streams(fd);
    if (asf__is(d, ASF_FD_NEW) && asf__trylock(&forks)) {
        d->twin = fd;
        if (asf__move_on(d, ASF_FD_NEW, ASF_FD_SHARED))
            return true;
        asf__unlock(&forks);
    }
    asf__publish(fd);
    return false;
}

void asf__end_share(int fd, int to, bool begun) {
    if (!begun)
        return;
    struct asf_fd *d = &asf__fds[fd];
    if ((unsigned)to < ASF_FDS) {
        set_opened(to, d->flags, ASF_FD_SHARED);
        asf__fds[to].twin = fd;
        d->twin = to;
    }
    bool shared = (unsigned)to < ASF_FDS && asf__is(&asf__fds[to], ASF_FD_SHARED);
    if (!shared)
        asf__move_on(d, ASF_FD_SHARED, to < 0 ? ASF_FD_NEW : ASF_FD_KERNELS);
    asf__unlock(&forks);
}

/* Ends the sharing of d with its duplicate, whose state becomes `twin`: NEW if d is about to be closed,
 * KERNELS if others may use the file. */
static void end_share(struct asf_fd *d, enum asf_fd_state twin) {
    if (asf__move_on(d, ASF_FD_SHARED, ASF_FD_KERNELS))
        asf__move_on(&asf__fds[d->twin], ASF_FD_SHARED, twin);
}

/* --- publishing ----------------------------------------------------------------------- */

static void publish_private(struct asf_fd *d, int fd) {
    bool nested = !asf__enter_fd(d);
    if (d->state == ASF_FD_READS)
        asf__leave_reads(d, fd, nested);
    asf__leave_fd(d, !nested);
}

/* Loops, since other threads may change the state among NEW, BEGINS and SHARED meanwhile. */
static void publish(int fd) {
    struct asf_fd *d = asf__fd(fd);
    while (asf__unlikely(d != NULL)) {
        const enum asf_fd_state state = __atomic_load_n(&d->state, __ATOMIC_SEQ_CST);
        switch (state) {
        case ASF_FD_NEW:
        case ASF_FD_BEGINS:
            asf__move_on(d, state, ASF_FD_KERNELS);
            break;
        case ASF_FD_SHARED:
            end_share(d, ASF_FD_KERNELS);
            break;
        case ASF_FD_READS:
            publish_private(d, fd);
            return;
        case ASF_FD_JOINED:
            asf__joined_release(d->joined);
            return;
        case ASF_FD_UNSEEN:
        case ASF_FD_KERNELS:
            return;
        }
    }
}

void asf__publish(int fd) {
    asf__publish_streams(fd);
    asf__pipe_stop_ring(fd);
    publish(fd);
}

void asf__publish_every(void) {
    asf__publish_streams(-1);
    for (int fd = 0; fd <= asf__highest; fd++)
        publish(fd);
}

void asf__publish_all(void) {
    asf__pipe_before_share();
    asf__publish_every();
}

static pid_t vforked; /* the process that called vfork: this one, or its parent; 0: none */

bool asf__is_vfork_child(void) {
    return asf__unlikely(vforked) && vforked != getpid();
}

void asf__note_vfork(void) {
    asf__heed_forks();
    if (!asf__is_vfork_child())
        vforked = getpid();
}

void asf__never_private(void) {
    if (asf__is_vfork_child())
        return;
    __atomic_store_n(&never, true, __ATOMIC_RELAXED);
    asf__publish_every();
}

void asf__lose(int fd) {
    struct asf_fd *d = asf__fd(fd);
    asf__publish_streams(fd);
    if (asf__is_vfork_child()) /* or one that clone made after the parent had called vfork */
        return;
    asf__report_calls(fd);
    asf__pipe_before_close(fd);
    asf__end_decoded(d);
    if (asf__is(d, ASF_FD_NEW) && asf__move_on(d, ASF_FD_NEW, ASF_FD_KERNELS))
        return;
    if (asf__is(d, ASF_FD_SHARED) && asf__trylock(&forks)) {
        end_share(d, ASF_FD_NEW);
        asf__unlock(&forks);
    }
    publish(fd);
}

/* --- forks, and exit -------------------------------------------------------------------- */

static bool has_forks;

/* Waits only for a while: this may run in a signal handler that interrupted the thread which holds the
 * lock. */
void asf__before_fork(void) {
    int tries = 0;
    while (!(has_forks = asf__trylock(&forks)) && asf__patient(tries++, ASF_WHILE))
        ;
    asf__publish_all();
}

void asf__after_fork(void) {
    if (has_forks)
        asf__unlock(&forks);
}

/* The child has none of its parent's other threads: it releases their locks and the references of their
 * copies. */
void asf__in_child(void) {
    vforked = 0;
    asf__forget_calls();
    for (int fd = 0; fd <= asf__highest; fd++) {
        struct asf_fd *d = &asf__fds[fd];
        if (!d->stream.lock)
            continue;
        asf__lock_inherit(&d->stream.lk, true);
        d->window.b.refs -= d->window.b.copies;
        d->window.b.copies = 0;
    }
    asf__lock_reset(&forks);
    forks.biasable = false;
}

extern int __register_atfork(void (*before)(void), void (*after)(void), void (*child)(void), void *object);

void asf__heed_forks(void) {
    static bool heeded;
    if (!__atomic_load_n(&heeded, __ATOMIC_RELAXED) && !__atomic_exchange_n(&heeded, true, __ATOMIC_RELAXED))
        __register_atfork(asf__before_fork, asf__after_fork, asf__in_child, NULL);
}

__attribute__((destructor)) static void end(void) {
    asf__never_private();
    asf__report_all_calls();
}
