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
static struct asf_lock fork_lock = {.biasable = false};
int asf__highest;
#ifdef ASF_STATIC
static bool never_private = true; /* a static program can reach libc without calling us */
#else
static bool never_private;
#endif

bool asf__change_state(struct asf_fd *d, enum asf_fd_state from, enum asf_fd_state to) {
    uint8_t state = (uint8_t)from;
    return __atomic_compare_exchange_n(&d->state, &state, (uint8_t)to, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

static void set_state(struct asf_fd *d, enum asf_fd_state state) {
    __atomic_store_n(&d->state, (uint8_t)state, __ATOMIC_RELEASE);
}

void asf__raise_highest(int fd) {
    if (fd > __atomic_load_n(&asf__highest, __ATOMIC_RELAXED))
        __atomic_store_n(&asf__highest, fd, __ATOMIC_RELAXED);
}

/* --- opening ----------------------------------------------------------------------- */

static void clear_stream(struct asf_fd *d) {
    asf__count_window(d);
    asf__cios_reset(&d->stream);
}

/* Records that `fd` was opened: sets its state to NEW or SHARED.  Sets KERNEL instead if a call on the
 * number's previous file is still in progress, or for standard error, to which libc writes by its number. */
static void set_opened(int fd, int flags, enum asf_fd_state state) {
    struct asf_fd *d = &asf__fds[fd];
    if (!d->stream.lock)
        asf__cios_init(&d->stream, &asf__for_asi, -1, O_RDONLY);
    if (!asf__try_lock_fd(d))
        return;
    bool nested = !asf__lock_is_held_once(&d->stream.lk);
    if (d->state != ASF_FD_KERNEL)
        asf__end_private(d, nested);
    if (!nested && d->window.b.refs == 0 && fd != STDERR_FILENO) {
        if (d->stream.buffer)
            clear_stream(d);
        d->flags = flags;
        asf__reset_read_counts(d, asf__reads_before_window());
        d->offset_users = 0;
        asf__raise_highest(fd);
        set_state(d, state);
    }
    asf__unlock(&d->stream.lk);
}

int asf__after_open(int fd, int flags) {
    const int harmless = O_ACCMODE | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CREAT | O_EXCL |
                         O_NOATIME | O_TRUNC | 0100000; /* O_LARGEFILE */
    asf__pipe_after_open(fd);
    if (asf__unlikely(asf__options()->decompress) && asf__set_unexamined(fd, flags))
        return fd;
    if (asf__is_vfork_child())
        return fd;
    bool suitable = !(flags & ~harmless) && (flags & O_ACCMODE) != O_WRONLY && asf__options()->private_fds;
    if ((unsigned)fd < ASF_FDS && !never_private && suitable && asf__fds[fd].state != ASF_FD_JOINED) {
        asf__register_fork_handlers(); /* before the first read: a child of a fork has the descriptor, too */
        set_opened(fd, flags, ASF_FD_NEW);
    }
    return fd;
}

/* --- becoming private -------------------------------------------------------------- */

bool asf__begin_private(struct asf_fd *d) {
    if (never_private)
        asf__change_state(d, ASF_FD_NEW, ASF_FD_KERNEL);
    if (never_private || !asf__trylock(&fork_lock))
        return false;
    if (asf__change_state(d, ASF_FD_NEW, ASF_FD_BEGINNING)) {
        if (__atomic_load_n(&d->offset_users, __ATOMIC_SEQ_CST) == 0)
            return true;
        asf__change_state(d, ASF_FD_BEGINNING, ASF_FD_NEW);
    }
    asf__unlock(&fork_lock);
    return false;
}

void asf__finish_begin_private(struct asf_fd *d, enum asf_fd_state state) {
    if (!asf__change_state(d, ASF_FD_BEGINNING, state) || state == ASF_FD_KERNEL)
        clear_stream(d);
    asf__unlock(&fork_lock);
}

void asf__end_private(struct asf_fd *d, bool nested) {
    d->published_offset = d->stream.offset;
    set_state(d, ASF_FD_KERNEL);
    if (!nested)
        clear_stream(d);
}

/* --- duplicates -------------------------------------------------------------------- */

/* A shell or dd opens a file, duplicates the descriptor to the number it wants, and closes the first one;
 * the other can still become private. */
bool asf__begin_share(int fd) {
    struct asf_fd *d = asf__fd(fd);
    asf__publish_streams(fd);
    if (asf__has_state(d, ASF_FD_NEW) && asf__trylock(&fork_lock)) {
        d->duplicate = fd;
        if (asf__change_state(d, ASF_FD_NEW, ASF_FD_SHARED))
            return true;
        asf__unlock(&fork_lock);
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
        asf__fds[to].duplicate = fd;
        d->duplicate = to;
    }
    bool shared = (unsigned)to < ASF_FDS && asf__has_state(&asf__fds[to], ASF_FD_SHARED);
    if (!shared)
        asf__change_state(d, ASF_FD_SHARED, to < 0 ? ASF_FD_NEW : ASF_FD_KERNEL);
    asf__unlock(&fork_lock);
}

/* Ends the sharing of d with its duplicate, whose state becomes `duplicate_state`: NEW if d is about to be
 * closed, KERNEL if others may use the file. */
static void end_share(struct asf_fd *d, enum asf_fd_state duplicate_state) {
    if (asf__change_state(d, ASF_FD_SHARED, ASF_FD_KERNEL))
        asf__change_state(&asf__fds[d->duplicate], ASF_FD_SHARED, duplicate_state);
}

/* --- publishing ----------------------------------------------------------------------- */

static void lock_and_publish(struct asf_fd *d, int fd) {
    bool nested = !asf__enter_fd(d);
    if (d->state == ASF_FD_PRIVATE)
        asf__publish_private(d, fd, nested);
    asf__leave_fd(d, !nested);
}

/* Loops, since other threads may change the state among NEW, BEGINNING and SHARED meanwhile. */
static void publish(int fd) {
    struct asf_fd *d = asf__fd(fd);
    while (asf__unlikely(d != NULL)) {
        const enum asf_fd_state state = __atomic_load_n(&d->state, __ATOMIC_SEQ_CST);
        switch (state) {
        case ASF_FD_NEW:
        case ASF_FD_BEGINNING:
            asf__change_state(d, state, ASF_FD_KERNEL);
            break;
        case ASF_FD_SHARED:
            end_share(d, ASF_FD_KERNEL);
            break;
        case ASF_FD_PRIVATE:
            lock_and_publish(d, fd);
            return;
        case ASF_FD_JOINED:
            asf__joined_release(d->joined);
            return;
        case ASF_FD_UNEXAMINED:
        case ASF_FD_KERNEL:
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

static pid_t vfork_caller; /* the process that called vfork: this one, or its parent; 0: none */

bool asf__is_vfork_child(void) {
    return asf__unlikely(vfork_caller) && vfork_caller != getpid();
}

void asf__note_vfork(void) {
    asf__register_fork_handlers();
    if (!asf__is_vfork_child())
        vfork_caller = getpid();
}

void asf__never_private(void) {
    if (asf__is_vfork_child())
        return;
    __atomic_store_n(&never_private, true, __ATOMIC_RELAXED);
    asf__publish_every();
}

void asf__before_close(int fd) {
    struct asf_fd *d = asf__fd(fd);
    asf__publish_streams(fd);
    if (asf__is_vfork_child()) /* or one that clone made after the parent had called vfork */
        return;
    asf__report_calls(fd);
    asf__pipe_before_close(fd);
    asf__end_decoded(d);
    if (asf__has_state(d, ASF_FD_NEW) && asf__change_state(d, ASF_FD_NEW, ASF_FD_KERNEL))
        return;
    if (asf__has_state(d, ASF_FD_SHARED) && asf__trylock(&fork_lock)) {
        end_share(d, ASF_FD_NEW);
        asf__unlock(&fork_lock);
    }
    publish(fd);
}

/* --- forks, and exit -------------------------------------------------------------------- */

static bool has_fork_lock;

/* Waits only for a while: this may run in a signal handler that interrupted the thread which holds the
 * lock. */
void asf__before_fork(void) {
    int tries = 0;
    while (!(has_fork_lock = asf__trylock(&fork_lock)) && asf__patient(tries++, ASF_WHILE))
        ;
    asf__publish_all();
}

void asf__after_fork(void) {
    if (has_fork_lock)
        asf__unlock(&fork_lock);
}

/* The child has none of its parent's other threads: it releases their locks and the references of their
 * copies. */
void asf__after_fork_in_child(void) {
    vfork_caller = 0;
    asf__forget_calls();
    for (int fd = 0; fd <= asf__highest; fd++) {
        struct asf_fd *d = &asf__fds[fd];
        if (!d->stream.lock)
            continue;
        asf__lock_inherit(&d->stream.lk, true);
        d->window.b.refs -= d->window.b.copies;
        d->window.b.copies = 0;
    }
    asf__lock_reset(&fork_lock);
    fork_lock.biasable = false;
}

extern int __register_atfork(void (*before)(void), void (*after)(void), void (*child)(void), void *object);

void asf__register_fork_handlers(void) {
    static bool heeded;
    if (!__atomic_load_n(&heeded, __ATOMIC_RELAXED) && !__atomic_exchange_n(&heeded, true, __ATOMIC_RELAXED))
        __register_atfork(asf__before_fork, asf__after_fork, asf__after_fork_in_child, NULL);
}

__attribute__((destructor)) static void end(void) {
    asf__never_private();
    asf__report_all_calls();
}
