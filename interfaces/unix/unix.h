/* SPDX-License-Identifier: MIT
 *
 * unix.h - Unix I/O on streams: the table of this process's descriptors.
 *
 * A descriptor is the kernel's until this process has opened it on a regular file and made many small reads.
 * Then it becomes private: a stream of its own serves it, and the stream's offset, not the kernel's, is the
 * descriptor's.  Before a call that lets others use the offset, the descriptor is published: the kernel is
 * given the offset, and serves the descriptor from then on.
 */
#ifndef ASF_INTERFACES_UNIX_UNIX_H
#define ASF_INTERFACES_UNIX_UNIX_H

#include <signal.h>
#include <sys/uio.h>

#include "backplane/backplane.h"
#include "interfaces/pipes/pipe_rings.h"
#include "lib/sys/export.h"
#include "lib/sys/next.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "streams/streams.h"

#pragma GCC visibility push(hidden)

enum asf_fd_state {
    ASF_FD_KERNEL,     /* the kernel's */
    ASF_FD_NEW,        /* opened by this process and known to no other: it may become private */
    ASF_FD_SHARED,     /* as NEW, with one `duplicate`; when either is closed the other is NEW */
    ASF_FD_BEGINNING,  /* about to change from NEW to PRIVATE; its stream is locked */
    ASF_FD_PRIVATE,    /* `stream` serves it, by a window of the file */
    ASF_FD_JOINED,     /* `joined` is the ASI's stream on the descriptor, which serves it */
    ASF_FD_UNEXAMINED, /* decompress=on: not read yet; becomes JOINED if it is compressed */
};

enum { ASF_FDS = 1024 };

/* Lock: the stream's, for the members of a private descriptor.  `state` may be read without it, and is
 * changed from any other state by compare and swap.  `offset_users` is atomic while there are threads; the
 * counts of a NEW descriptor may be wrong then. */
struct asf_fd {
    uint8_t state;            /* enum asf_fd_state */
    unsigned offset_users;    /* NEW or SHARED: calls in the kernel that use its offset */
    int flags;                /* those of the open call */
    int duplicate;            /* SHARED: the other descriptor */
    unsigned missed;          /* since the last decision about a window: small reads that no window served */
    unsigned served;          /* the same: small reads that a window served */
    unsigned seeks;           /* the same: lseeks and preads */
    unsigned misses_allowed;  /* misses before the next decision */
    off64_t published_offset; /* the offset when it was published */
    uint64_t calls, bytes;    /* served by the window, with statistics on */
    struct asf_cios *joined;
    bool decoded; /* `joined` belongs to the descriptor, and is closed with it */
    struct asf_window window;
    struct asf_cios stream; /* PRIVATE: `offset` is the descriptor's; the read window stays empty */
};

extern struct asf_fd asf__fds[ASF_FDS];
extern int asf__highest; /* the highest descriptor that was ever not the kernel's; atomic */

/* asf__try_lock_fd: take the descriptor's lock.  returns  false: another thread has it. */
static inline bool asf__try_lock_fd(struct asf_fd *d) {
    if (asf__unlikely(!__libc_single_threaded))
        return asf__trylock(&d->stream.lk);
    asf__lock(&d->stream.lk);
    return true;
}

/* asf__enter_fd: take the descriptor's lock.  returns  false: this is a signal handler that interrupted a
 * call on the descriptor.
 * asf__leave_fd: release the lock.  If the thread is cancelled in between, the lock is released, too. */
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

/* asf__fd: the descriptor's entry in the table; NULL: it is the kernel's. */
static inline struct asf_fd *asf__fd(int fd) {
    struct asf_fd *d = (unsigned)fd < ASF_FDS ? &asf__fds[fd] : NULL;
    return d && __atomic_load_n(&d->state, __ATOMIC_ACQUIRE) != ASF_FD_KERNEL ? d : NULL;
}

/* asf__has_state: whether the state of d is `state`.  Sequentially consistent: hold_offset() in unix_read.c
 * and asf__begin_private() each write one of `state` and `offset_users` and then read the other. */
static inline bool asf__has_state(const struct asf_fd *d, enum asf_fd_state state) {
    return d && __atomic_load_n(&d->state, __ATOMIC_SEQ_CST) == state;
}

