/* SPDX-License-Identifier: MIT
 *
 * read.c - read and its kin, and lseek: on a private descriptor out of its stream's
 * current buffer (the paper's Figure 5), which is a part of the file as the page cache has
 * it.  What the buffer does not have the kernel is asked for, at the offset.
 * Layer: interfaces.  May include: backplane, lib.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <pthread.h>
#include <unistd.h>

#include "lib/sys/copy.h"
#include "lib/sys/fault.h"

enum {
    PAGE = 4096,
    UNLOCKED_COPY = 2048,
    MUCH = (1 << 20) + 1, /* more than the module would take by read() in small pages */
    COST = 16,            /* of a window, or of a read that it should have served */
    COST_OF_LARGE = 2,    /* of a read that is too large for it */
    MOST = 1024,
};

/* --- out of the buffer ------------------------------------------------------------------ */

/* A byte from `last` on, of its page or known, that is not zero; NULL: there is none. */
static inline const char *find_proof(struct asf_fd *d, const struct asf_cios *c, const char *last) {
    const char *proof = d->proof;
    if (*(const volatile char *)last)
        return last;
    if (proof >= last && proof < c->buf_end && *(const volatile char *)proof)
        return proof;
    const char *end = (const char *)(((uintptr_t)last | (PAGE - 1)) + 1); // NOLINT
    for (proof = end < c->buf_end ? end : c->buf_end; --proof > last;)
        if (*(const volatile char *)proof)
            return d->proof = proof;
    return NULL;
}

/* n bytes of the buffer; false: they may not be the file's any more.  As a region, which
 * a handler or another thread cannot have taken away. */
static inline bool copy_out(struct asf_fd *d, char *p, const char *from, size_t n) {
    struct asf_cios *c = d->stream;
    struct asf_buffer *b = c->buffer;
    const char *proof = find_proof(d, c, from + n - 1);
    bool unlocked = n >= UNLOCKED_COPY && !__libc_single_threaded && asf__lock_is_held_once(&c->lk);
    if (asf__unlikely(!proof))
        return false;
    b->refs++;
    b->copies++;
    if (unlocked)
        asf__unlock(&c->lk);
    asf__copy(p, from, n);
    bool whole = *(const volatile char *)proof && !__atomic_load_n(&b->truncated, __ATOMIC_ACQUIRE);
    if (unlocked)
        asf__lock(&c->lk);
    b->copies--;
    if (asf__unlikely(--b->refs == 0 && b != c->buffer)) {
        b->refs++;
        asf__release_buffer(c, b);
    }
    return whole;
}

/* --- at the offset ------------------------------------------------------------------------ */

static void set_offset(struct asf_fd *d, off64_t to) {
    struct asf_cios *c = d->stream;
    off64_t into = to - d->at;
    bool shown = c->buffer && into >= 0 && into <= c->buf_end - c->buf_base;
    d->inside = to;
    d->moving = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (shown)
        asf__set_read(c, c->buf_base, c->buf_base + into, c->buf_end);
    else
        asf__empty_windows(c);
    d->beyond = shown ? 0 : into;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    d->moving = false;
}

/* A descriptor that costs more than it gains is the kernel's. */
static void pay(struct asf_fd *d, int fd) {
    d->credit -= COST;
    if (d->state == ASF_FD_READS && (d->credit < 0 || d->stream->buffer->truncated))
        asf__leave_reads(d, fd, false);
}

/* Whether the bytes from `at` on are this call's: not if a handler has published the descriptor
 * there in the midst of it, and so may have them. */
static inline bool is_mine(const struct asf_fd *d, off64_t at) {
    return asf__likely(d->state == ASF_FD_READS) || d->inside > at;
}

/* The read at `at`, from which the descriptor then moves on, unless another thread has moved
 * it or published it meanwhile. */
static ssize_t read_by_kernel(struct asf_fd *d, int fd, const struct iovec *v, int count, off64_t at) {
    ssize_t r = count == 1 ? asf__raw(SYS_pread64, fd, (long)v->iov_base, (long)v->iov_len, at)
                           : asf__raw(SYS_preadv, fd, (long)v, count, at);
    if (d->state == ASF_FD_READS)
        set_offset(d, at + (r > 0 ? r : 0));
    return r <= 0 || is_mine(d, at) ? r : ASF_NOT_OURS;
}

