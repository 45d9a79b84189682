/* SPDX-License-Identifier: MIT
 *
 * joined.c - Unix I/O on a descriptor whose stream the ASI uses, too: read, write and lseek use the stream's
 * position.  A stream that only stdio uses is not joined: as in libc, read() continues after what stdio has
 * buffered.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include "backplane/backplane.h"
#include "lib/sys/fault.h"

/* The paper's Figure 5: reads from the current buffer, which is filled first if it is empty.  A regular
 * file gives up to n bytes, a pipe only those in the buffer. */
static ssize_t read_buffered(struct asf_cios *c, char *p, size_t n) {
    asf__attach(c);
    int error = asf__to_read(c);
    if (error < 0 || n == 0)
        return error;
    if (asf__unread(c) == 0 && c->flags & ASF_UNBUFFERED)
        return asf__get(c, p, n);
    if (asf__unread(c) == 0) {
        ssize_t there = asf__fill(c, 1, NULL);
        if (there <= 0)
            return there;
    }
    size_t most = c->kind == ASF_REGULAR || n < asf__unread(c) ? n : asf__unread(c);
    size_t got = asf__take(c, p, most, NULL, &error);
    return got > 0 ? (ssize_t)got : error;
}

/* A signal handler that interrupted a call on the stream reads from the kernel instead. */
ssize_t asf__joined_read(struct asf_cios *c, char *p, size_t n) {
    asf__lock(&c->lk);
    bool inside = c->use != ASF_OUTSIDE;
    ssize_t r = 0;
    if (!inside) {
        c->use = ASF_LOCKED;
        c->stats.calls += asf__counting;
        r = read_buffered(c, p, n);
        c->use = ASF_OUTSIDE;
    }
    asf__unlock(&c->lk);
    return inside ? asf__read(c->fd, p, n) : r;
}

off64_t asf__joined_seek(struct asf_cios *c, off64_t offset, int whence) {
    asf__lock(&c->lk);
    bool inside = c->use != ASF_OUTSIDE;
    off64_t r = 0;
    if (!inside) {
        c->use = ASF_LOCKED;
        r = offset == 0 && whence == SEEK_CUR ? asf__tell(c) : asf__seek(c, offset, whence);
        c->use = ASF_OUTSIDE;
    }
    asf__unlock(&c->lk);
    return inside ? asf__kernel_lseek(c->fd, offset, whence) : r;
}

/* Gives up if another thread keeps the lock: the thread may wait long in a call on the stream, but then the
 * stream has no read-ahead to give back. */
void asf__joined_release(struct asf_cios *c) {
    int tries = 0;
    while (!asf__trylock(&c->lk))
        if (!asf__patient(tries++, ASF_MOMENT))
            return;
    if (c->use == ASF_OUTSIDE && c->kind != ASF_UNKNOWN) {
        c->use = ASF_LOCKED;
        int rc = asf__sync(c, 0);
        c->use = ASF_OUTSIDE;
        if (rc < 0)
            c->failed = rc;
        c->offset = c->place = -1;
        asf__share_offset(c);
    }
    asf__unlock(&c->lk);
}

/* --- decompress=on ------------------------------------------------------------------------ */

bool asf__set_unexamined(int fd, int flags) {
    if ((unsigned)fd >= ASF_FDS || flags & O_DIRECTORY) /* closedir would close it without a call of ours */
        return false;
    asf__change_state(&asf__fds[fd], ASF_FD_UNEXAMINED,
                      ASF_FD_KERNEL); /* an earlier file's close bypassed us */
    if ((flags & O_ACCMODE) != O_RDONLY ||
        !asf__change_state(&asf__fds[fd], ASF_FD_KERNEL, ASF_FD_UNEXAMINED))
        return false;
    asf__raise_highest(fd);
    return true;
}

/* A regular file is examined at its offset.  A pipe is examined by the bytes that the program reads anyway,
 * and by more if these are too few to recognize a format. */