/* asf__result_or_errno: convert -errno to POSIX's result: -1 with errno set. */
static inline long asf__result_or_errno(long r) {
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

/* asf__libc_NAME: libc's work for the call, in the folder glibc/ or musl/.  returns  0, a descriptor, or
 * -errno. */
long asf__libc_close(int fd);
long asf__libc_dup3(int from, int to, int flags);
long asf__libc_set_mask(int how, const sigset_t *set, sigset_t *old);

/* Returned by a function of ours that did nothing, so that the kernel must serve the call. */
enum { ASF_NOT_OURS = -4096 };

/* --- the table of descriptors (descriptors.c) ------------------------------------------ */

/* asf__after_open: record the descriptor fd, opened with `flags`; fd may be -1.  returns  fd. */
int asf__after_open(int fd, int flags);
/* asf__raise_highest: raise asf__highest to fd, which is no longer the kernel's alone, so that
 * asf__publish_all visits it. */
void asf__raise_highest(int fd);
/* asf__publish: called before the kernel works on the descriptor, which is the kernel's from then on.  A
 * joined one stays joined: its stream writes pending output and moves the kernel's offset to its position.
 * asf__publish_every: the same for all descriptors.
 * asf__publish_all: the same, before other processes get the descriptors: also ends the use of rings. */
void asf__publish(int fd);
void asf__publish_every(void);
void asf__publish_all(void);
/* asf__before_close: called before a descriptor is closed. */
void asf__before_close(int fd);
/* asf__end_all: called before all descriptors are closed, or the process runs another program. */
void asf__end_all(void);
/* asf__never_private: no descriptor is private from now on. */
void asf__never_private(void);
/* asf__note_vfork: called before this process calls vfork.
 * asf__is_vfork_child: whether this is the child of a vfork, which runs in its parent's memory: the
 * descriptors and signal actions that the child changes are not its parent's. */
void asf__note_vfork(void);
bool asf__is_vfork_child(void);
/* asf__register_fork_handlers: register the next three functions to be called at each fork: before it, after
 * it in the parent, and in the child. */
void asf__register_fork_handlers(void);
void asf__before_fork(void);
void asf__after_fork(void);
void asf__after_fork_in_child(void);

/* asf__begin_share: called before a descriptor is duplicated.  asf__end_share: `to` is the duplicate, or an
 * error; `begun` is the result of asf__begin_share.  lock: if `begun`, the lock `forks` is held between the
 * two calls. */
bool asf__begin_share(int fd);
void asf__end_share(int fd, int to, bool begun);

/* asf__change_state: change the state from `from` to `to`.  returns  false: it was no longer `from`. */
bool asf__change_state(struct asf_fd *d, enum asf_fd_state from, enum asf_fd_state to);
/* asf__begin_private: change a NEW descriptor to BEGINNING, on the way to PRIVATE.  returns  false: a call
 * uses its offset, or a thread forks.  After true no thread can fork until asf__finish_begin_private has made
 * it `state`, which may also be NEW or KERNEL.
 * lock: held once; no interrupted call holds it. */
bool asf__begin_private(struct asf_fd *d);
void asf__finish_begin_private(struct asf_fd *d, enum asf_fd_state state);
/* asf__end_private: a private descriptor becomes the kernel's, which has its offset already.  Its window is
 * released, unless `nested`: then this call interrupted one that uses the window.  lock: held. */
void asf__end_private(struct asf_fd *d, bool nested);

/* --- the functions of calls.def, which set errno ------------------------------------------- */

long asf__unix_read(int fd, void *p, size_t n);
long asf__unix_readv(int fd, const struct iovec *v, int count);
long asf__unix_pread(int fd, void *p, size_t n, off64_t at);
long asf__unix_preadv(int fd, const struct iovec *v, int count, off64_t at);
long asf__unix_lseek(int fd, off64_t offset, int whence);
long asf__unix_write(int fd, const void *p, size_t n);
long asf__unix_writev(int fd, const struct iovec *v, int count);
long asf__unix_pwrite(int fd, const void *p, size_t n, off64_t at);
long asf__unix_fstat(int fd, struct stat64 *st);
/* asf__needs_mode: whether open with these flags takes a mode. */
static inline bool asf__needs_mode(int flags) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}
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

/* asf__before_mask: called before the program sets `mask`, which may be NULL, as a signal mask.
 * asf__before_action: called before the program changes the signal's action by a call that is not ours. */
void asf__before_mask(const sigset_t *mask);
void asf__before_action(int sig);

/* --- reads (unix_read.c) ------------------------------------------------------------------- */

/* asf__reset_read_counts: restart the counts of reads; after `needed` small reads by the kernel the counts
 * decide about a window.
 * asf__reads_before_window: `needed` for a NEW descriptor. */
void asf__reset_read_counts(struct asf_fd *d, unsigned needed);
unsigned asf__reads_before_window(void);

/* asf__publish_private: publish a private descriptor; `nested`: from a handler that interrupted a call on it.
 * lock: held. */
void asf__publish_private(struct asf_fd *d, int fd, bool nested);

/* --- statistics (counted.c) ---------------------------------------------------------------- */

/* asf__count_call: with statistics on, count a call of the program that the kernel or a pipe's ring served;
 * r: the bytes it moved, or -errno.  returns  r.
 * asf__count_pread: count a pread that the window served.
 * asf__count_window: add the reads that a private descriptor's window served, and the window's system
 * calls.
 * asf__report_calls: report the counts of a descriptor, before its number can become another file's.
 * asf__forget_calls: drop all counts: in the child of a fork they are the parent's. */
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

/* asf__set_unexamined: with decompress=on, note input that may be compressed.  returns  whether it was noted.
 * asf__read_unexamined: the first read of such input, of n bytes.  If the input is compressed, the descriptor
 * is joined to a stream that decodes it.  returns  the bytes read; ASF_NOT_OURS: none yet, read again.
 * asf__decodes: whether a descriptor is joined to such a stream; a regular file is examined first.
 * asf__end_decoded: called before such a descriptor is closed. */
bool asf__set_unexamined(int fd, int flags);
ssize_t asf__read_unexamined(struct asf_fd *d, int fd, char *p, size_t n);
bool asf__decodes(int fd);
void asf__end_decoded(struct asf_fd *d);

/* asf__joined_read, asf__joined_seek: read and lseek on the stream; results as of the system calls.
 * asf__joined_release: write the stream's pending output, and set the kernel's offset to the stream's
 * position. */
ssize_t asf__joined_read(struct asf_cios *c, char *p, size_t n);
off64_t asf__joined_seek(struct asf_cios *c, off64_t offset, int whence);
void asf__joined_release(struct asf_cios *c);

#pragma GCC visibility pop

#endif
