/* SPDX-License-Identifier: MIT
 *
 * unix.h - Unix I/O on streams: what this process knows of its descriptors.
 *
 * A descriptor is the kernel's until this process has opened it on a regular file and
 * reads it in small pieces, or writes it so and has asked for write=coalesce; then
 * it is private: a stream of its own serves it, and the kernel's offset is not its
 * offset.  What lets anybody else see the offset or the data publishes the descriptor:
 * both are put where they belong, and it is the kernel's for good.
 * Layer: interfaces.  May include: streams/streams.h, backplane, lib.
 */
#ifndef ASF_INTERFACES_UNIX_UNIX_H
#define ASF_INTERFACES_UNIX_UNIX_H

#include <sys/uio.h>

#include "backplane/backplane.h"
#include "interfaces/pipes/pipe_rings.h"
#include "lib/sys/export.h"
#include "lib/sys/next.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"

#pragma GCC visibility push(hidden)

enum asf_fd_state {
    ASF_FD_KERNELS,   /* the kernel's */
    ASF_FD_NEW,       /* as opened: it may become one of the next two */
    ASF_FD_READS,     /* private: `stream` has a window of the file */
    ASF_FD_COALESCES, /* private: `stream` has output that is not written */
    ASF_FD_JOINED,    /* `joined` is a stream of the ASI's: one stream, by all its names */
};

enum {
    ASF_FDS = 1024,
    /* Larger reads are the kernel's, whose copy costs no faults; in large folios there are few. */
    ASF_SMALL_READ = 1024,
    ASF_LARGEST_READ = 8192,
    ASF_SMALL_WRITE = 4096,
};

/* Lock: the stream's, while there is one; `state` is changed by compare and swap where
 * there may be none, and read by all. */
struct asf_fd {
    struct asf_cios *stream; /* made once; the next file of this number has it, too */
    struct asf_cios *joined;
    uint8_t state; /* enum asf_fd_state */
    bool held;     /* by a call, while there is one thread */
    bool moving;   /* what a handler finds of the stream is half done: READS: `inside` counts */
    bool regular;  /* NEW: it was seen to be */
    int flags;     /* of open */
    int reads;     /* NEW: small ones, so far */
    int failed;    /* COALESCES: an error that is still to be told: -errno */
    dev_t device;  /* READS and COALESCES */
    ino_t inode;
    /* READS: */
    size_t most;    /* bytes of a read that the window is worth */
    bool judged;    /* by how many faults it costs */
    int credit;     /* below 0 the descriptor does not gain */
    off64_t at;     /* of the current buffer's first byte in the file */
    off64_t beyond; /* how far the offset is from there while it is not in the buffer */
    off64_t inside; /* the offset, while `moving`, and when it was published */
    /* A byte of the window that was not zero.  While it is not, the file is at least as
     * long as that, since what a truncation leaves of a page is zeroed. */
    const char *proof;
};

/* asf__hold: take a descriptor's stream for a call: with one thread by a flag, which a signal
 * handler may come upon at any moment, and else by its lock.  returns  what asf__let_go wants;
 * with ASF_NESTED it is a handler in the midst of this thread's own call. */
enum { ASF_NESTED = 1, ASF_BY_LOCK = 2 };
static inline unsigned asf__hold(struct asf_fd *d) {
    if (asf__likely(__libc_single_threaded)) {
        bool before = d->held;
        d->held = true;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        return before;
    }
    asf__lock(&d->stream->lk);
    return ASF_BY_LOCK | (asf__lock_is_held_once(&d->stream->lk) ? 0 : ASF_NESTED);
}

static inline void asf__let_go(struct asf_fd *d, unsigned how) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (asf__unlikely(how & ASF_BY_LOCK))
        asf__unlock(&d->stream->lk);
    else if (asf__likely(how == 0))
        d->held = false;
}

extern struct asf_fd asf__fds[ASF_FDS];
extern int asf__coalescing; /* how many descriptors are COALESCES; atomic */

/* asf__fd: what is known of a descriptor; NULL: nothing, it is the kernel's. */
static inline struct asf_fd *asf__fd(int fd) {
    struct asf_fd *d = (unsigned)fd < ASF_FDS ? &asf__fds[fd] : NULL;
    return d && __atomic_load_n(&d->state, __ATOMIC_ACQUIRE) != ASF_FD_KERNELS ? d : NULL;
}

/* asf__answer: a result as POSIX has it, errno set. */
static inline long asf__answer(long r) {
    if (r < 0 && r > -4096) {
        errno = (int)-r;
        return -1;
    }
    return r;
}

/* asf__opened: a new descriptor, or -1.  returns  fd. */
int asf__opened(int fd, int flags);
/* asf__note_fd: something is known of it, which asf__publish_all has to see to. */
void asf__note_fd(int fd);
/* asf__publish: before a call on the descriptor that is the kernel's business: it is from
 * now on.  A joined one stays so; its stream is brought to where it stands.
 * asf__publish_all: the same for all there are, which others will have, too; rings are left.
 * asf__end_unix: the same before the process ends; rings stay as they are. */
void asf__publish(int fd);
void asf__publish_all(void);
void asf__end_unix(void);
/* asf__lose: before a descriptor is closed.  returns  0, or the error of a coalesced write. */
int asf__lose(int fd);
/* asf__never_private: of no descriptor from now on, whatever happens. */
void asf__never_private(void);
/* asf__heed_forks: be told of each. */
void asf__heed_forks(void);

/* asf__ready: the stream that a descriptor's calls lock; NULL: no memory.
 * asf__move_on: from one state to another, unless it has changed meanwhile. */
struct asf_cios *asf__ready(struct asf_fd *d);
bool asf__move_on(struct asf_fd *d, enum asf_fd_state from, enum asf_fd_state to);
/* asf__begin_reads: make a NEW descriptor READS if it gains by it, of which n bytes are
 * asked for.  lock: the stream's, held. */
void asf__begin_reads(struct asf_fd *d, int fd, size_t n);
/* asf__leave_reads: publish it; `nested`: from a handler that came into a call on it.
 * lock: held. */
void asf__leave_reads(struct asf_fd *d, int fd, bool nested);
/* asf__offset: of a READS descriptor.  lock: held. */
static inline off64_t asf__offset(const struct asf_fd *d) {
    if (asf__unlikely(d->moving))
        return d->inside;
    return d->at + d->beyond + (d->stream->read_ptr - d->stream->buf_base);
}

/* asf__coalesce: a small write.  returns  as write; ASF_NOT_OURS: the kernel's business. */
enum { ASF_NOT_OURS = -4096 };
ssize_t asf__coalesce(struct asf_fd *d, int fd, const char *p, size_t n);
/* asf__flush_coalesced: write what is pending of one descriptor, or of all.
 * returns  0, or an error not told yet. */
int asf__flush_coalesced(int fd);
void asf__flush_all_coalesced(void);
/* asf__share_by_map: a map of the file is to show what is written to it. */
void asf__share_by_map(int fd);

/* asf__before_look: somebody may look at a file. */
static inline void asf__before_look(void) {
    if (asf__unlikely(__atomic_load_n(&asf__coalescing, __ATOMIC_RELAXED)))
        asf__flush_all_coalesced();
}

/* asf__joined_read, asf__joined_seek: on the stream; as the system calls.
 * asf__joined_release: the kernel's offset and data are the stream's. */
ssize_t asf__joined_read(struct asf_cios *c, char *p, size_t n);
off64_t asf__joined_seek(struct asf_cios *c, off64_t offset, int whence);
void asf__joined_release(struct asf_cios *c);

#pragma GCC visibility pop

#endif