ssize_t asf__read_unexamined(struct asf_fd *d, int fd, char *p, size_t n) {
    const bool pipe = asf__kernel_lseek(fd, 0, SEEK_CUR) < 0;
    ssize_t got = pipe ? asf__cancellable_read(fd, p, n) : 0;
    if (pipe && got <= 0)
        return got;
    if (!asf__change_state(d, ASF_FD_UNEXAMINED, ASF_FD_KERNEL))
        return pipe ? got : ASF_NOT_OURS;
    struct asf_cios *c = asf__decode_descriptor(fd, p, (size_t)got);
    if (!c)
        return got != 0 ? got : ASF_NOT_OURS;
    asf__cios_link(c);
    d->decoded = true;
    asf__join(c);
    return ASF_NOT_OURS;
}

bool asf__decodes(int fd) {
    struct asf_fd *d = asf__fd(fd);
    if (asf__has_state(d, ASF_FD_UNEXAMINED) && asf__kernel_lseek(fd, 0, SEEK_CUR) >= 0)
        asf__read_unexamined(d, fd, NULL, 0);
    return asf__has_state(d, ASF_FD_JOINED) && d->decoded;
}

/* A decoded file is reported as a pipe: its length is unknown, and it cannot seek. */
long asf__unix_fstat(int fd, struct stat64 *st) {
    asf__publish_streams(fd);
    long r = fd < 0 ? -EBADF : asf__fstat(fd, st); /* to the kernel AT_FDCWD is a directory */
    if (r == 0 && asf__decodes(fd)) {
        st->st_mode = (st->st_mode & ~(mode_t)S_IFMT) | S_IFIFO;
        st->st_size = st->st_blocks = 0;
    }
    return asf__result_or_errno(r);
}

void asf__end_decoded(struct asf_fd *d) {
    if (!d || asf__change_state(d, ASF_FD_UNEXAMINED, ASF_FD_KERNEL))
        return;
    if (!asf__has_state(d, ASF_FD_JOINED) || !d->decoded ||
        !asf__change_state(d, ASF_FD_JOINED, ASF_FD_KERNEL))
        return;
    d->decoded = false;
    d->joined->fd = -1; /* close() closes the descriptor afterwards */
    int result;
    asf__cios_close(d->joined, &result);
    asf__cios_free(d->joined);
}

/* --- hooks for the streams of other interfaces ----------------------------------------- */

static void stream_linked(struct asf_cios *c) {
    if (c->fd < 0)
        return;
    asf__publish(c->fd);
    asf__pipe_after_open(c->fd);
}

/* A stream is about to move the descriptor's offset or to close the descriptor (asf__descriptor_used). */
static void before_descriptor_use(int fd, bool closes) {
    const struct asf_fd *d = asf__fd(fd);
    if (closes)
        asf__before_close(fd);
    else if (d && d->state != ASF_FD_JOINED && d->state != ASF_FD_UNEXAMINED)
        asf__publish(fd);
}

static void join_descriptor(struct asf_cios *c) {
    struct asf_fd *d = (unsigned)c->fd < ASF_FDS ? &asf__fds[c->fd] : NULL;
    if (!d || d->state == ASF_FD_JOINED)
        return;
    d->joined = c;
    asf__raise_highest(c->fd);
    __atomic_store_n(&d->state, (uint8_t)ASF_FD_JOINED, __ATOMIC_RELEASE);
}

static void stream_closing(struct asf_cios *c) {
    struct asf_fd *d = asf__fd(c->fd);
    asf__pipe_before_close(c->fd);
    if (d && d->state == ASF_FD_JOINED && d->joined == c)
        asf__change_state(d, ASF_FD_JOINED, ASF_FD_KERNEL);
}

__attribute__((constructor)) static void install_hooks(void) {
    asf__descriptor_used = before_descriptor_use;
    asf__hooks.linked = stream_linked;
    asf__hooks.joined = join_descriptor;
    asf__hooks.closing = stream_closing;
    asf__offer_rings();
    if (asf__faults_are_blocked())
        asf__never_private();
    if (asf__options()->decompress)
        asf__set_unexamined(0, O_RDONLY);
    if (asf__rings())
        asf__register_fork_handlers();
}
