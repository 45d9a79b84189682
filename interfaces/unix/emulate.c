/* SPDX-License-Identifier: MIT
 *
 * emulate.c - Unix I/O on descriptors that this process keeps the offset of:
 * what is not done in line.  README.md says why nobody can tell.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "interfaces/unix/emulate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "backplane/backplane.h"
#include "backplane/gather.h"
#include "backplane/pipe_ring.h"
#include "lib/sys/options.h"

long asf__failed(long r) {
    errno = (int)-r;
    return -1;
}

int asf__calls_under_way;

static void learn_writable(const char *p, size_t n) {
    uintptr_t first = (uintptr_t)p >> ASF_PAGE_BITS, last = ((uintptr_t)p + n - 1) >> ASF_PAGE_BITS;
    for (; first <= last && last - first < ASF_WRITABLE; first++)
        asf__writable[first % ASF_WRITABLE] = first + 1;
}

/* --- reading ----------------------------------------------------------------------- */

static unsigned reads(unsigned mark) {
    return mark & (ASF_SMALLEST_ONLY - 1);
}

static inline __attribute__((always_inline)) ssize_t kernel_read(int fd, char *p, size_t n, off64_t where) {
    return where < 0 ? asf__kernel_read(fd, p, n) : __pread64(fd, p, n, where);
}

/* A descriptor that is not kept yet. */
static inline ssize_t read_and_count(int fd, char *p, size_t n, off64_t where) {
    ssize_t r = kernel_read(fd, p, n, where);
    if (r > 0 && n <= ASF_SMALL_READ) {
        learn_writable(p, (size_t)r);
        unsigned mark = asf__mark(fd), most = mark & ASF_SMALLEST_ONLY ? ASF_SMALLEST_READ : ASF_SMALL_READ;
        if (mark > 0 && mark < ASF_KEPT && reads(mark) < ASF_SMALLEST_ONLY - 1 && (size_t)r == n && n <= most)
            asf__marks[fd] = (uint8_t)(mark + 1);
    }
    return r;
}

/* Whether the next reads will be in sequence, or about anywhere in a file that is
 * not larger than a view; `further`: where the view ends. */
static bool in_sequence(struct asf_descriptor *d, off64_t at, size_t n, bool *further) {
    const struct asf_view *v = &d->view;
    off64_t end = v->at + (off64_t)v->size;
    *further = v->base && at <= end && at + (off64_t)n > end && end < d->size;
    if (*further)
        return d->run >= 0;
    const bool at_once = asf__options()->unix_io == ASF_UNIX_ON;
    d->run = d->run < 0 || at == d->expected ? d->run + 1 : 0;
    if (d->run == 0 && d->astray < ASF_ASTRAY)
        d->astray += at_once ? ASF_ASTRAY / 2 : 1;
    return d->run >= (at_once ? 1 : 4) || (d->run >= 0 && asf__wants_all(d));
}

enum { NOT_YET = -32 };

/* A read, of at most INT_MAX bytes, may lead to where no state can say. */
static bool is_too_far(off64_t at) {
    return at > (off64_t)ASF_LARGEST_OFFSET - INT_MAX;
}

static ssize_t read_kept(struct asf_descriptor *d, int fd, char *p, size_t n, off64_t where) {
    uint64_t state = asf__state(d);
    off64_t at = where < 0 ? asf__position(state) : where;
    bool further;
    if (d->fd != fd) /* a handler has closed it, and another took its place */
        return -EAGAIN;
    if (where < 0 && is_too_far(at)) {
        asf__unkeep(fd, true);
        return -EAGAIN;
    }
    if (n - 1 < d->most && asf__is_writable(p, n) && in_sequence(d, at, n, &further)) {
        if (asf__next_view(d, fd, state, at, n, further) && asf__from_view(d, fd, p, n, where))
            return (ssize_t)n;
        d->run = NOT_YET;
        return -EAGAIN;
    }
    if (where >= 0 && d->astray >= ASF_ASTRAY && d->served == 0) { /* a view will never serve it */
        asf__unkeep(fd, true);
        return -EAGAIN;
    }
    ssize_t r = __pread64(fd, p, n, at);
    if (r > 0)
        learn_writable(p, (size_t)r);
    if (r > 0 && where < 0 && !asf__move(d, state, state + (uint64_t)r))
        return -EAGAIN;
    d->expected = at + (r > 0 ? r : 0);
    if (d->expected > d->size)
        d->size = d->expected;
    return r;
}

/* Whether so many small reads were made that the descriptor is to be kept. */
static bool is_time(unsigned mark, size_t n) {
    if (n - 1 >= (mark & ASF_SMALLEST_ONLY ? ASF_SMALLEST_READ : ASF_SMALL_READ))
        return false;
    return asf__options()->unix_io == ASF_UNIX_ON ? reads(mark) > 1 : (int)reads(mark) >= asf__patience;
}

