/* SPDX-License-Identifier: MIT
 *
 * unix.h - Unix I/O on streams: what this process knows of its descriptors.
 *
 * A descriptor is the kernel's until this process has opened it on a regular file and reads
 * it in small pieces; then it is private: a stream of its own serves it, whose offset is not
 * the kernel's.  A call by which somebody else could use the offset publishes the descriptor:
 * the kernel is given the offset, and serves the descriptor from then on.
 */
#ifndef ASF_INTERFACES_UNIX_UNIX_H
#define ASF_INTERFACES_UNIX_UNIX_H

#include <signal.h>
#include <sys/uio.h>

#include "backplane/bulk.h"
#include "interfaces/pipes/pipe_rings.h"
#include "lib/sys/export.h"
#include "lib/sys/next.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "streams/streams.h"

#pragma GCC visibility push(hidden)

enum asf_fd_state {
    ASF_FD_KERNELS, /* the kernel's */
    ASF_FD_NEW,     /* opened here, and nobody else has it: it may become private */
    ASF_FD_SHARED,  /* NEW but for a duplicate, `twin`; when one is closed the other is NEW */
    ASF_FD_BEGINS,  /* NEW, but about to become READS, with its stream locked */
    ASF_FD_READS,   /* private: `stream` has a window of the file */
    ASF_FD_JOINED,  /* `joined` is a stream of the ASI's: one stream, by all its names */
    ASF_FD_UNSEEN,  /* decompress=on: nothing of it has been read; JOINED then if it is compressed */
};

enum { ASF_FDS = 1024 };

/* Lock: the stream's, for what a private descriptor has.  `state` may be read without it, and is
 * moved on from any other by compare and swap; `users` is atomic while there are threads, and
 * the counts of a NEW descriptor may be wrong then. */
struct asf_fd {
    uint8_t state;  /* enum asf_fd_state */
    unsigned users; /* NEW or SHARED: calls of the kernel's that use its offset */
    int flags;      /* of open */
    int twin;
    unsigned missed;       /* small reads that no window served, */
    unsigned served;       /* those that one did, */
    unsigned jumps;        /* and lseeks and preads, since this was last looked at */
    unsigned needed;       /* misses before it is looked at again */
    off64_t given_up;      /* the offset when it was published */
    uint64_t calls, bytes; /* that the window served, with statistics on */
    struct asf_cios *joined;
    bool decoded; /* `joined` is the descriptor's own, and ends with it */
    struct asf_window window;
    struct asf_cios stream; /* READS: `offset` is the descriptor's; the read window stays empty */
};

extern struct asf_fd asf__fds[ASF_FDS];
extern int asf__highest; /* descriptor that was ever more than the kernel's; atomic */

/* asf__try: its lock, unless another thread has that. */
static inline bool asf__try(struct asf_fd *d) {
    if (asf__unlikely(!__libc_single_threaded))
        return asf__trylock(&d->stream.lk);
    asf__lock(&d->stream.lk);
    return true;
}

/* asf__enter_fd: its lock.  returns  false: in a handler of a signal that came into a call on it.
 * asf__leave_fd: the end of it.  A thread that is cancelled in between gives the lock back. */
static inline bool asf__enter_fd(struct asf_fd *d) {
    asf__lock(&d->stream.lk);
    bool first = asf__lock_is_held_once(&d->stream.lk);
    if (first)
        d->stream.use = ASF_LOCKED;
    return first;
}

static inline void asf__leave_fd(struct asf_fd *d, bool first) {
    if (first)
        d->stream.use = ASF_OUTSIDE;
    asf__unlock(&d->stream.lk);
}

/* asf__fd: what is known of a descriptor; NULL: nothing, it is the kernel's. */
static inline struct asf_fd *asf__fd(int fd) {
    struct asf_fd *d = (unsigned)fd < ASF_FDS ? &asf__fds[fd] : NULL;
    return d && __atomic_load_n(&d->state, __ATOMIC_ACQUIRE) != ASF_FD_KERNELS ? d : NULL;
}

/* asf__is: whether it is in that state.  Sequentially consistent: see hold() in read.c and
 * asf__begin(), each of which writes one of state and users and then looks at the other. */
static inline bool asf__is(const struct asf_fd *d, enum asf_fd_state state) {
    return d && __atomic_load_n(&d->state, __ATOMIC_SEQ_CST) == state;
}

/* asf__answer: a result as POSIX has it, errno set. */
static inline long asf__answer(long r) {
    if (asf__unlikely(r < 0 && r > -4096)) {
        errno = (int)-r;
        return -1;
    }
    return r;
}

/* asf__kernel_lseek: the kernel's offset, which a private descriptor does not use. */
static inline off64_t asf__kernel_lseek(int fd, off64_t offset, int whence) {
    return asf__raw(SYS_lseek, fd, offset, whence, 0);
}

/* What a call returns that leaves it to the kernel. */
enum { ASF_NOT_OURS = -4096 };

/* --- the table of descriptors (descriptors.c) ------------------------------------------ */

/* asf__opened: a new descriptor, or -1.  returns  fd. */
int asf__opened(int fd, int flags);
/* asf__note_fd: something is known of it, which asf__publish_all has to see to. */
void asf__note_fd(int fd);
/* asf__publish: before a call on the descriptor that is the kernel's business: it is from
 * now on.  A joined one stays so; its stream is brought to where it stands.
 * asf__publish_every: the same for all there are.
 * asf__publish_all: the same, and others will have them, too: rings are left. */