/* A window where the descriptor stands; false: the kernel's next answer is the one to give.  No
 * handler sees the half of it: the module moves the kernel's offset. */
static bool fill(struct asf_fd *d, int fd) {
    struct asf_cios *c = d->stream;
    const uint64_t signals = asf__hold_signals();
    const off64_t at = asf__offset(d);
    const bool gains = d->state == ASF_FD_READS && (d->credit -= COST) >= 0;
    ssize_t r = 0;
    asf__empty_windows(c);
    d->beyond = at - d->at;
    c->offset = at;
    if (gains)
        r = asf__fill(c, MUCH);
    const bool mapped = r > 0 && c->buffer && c->buffer->lengths;
    if (mapped) {
        d->at = c->offset - (c->read_end - c->buf_base);
        d->beyond = 0;
        d->proof = NULL;
    } else if (d->state == ASF_FD_READS && (!gains || r != 0)) { /* or it could not be mapped */
        set_offset(d, at);
        asf__leave_reads(d, fd, false);
    }
    asf__release_signals(signals);
    return mapped;
}

/* Whether the window serves n bytes as well as the kernel. */
static bool is_worth(struct asf_fd *d, size_t n) {
    const struct asf_cios *c = d->stream;
    if (n <= d->most || n > ASF_LARGEST_READ)
        return n - 1 < d->most;
    if (!d->judged && asf__avail(c) >= (size_t)ASF_FAULT_STEP * ASF_FAULTS_MOST) {
        d->judged = true;
        if (asf__count_faults(c->read_ptr) < ASF_FAULTS_MOST - 1)
            d->most = ASF_LARGEST_READ;
    }
    return n <= d->most;
}

static ssize_t take_slowly(struct asf_fd *d, int fd, char *p, size_t n) {
    struct asf_cios *c = d->stream;
    const struct iovec v = {p, n};
    bool shown = asf__avail(c) > 0 || (n - 1 < ASF_LARGEST_READ && fill(d, fd));
    if (shown && n <= asf__avail(c) && is_worth(d, n)) {
        const off64_t at = asf__offset(d);
        const char *from = c->read_ptr;
        c->read_ptr += n;
        if (copy_out(d, p, from, n))
            return is_mine(d, at) ? (ssize_t)n : ASF_NOT_OURS;
        set_offset(d, at);
    }
    if (n > d->most && d->state == ASF_FD_READS && (d->credit -= COST_OF_LARGE) < 0)
        asf__leave_reads(d, fd, false);
    return d->state == ASF_FD_READS ? read_by_kernel(d, fd, &v, 1, asf__offset(d)) : ASF_NOT_OURS;
}

/* The bytes may not be there any more, or all are zero. */
static ssize_t take_again(struct asf_fd *d, int fd, char *p, size_t n, off64_t at) {
    const struct iovec v = {p, n};
    if (!is_mine(d, at))
        return ASF_NOT_OURS;
    if (d->state != ASF_FD_READS || asf__offset(d) != at + (off64_t)n)
        return asf__raw(SYS_pread64, fd, (long)p, (long)n, at);
    ssize_t r = read_by_kernel(d, fd, &v, 1, at);
    pay(d, fd);
    return r;
}

/* Whether its stream, which is held so, serves the descriptor.  A handler that comes into the
 * midst of a call on it leaves it to the kernel. */
static inline bool is_free(struct asf_fd *d, int fd, unsigned how) {
    if (asf__likely(d->state == ASF_FD_READS && !(how & ASF_NESTED)))
        return true;
    if (d->state == ASF_FD_READS)
        asf__leave_reads(d, fd, true);
    else if (how & ASF_NESTED) /* it may be about to be made private */
        asf__move_on(d, ASF_FD_NEW, ASF_FD_KERNELS);
    return false;
}

static inline ssize_t take(struct asf_fd *d, int fd, char *p, size_t n) {
    struct asf_cios *c = d->stream;
    if (asf__unlikely(asf__counting))
        c->stats.calls++;
    if (asf__unlikely(n - 1 >= asf__avail(c) || n > d->most))
        return take_slowly(d, fd, p, n);
    const off64_t at = asf__offset(d);
    const char *from = c->read_ptr;
    c->read_ptr += n;
    if (asf__unlikely(!copy_out(d, p, from, n)))
        return take_again(d, fd, p, n, at);
    d->credit += d->credit < MOST;
    return is_mine(d, at) ? (ssize_t)n : ASF_NOT_OURS;
}