/* With the count of calls raised.  -EAGAIN: the descriptor is kept. */
static inline ssize_t read_by_kernel(int fd, char *p, size_t n, off64_t where) {
    unsigned mark = asf__mark(fd);
    if (mark >= ASF_KEPT)
        return -EAGAIN;
    if (mark == 0)
        return kernel_read(fd, p, n, where);
    if (is_time(mark, n) && asf__calls_under_way == 1 && asf__keep_if_worth(fd, n))
        return -EAGAIN;
    return read_and_count(fd, p, n, where);
}

ssize_t asf__marked_read(int fd, void *p, size_t n, off64_t where) {
    ssize_t r;
    do {
        asf__calls_under_way++;
        r = read_by_kernel(fd, p, n, where);
        asf__calls_under_way--;
        if (r == -EAGAIN && !__libc_single_threaded)
            asf__stop_keeping();
        else if (r == -EAGAIN && asf__mark(fd) >= ASF_KEPT)
            r = read_kept(asf__kept(asf__mark(fd)), fd, p, n, where);
    } while (r == -EAGAIN);
    return r;
}

ssize_t asf__marked_readv(int fd, const struct iovec *v, int n) {
    for (;;) {
        asf__calls_under_way++;
        unsigned mark = asf__mark(fd);
        ssize_t r = mark < ASF_KEPT ? asf__raw(SYS_readv, fd, (long)v, n, 0) : 0;
        asf__calls_under_way--;
        if (mark < ASF_KEPT)
            return r < 0 ? asf__failed(r) : r;
        struct asf_descriptor *d = asf__kept(mark);
        uint64_t state = asf__state(d);
        if (d->fd != fd)
            continue;
        if (is_too_far(asf__position(state))) {
            asf__unkeep(fd, true);
            continue;
        }
        r = preadv64(fd, v, n, asf__position(state));
        if (r <= 0 || asf__move(d, state, state + (uint64_t)r))
            return r;
    }
}

/* --- writing ------------------------------------------------------------------------- */

ssize_t asf__marked_write(int fd, const void *p, size_t n) {
    asf__calls_under_way++;
    if (asf__mark(fd) >= ASF_KEPT)
        asf__unkeep(fd, true);
    else
        asf__marks[fd] = 0;
    ssize_t r = asf__kernel_write(fd, p, n);
    asf__calls_under_way--;
    return r;
}

/* --- the offset --------------------------------------------------------------------- */

/* By the kernel: ends, holes, errors.  What is asked for is no longer relative,
 * so that it can be asked for again when a handler came by. */
static off64_t seek_by_kernel(struct asf_descriptor *d, uint64_t state, int fd, off64_t to, int whence) {
    d->kernel_at = -1;
    off64_t r = asf__lseek(fd, to, whence);
    d->kernel_at = -1;
    if (r < 0)
        return r;
    if ((uint64_t)r <= ASF_LARGEST_OFFSET)
        return asf__move(d, state, (state & ~ASF_LARGEST_OFFSET) | (uint64_t)r) ? r : -EAGAIN;
    asf__unkeep(fd, true);
    return -EAGAIN;
}

static off64_t seek_kept(struct asf_descriptor *d, int fd, off64_t offset, int whence) {
    uint64_t state = asf__state(d);
    off64_t to = offset;
    if (d->fd != fd)
        return -EAGAIN;
    if (whence == SEEK_CUR && __builtin_add_overflow(asf__position(state), offset, &to)) {
        asf__unkeep(fd, true);
        return -EAGAIN;
    }
    bool absolute = whence == SEEK_SET || whence == SEEK_CUR;
    if (absolute && to >= 0 && to <= d->size)
        return asf__move(d, state, (state & ~ASF_LARGEST_OFFSET) | (uint64_t)to) ? to : -EAGAIN;
    return seek_by_kernel(d, state, fd, to, absolute ? SEEK_SET : whence);
}

off64_t asf__marked_lseek(int fd, off64_t offset, int whence) {
    for (;;) {
        asf__calls_under_way++;
        unsigned mark = asf__mark(fd);
        off64_t r = mark < ASF_KEPT ? asf__lseek(fd, offset, whence) : 0;
        asf__calls_under_way--;
        if (mark >= ASF_KEPT)
            r = seek_kept(asf__kept(mark), fd, offset, whence);
        if (r >= 0)
            return r;
        if (r != -EAGAIN)
            return asf__failed(r);
    }
}

/* --- opening -------------------------------------------------------------------------- */

int asf__opened(int fd, int flags) {
    const int harmless =
        O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CREAT | O_EXCL | O_NOATIME | O_TRUNC | 0100000;
    asf__fd_changed();
    if (flags & O_TRUNC)
        asf__drop_views();
    if (asf__rings())
        asf__pipe_opened(fd);
    if (asf__options()->coalesce)
        asf__end_gathering(fd);
    const int access = flags & ~harmless; /* what may be written, too, is kept until it is */
    if (fd >= 0 && (access == O_RDONLY || (access == O_RDWR && !asf__options()->coalesce)))
        asf__mark_descriptor(fd);
    return fd;
}