void asf__publish(int fd);
void asf__publish_every(void);
void asf__publish_all(void);
/* asf__lose: before a descriptor is closed. */
void asf__lose(int fd);
/* asf__never_private: no descriptor is private from now on. */
void asf__never_private(void);
/* asf__note_vfork: this process is about to vfork.
 * asf__is_vfork_child: whether this is the child of a vfork, which has its parent's memory: what
 * the child opens, closes and sets is not the parent's. */
void asf__note_vfork(void);
bool asf__is_vfork_child(void);
/* asf__heed_forks: be told of each, by the next three: before it, after it in the parent, and in the
 * child. */
void asf__heed_forks(void);
void asf__before_fork(void);
void asf__after_fork(void);
void asf__in_child(void);

/* asf__begin_share: before a descriptor is duplicated.  asf__end_share: `to` is the duplicate,
 * or an error.  lock: between the two, the table's, if `begun`. */
bool asf__begin_share(int fd);
void asf__end_share(int fd, int to, bool begun);

/* asf__move_on: from one state to another, unless it has changed meanwhile. */
bool asf__move_on(struct asf_fd *d, enum asf_fd_state from, enum asf_fd_state to);
/* asf__begin: whether a NEW descriptor, which BEGINS then, may become private now: nobody uses its
 * offset, and nobody forks before asf__begun has made it `state`, which may be NEW or KERNELS.
 * lock: held, and by no call around. */
bool asf__begin(struct asf_fd *d);
void asf__begun(struct asf_fd *d, enum asf_fd_state state);
/* asf__leave: a private descriptor is the kernel's, which has its offset and its data.  What the
 * stream has is given back, unless a call is in the midst of using it.  lock: held. */
void asf__leave(struct asf_fd *d, bool nested);

/* --- what the names of calls.def stand for, errno and all ---------------------------------- */

long asf__unix_read(int fd, void *p, size_t n);
long asf__unix_readv(int fd, const struct iovec *v, int count);
long asf__unix_pread(int fd, void *p, size_t n, off64_t at);
long asf__unix_preadv(int fd, const struct iovec *v, int count, off64_t at);
long asf__unix_lseek(int fd, off64_t offset, int whence);
long asf__unix_write(int fd, const void *p, size_t n);
long asf__unix_writev(int fd, const struct iovec *v, int count);
long asf__unix_pwrite(int fd, const void *p, size_t n, off64_t at);
long asf__unix_fstat(int fd, struct stat64 *st);
long asf__unix_open(int directory, const char *path, int flags, mode_t mode);
long asf__unix_open_2(int directory, const char *path, int flags);
long asf__unix_close(int fd);
long asf__unix_dup(int fd);
long asf__unix_dup2(int from, int to);
long asf__unix_dup3(int from, int to, int flags);

long asf__unix_sigprocmask(int how, const sigset_t *set, sigset_t *old);
long asf__unix_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
long asf__unix_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
long asf__unix_signal(int sig, void (*handler)(int));

/* asf__heed_mask: before the program makes it a signal mask; it may be NULL.
 * asf__heed_signal: before the program's action for the signal changes by another way. */
void asf__heed_mask(const sigset_t *mask);
void asf__heed_signal(int sig);

/* --- reads (read.c) ------------------------------------------------------------------------ */

/* asf__count_anew: reads, to tell whether a window is worth it after `needed` small ones by the
 * kernel.  asf__reads_before: so many of a NEW descriptor. */
void asf__count_anew(struct asf_fd *d, unsigned needed);
unsigned asf__reads_before(void);

/* asf__leave_reads: publish it; `nested`: from a handler that came into a call on it.
 * lock: held. */
void asf__leave_reads(struct asf_fd *d, int fd, bool nested);

/* --- statistics (counted.c) ---------------------------------------------------------------- */

/* asf__count_call: with statistics on, a call of the program's, by the kernel or by a pipe's
 * ring, that moved r bytes or failed with -errno.  returns  r.  asf__count_pread: one that the window served.
 * asf__count_window: what a private
 * descriptor's window served, and the system calls that it took. asf__report_calls: what was counted of the
 * descriptor, before it is another file's. asf__forget_calls: in the child of a fork: they are the parent's.
 */
void asf__count_call_slow(int fd, long r, bool is_output, bool has_ring);
static inline long asf__count_call(int fd, long r, bool is_output, bool has_ring) {
    if (asf__unlikely(asf__counting))
        asf__count_call_slow(fd, r, is_output, has_ring);
    return r;
}
void asf__count_window(struct asf_fd *d);
void asf__count_pread(int fd, size_t n);
void asf__report_calls(int fd);
void asf__report_all_calls(void);
void asf__forget_calls(void);

/* --- descriptors of streams (joined.c) ----------------------------------------------------- */

/* asf__set_unseen: input that may be compressed, with decompress=on.
 * asf__see_first: the first read of it, of n bytes: if it is compressed it is joined to a stream
 * that decodes.  returns  what was read; ASF_NOT_OURS: nothing yet.
 * asf__decodes: whether a descriptor is joined so; a file is looked at first.
 * asf__end_decoded: before such a descriptor is closed. */
bool asf__set_unseen(int fd, int flags);
ssize_t asf__see_first(struct asf_fd *d, int fd, char *p, size_t n);
bool asf__decodes(int fd);
void asf__end_decoded(struct asf_fd *d);

/* asf__joined_read, asf__joined_seek: on the stream; as the system calls.
 * asf__joined_release: the kernel's offset and data are the stream's. */
ssize_t asf__joined_read(struct asf_cios *c, char *p, size_t n);
off64_t asf__joined_seek(struct asf_cios *c, off64_t offset, int whence);
void asf__joined_release(struct asf_cios *c);

#pragma GCC visibility pop

#endif