/* --- descriptors that may become private ----------------------------------------------------- */

/* With its stream locked, so that no thread moves the offset while another makes the
 * descriptor private.  A read that may wait must not lock: then it never will be. */
static bool may_lock(struct asf_fd *d, int fd) {
    struct stat64 st;
    if (!d->regular && !__libc_single_threaded &&
        (asf__fstat(fd, &st) < 0 || !(d->regular = S_ISREG(st.st_mode))))
        asf__move_on(d, ASF_FD_NEW, ASF_FD_KERNELS);
    return d->state == ASF_FD_NEW && asf__ready(d);
}

static ssize_t read_new(struct asf_fd *d, int fd, char *p, size_t n) {
    if (!may_lock(d, fd))
        return ASF_NOT_OURS;
    if (!__libc_single_threaded)
        pthread_testcancel();
    unsigned how = asf__hold(d);
    if (!(how & ASF_NESTED))
        asf__begin_reads(d, fd, n);
    ssize_t r = is_free(d, fd, how) ? take(d, fd, p, n) : ASF_NOT_OURS;
    if (r == ASF_NOT_OURS)
        r = asf__raw(SYS_read, fd, (long)p, (long)n, 0);
    asf__let_go(d, how);
    return r;
}

/* A call of the kernel's that moves the offset. */
static long call_new(struct asf_fd *d, long number, int fd, long a, long b) {
    if (!may_lock(d, fd))
        return ASF_NOT_OURS;
    unsigned how = asf__hold(d);
    if (is_free(d, fd, how)) /* made so by another thread */
        asf__leave_reads(d, fd, false);
    long r = asf__raw(number, fd, a, b, 0);
    asf__let_go(d, how);
    return r;
}

/* --- the calls -------------------------------------------------------------------------------- */

static ssize_t read_other(struct asf_fd *d, int fd, char *p, size_t n) {
    ssize_t r = ASF_NOT_OURS;
    if (d && d->state == ASF_FD_NEW)
        r = read_new(d, fd, p, n);
    else if (d && d->state == ASF_FD_JOINED)
        r = asf__joined_read(d->joined, p, n);
    if (r != ASF_NOT_OURS)
        return r;
    asf__before_look();
    return asf__rings() ? asf__pipe_read(fd, p, n) : asf__cancellable_read(fd, p, n);
}

EXPORT ssize_t read(int fd, void *p, size_t n) {
    struct asf_fd *d = asf__fd(fd);
    ssize_t r = ASF_NOT_OURS;
    if (asf__likely(d && d->state == ASF_FD_READS)) {
        unsigned how = asf__hold(d);
        if (asf__likely(is_free(d, fd, how)))
            r = take(d, fd, p, n);
        asf__let_go(d, how);
    }
    if (asf__unlikely(r == ASF_NOT_OURS))
        r = read_other(d, fd, p, n);
    return asf__likely(r >= 0) ? r : asf__answer(r);
}

#ifndef ASF_STATIC
static size_t length_of(const struct iovec *v, int count) {
    size_t n = 0;
    for (int i = 0; i < count; i++)
        n += v[i].iov_len <= ASF_LARGEST_READ ? v[i].iov_len : ASF_LARGEST_READ + 1;
    return n;
}

static ssize_t take_parts(struct asf_fd *d, int fd, const struct iovec *v, int count) {
    struct asf_cios *c = d->stream;
    const char *from = c->read_ptr;
    const off64_t at = asf__offset(d);
    size_t n = count > 0 && count <= 16 ? length_of(v, count) : 0;
    bool shown = n - 1 < d->most && n <= asf__avail(c), whole = shown;
    if (shown)
        c->read_ptr += n;
    for (int i = 0; whole && i < count; from += v[i++].iov_len)
        whole = v[i].iov_len == 0 || copy_out(d, v[i].iov_base, from, v[i].iov_len);
    if (whole)
        return is_mine(d, at) ? (ssize_t)n : ASF_NOT_OURS;
    ssize_t r = read_by_kernel(d, fd, v, count, at);
    if (shown)
        pay(d, fd);
    return r;
}

