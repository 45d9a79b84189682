/* SPDX-License-Identifier: MIT
 *
 * write.c - writes go to the kernel, at once, unless write=coalesce asks for the paper's
 * buffering: then small ones to a regular file go by the stream's output buffer.
 * Layer: interfaces.  May include: streams/streams.h, backplane, lib.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <unistd.h>

enum { SMALL_WRITE = 4096, BUFFER = 64 << 10 };

int asf__coalescing;

/* --- coalesced ------------------------------------------------------------------------------ */

/* No handler sees the half of it. */
static void flush(struct asf_fd *d) {
    if (asf__pending(&d->stream) == 0)
        return;
    const uint64_t signals = asf__hold_signals();
    int rc = asf__flush_output(&d->stream);
    asf__release_signals(signals);
    if (rc < 0)
        d->failed = rc;
}

/* Whether no other descriptor coalesces on the file: their order would be lost. */
static bool is_only_one(const struct stat64 *st) {
    for (int fd = 0; fd <= asf__highest; fd++) {
        const struct asf_fd *e = &asf__fds[fd];
        if (asf__is(e, ASF_FD_COALESCES) && e->inode == st->st_ino && e->device == st->st_dev)
            return false;
    }
    return true;
}

static void begin(struct asf_fd *d, int fd) {
    struct stat64 st;
    if ((d->flags & O_ACCMODE) == O_RDONLY || !asf__begin(d))
        return;
    asf__cios_set_up(&d->stream, &asf__for_asi, fd, O_WRONLY);
    if (!d->pages)
        d->pages = asf__zero_pages(BUFFER);
    bool suitable = d->pages && asf__fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_only_one(&st);
    if (suitable) {
        d->device = st.st_dev;
        d->inode = st.st_ino;
        asf__set_buffer(&d->stream, d->pages, BUFFER);
    }
    asf__begun(d, suitable ? ASF_FD_COALESCES : ASF_FD_KERNELS);
}

/* An error of a write before is told in place of this one. */
static ssize_t append(struct asf_fd *d, const char *p, size_t n) {
    int failed, unused;
    if (n > asf__room(&d->stream))
        flush(d);
    failed = d->failed;
    d->failed = 0;
    if (failed)
        return failed;
    asf__append(&d->stream, p, n, &unused);
    return (ssize_t)n;
}

static ssize_t coalesce(struct asf_fd *d, int fd, const char *p, size_t n) {
    ssize_t r = ASF_NOT_OURS;
    if (n - 1 >= SMALL_WRITE || (d->state != ASF_FD_NEW && d->state != ASF_FD_COALESCES))
        return r;
    bool first = asf__enter_fd(d);
    if (first) {
        if (asf__is(d, ASF_FD_NEW))
            begin(d, fd);
        if (d->state == ASF_FD_COALESCES)
            r = append(d, p, n);
    }
    asf__leave_fd(d, first);
    return r;
}

static void flush_of(struct asf_fd *d) {
    bool first = asf__enter_fd(d);
    if (d->state == ASF_FD_COALESCES && first)
        flush(d);
    asf__leave_fd(d, first);
}

/* Of a descriptor that is open or about to be closed: what is told may have failed before. */
int asf__flush_coalesced(int fd) {
    struct asf_fd *d = (unsigned)fd < ASF_FDS ? &asf__fds[fd] : NULL;
    if (asf__is(d, ASF_FD_COALESCES))
        flush_of(d);
    return d && asf__unlikely(d->failed) ? __atomic_exchange_n(&d->failed, 0, __ATOMIC_RELAXED) : 0;
}

void asf__flush_all_coalesced(void) {
    for (int fd = 0; fd <= asf__highest; fd++)
        if (asf__is(&asf__fds[fd], ASF_FD_COALESCES))
            flush_of(&asf__fds[fd]);
}

void asf__publish_coalescing(void) {
    for (int fd = 0; fd <= asf__highest; fd++)
        if (asf__is(&asf__fds[fd], ASF_FD_COALESCES))
            asf__publish(fd);
}

/* In the midst of a call what it has not added yet comes behind. */
void asf__leave_coalescing(struct asf_fd *d, int fd, bool nested, bool ending) {
    const struct asf_cios *c = &d->stream;
    if (nested && ending)
        asf__raw(SYS_write, fd, (long)c->write_base, (long)asf__pending(c), 0);
    if (nested)
        return;
    flush(d);
    asf__leave(d, false);
}

/* --- the calls ------------------------------------------------------------------------------ */

long asf__unix_write(int fd, const void *p, size_t n) {
    struct asf_fd *d = asf__fd(fd);
    ssize_t r = d && asf__options()->coalesce ? coalesce(d, fd, p, n) : ASF_NOT_OURS;
    if (r != ASF_NOT_OURS)
        return asf__answer(r);
    asf__before_look();
    if (d && d->state != ASF_FD_COALESCES)
        asf__publish(fd);
    return asf__answer(asf__rings() ? asf__pipe_write(fd, p, n) : asf__cancellable_write(fd, p, n));
}

#ifndef ASF_STATIC
long asf__unix_writev(int fd, const struct iovec *v, int count) {
    asf__before_look();
    asf__publish(fd);
    return ASF_NEXT(writev)(fd, v, count);
}

/* A window shows what is written by another way. */
long asf__unix_pwrite(int fd, const void *p, size_t n, off64_t at) {
    asf__before_look();
    if (asf__is(asf__fd(fd), ASF_FD_JOINED))
        asf__publish(fd);
    return ASF_NEXT(pwrite64)(fd, p, n, at);
}

/* The error of a coalesced write is told here, too. */
static long synced(int failed, long r) {
    return failed < 0 && r == 0 ? asf__answer(failed) : r;
}

long asf__unix_fsync(int fd) {
    int failed = asf__flush_coalesced(fd);
    return synced(failed, ASF_NEXT(fsync)(fd));
}

long asf__unix_fdatasync(int fd) {
    int failed = asf__flush_coalesced(fd);
    return synced(failed, ASF_NEXT(fdatasync)(fd));
}
#endif