EXPORT ssize_t readv(int fd, const struct iovec *v, int count) {
    struct asf_fd *d = asf__fd(fd);
    ssize_t r = ASF_NOT_OURS;
    if (d && d->state == ASF_FD_READS) {
        unsigned how = asf__hold(d);
        if (is_free(d, fd, how))
            r = take_parts(d, fd, v, count);
        asf__let_go(d, how);
    } else if (d && d->state == ASF_FD_NEW) {
        r = call_new(d, SYS_readv, fd, (long)v, count);
    }
    if (r != ASF_NOT_OURS)
        return asf__answer(r);
    asf__publish(fd);
    asf__before_look();
    return ASF_NEXT(readv)(fd, v, count);
}

/* Whether the buffer has them.  One that is read nowhere else gets its buffer here. */
static bool take_at(struct asf_fd *d, int fd, char *p, size_t n, off64_t at) {
    const struct asf_cios *c = d->stream;
    unsigned how = asf__hold(d);
    bool there = false;
    if (!(how & ASF_NESTED))
        asf__begin_reads(d, fd, n);
    if (d->state == ASF_FD_READS && !(how & ASF_NESTED) && (c->buffer || fill(d, fd))) {
        off64_t into = at - d->at;
        there = n - 1 < d->most && into >= 0 && (off64_t)n <= c->buf_end - c->buf_base - into &&
                copy_out(d, p, c->buf_base + into, n);
    }
    asf__let_go(d, how);
    return there;
}

EXPORT ssize_t pread(int fd, void *p, size_t n, off_t at) {
    struct asf_fd *d = asf__fd(fd);
    if (d && (d->state == ASF_FD_READS || (d->state == ASF_FD_NEW && may_lock(d, fd))) &&
        take_at(d, fd, p, n, at))
        return (ssize_t)n;
    if (d && d->state == ASF_FD_JOINED)
        asf__publish(fd);
    asf__before_look();
    return asf__answer(asf__cancellable_pread(fd, p, n, at));
}

ssize_t pread64(int, void *, size_t, off64_t) ALIAS(pread);

/* Of programs that are compiled with _FORTIFY_SOURCE. */
#define CHECKED(name, n, room, call)                                                                         \
    if (asf__unlikely((n) > (room)))                                                                         \
        __chk_fail();                                                                                        \
    return call

extern void __chk_fail(void) __attribute__((noreturn));
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);

EXPORT ssize_t __read_chk(int fd, void *p, size_t n, size_t room) {
    CHECKED(read, n, room, read(fd, p, n));
}

EXPORT ssize_t __pread_chk(int fd, void *p, size_t n, off_t at, size_t room) {
    CHECKED(pread, n, room, pread(fd, p, n, at));
}

ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t) ALIAS(__pread_chk);
#endif

/* --- lseek ------------------------------------------------------------------------------------ */

/* Far targets, and those that do not exist, are the kernel's to judge. */
static off64_t seek(struct asf_fd *d, int fd, off64_t offset, int whence) {
    const off64_t far = (off64_t)1 << 40;
    off64_t base = whence == SEEK_CUR ? asf__offset(d) : 0, to;
    if (whence != SEEK_CUR && whence != SEEK_SET) {
        to = asf__lseek(fd, offset, whence);
    } else if (__builtin_add_overflow(base, offset, &to) || to < 0 || to > far) {
        asf__leave_reads(d, fd, false);
        return ASF_NOT_OURS;
    }
    if (to >= 0)
        set_offset(d, to);
    return to;
}

EXPORT off_t lseek(int fd, off_t offset, int whence) {
    struct asf_fd *d = asf__fd(fd);
    off64_t r = ASF_NOT_OURS;
    if (d && d->state == ASF_FD_READS) {
        unsigned how = asf__hold(d);
        if (is_free(d, fd, how))
            r = seek(d, fd, offset, whence);
        asf__let_go(d, how);
    } else if (d && d->state == ASF_FD_NEW) {
        r = call_new(d, SYS_lseek, fd, offset, whence);
    } else if (d && d->state == ASF_FD_JOINED) {
        return asf__answer(asf__joined_seek(d->joined, offset, whence));
    }
    if (r != ASF_NOT_OURS)
        return asf__answer(r);
    asf__before_look();
    return asf__answer(asf__lseek(fd, offset, whence));
}

off64_t lseek64(int, off64_t, int) ALIAS(lseek);
