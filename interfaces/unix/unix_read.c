/* SPDX-License-Identifier: MIT
 *
 * unix_read.c - read, readv, pread, preadv and lseek.  A private descriptor is read from its stream's current
 * buffer (the paper's Figure 5): a window that maps the file from the page cache.  Bytes that the window does
 * not have are read from the kernel at the descriptor's offset.
 *
 * A signal handler may interrupt a call and use the same descriptor, which publishes it.  A call therefore
 * advances the offset before it copies the bytes, and checks afterwards whether the descriptor was published.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <pthread.h>
#include <unistd.h>

#include "lib/sys/copy.h"

enum {
    SMALL_READ = 4096, /* larger reads are the kernel's: its copy takes no page faults */
    UNLOCKED_COPY = 2048,
    /* A window costs as much as some 40 reads.  It is opened after READS_BEFORE small reads by the kernel,
     * if the file is as long as MIN_FUTURE_READS reads; MIN_FUTURE_LARGER_READS for reads above SMALL_GAIN
     * bytes, which gain less.  When READS_BEFORE reads have missed a window that served fewer than
     * MIN_FUTURE_READS, it is closed, and is the descriptor's last. */
    READS_BEFORE = 32,
    MIN_FUTURE_READS = 64,
    SMALL_GAIN = 1024, /* bytes */
    MIN_FUTURE_LARGER_READS = 256,
};

/* --- the window --------------------------------------------------------------------------- */

/* Returns where the window has the n bytes at offset `at`; NULL if it does not have all of them. */
static inline const char *find_in_window(const struct asf_fd *d, size_t n, off64_t at) {
    const struct asf_cios *c = &d->stream;
    size_t size = (size_t)(c->buf_end - c->buf_base), into = (size_t)(at - d->window.at);
    return asf__likely(n - 1 < SMALL_READ && into < size && n <= size - into) ? c->buf_base + into : NULL;
}

/* Returns false if the bytes may not be the file's, because it was truncated. */
static inline bool copy_from_window(struct asf_fd *d, char *p, const char *from, size_t n) {
    asf__copy(p, from, n);
    return asf__still_there(&d->window, from + n - 1);
}

/* As copy_from_window, with the stream unlocked meanwhile.  The reference keeps the window mapped. */
static bool copy_unlocked(struct asf_fd *d, char *p, const char *from, size_t n) {
    struct asf_buffer *b = &d->window.b;
    b->refs++;
    b->copies++;
    asf__unlock(&d->stream.lk);
    bool whole = copy_from_window(d, p, from, n);
    asf__lock(&d->stream.lk);
    b->copies--;
    asf__release_buffer(&d->stream, b);
    return whole;
}

static inline bool copy_parts(struct asf_fd *d, const struct iovec *v, int count, const char *from) {
    bool whole = true;
    if (count == 1 && v->iov_len >= UNLOCKED_COPY && !__libc_single_threaded)
        whole = copy_unlocked(d, v->iov_base, from, v->iov_len);
    else
        for (int i = 0; whole && i < count; from += v[i++].iov_len)
            whole = v[i].iov_len == 0 || copy_from_window(d, v[i].iov_base, from, v[i].iov_len);
    d->served += whole;
    return whole;
}

/* Opens or moves the window for a read of n bytes at `at`.  Returns the descriptor's next state: PRIVATE;
 * KERNEL, if a window is not worth it for such reads; or NEW, to try again later: the program reads at
 * scattered offsets, and each read may cost a page fault. */
static enum asf_fd_state try_window(struct asf_fd *d, int fd, size_t n, off64_t at) {
    struct asf_cios *c = &d->stream;
    struct stat64 st;
    const bool forced = asf__options()->module[0] == 'm', is_scattered = d->seeks > d->missed / 2;
    off64_t future_reads = n > SMALL_GAIN ? MIN_FUTURE_LARGER_READS : MIN_FUTURE_READS;
    c->fd = fd;
    if (asf__fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || at >= st.st_size)
        return ASF_FD_KERNEL;
    if (!forced && !is_scattered && st.st_size < (off64_t)n * future_reads)
        return ASF_FD_KERNEL;
    if (!forced && is_scattered && !c->buffer && d->misses_allowed < asf__map_costs(c, st.st_size)) {
        d->misses_allowed = asf__map_costs(c, st.st_size);
        return ASF_FD_NEW;
    }
    if (!c->buffer && !(c->why = asf__why_map(c, &st)))
        return ASF_FD_KERNEL;
    return asf__show_window(c, &d->window, at, st.st_size) ? ASF_FD_PRIVATE : ASF_FD_KERNEL;
}

void asf__reset_read_counts(struct asf_fd *d, unsigned needed) {
    d->missed = d->served = d->seeks = 0;
    d->misses_allowed = needed;
}

unsigned asf__reads_before_window(void) {
    return asf__options()->module[0] == 'm' ? 0 : READS_BEFORE;
}

static void begin_private(struct asf_fd *d, int fd, size_t n, off64_t at) {
    struct asf_cios *c = &d->stream;
    if (!asf__try_lock_fd(d))
        return;
    if (asf__lock_is_held_once(&c->lk) && asf__begin_private(d)) {
        asf__cios_set_up(c, &asf__for_asi, fd, O_RDONLY);
        c->offset = asf__kernel_lseek(fd, 0, SEEK_CUR);
        enum asf_fd_state to = c->offset < 0 ? ASF_FD_KERNEL : try_window(d, fd, n, at < 0 ? c->offset : at);
        if (to == ASF_FD_PRIVATE)
            asf__reset_read_counts(d, READS_BEFORE);
        asf__finish_begin_private(d, to);
    }
    asf__unlock(&c->lk);
}

/* Counts a small read of a NEW descriptor that the kernel served: n bytes at the offset `at`; a negative `at`
 * means the descriptor's offset.  lock: none. */
static void count_new_miss(struct asf_fd *d, int fd, size_t n, off64_t at) {
    d->seeks += at >= 0;
    if (++d->missed > d->misses_allowed)
        begin_private(d, fd, n, at);
}

/* Counts a small read of a private descriptor that the window did not serve; arguments as count_new_miss's.
 * lock: held. */
static void count_miss(struct asf_fd *d, int fd, size_t n, off64_t at) {
    if (d->state != ASF_FD_PRIVATE || ++d->missed <= d->misses_allowed)
        return;
    bool gained = d->served >= MIN_FUTURE_READS;
    asf__reset_read_counts(d, READS_BEFORE);
    if (!gained || try_window(d, fd, n, at < 0 ? d->stream.offset : at) != ASF_FD_PRIVATE)
        asf__publish_private(d, fd, false);
}

void asf__publish_private(struct asf_fd *d, int fd, bool nested) {
    asf__kernel_lseek(fd, d->stream.offset, SEEK_SET);
    asf__end_private(d, nested);
}

/* --- the descriptor ------------------------------------------------------------------------- */

/* Whether the descriptor's offset is the kernel's and the descriptor may become private. */
static inline bool is_undecided(const struct asf_fd *d) {
    const unsigned state = d ? __atomic_load_n(&d->state, __ATOMIC_SEQ_CST) : ASF_FD_KERNEL;
    return state == ASF_FD_NEW || asf__unlikely(state == ASF_FD_SHARED);
}

/* Keeps the descriptor from becoming private while the kernel uses its offset in a call.  If the thread is
 * cancelled in the call, the descriptor never becomes private.  returns  false: the descriptor is no longer
 * undecided. */
static inline bool hold_offset(struct asf_fd *d) {
    if (asf__likely(__libc_single_threaded))
        d->offset_users++;
    else
        __atomic_add_fetch(&d->offset_users, 1, __ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return asf__likely(is_undecided(d));
}

static inline void release_offset(struct asf_fd *d) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (asf__likely(__libc_single_threaded))
        d->offset_users--;
    else
        __atomic_sub_fetch(&d->offset_users, 1, __ATOMIC_SEQ_CST);
}

/* Makes the descriptor the kernel's if this call is in a signal handler that interrupted another call on
 * it. */
static __attribute__((noinline)) void return_to_kernel(struct asf_fd *d, int fd) {
    bool nested = !asf__lock_is_held_once(&d->stream.lk);
    if (d->state == ASF_FD_PRIVATE)
        asf__publish_private(d, fd, nested);
    else if (nested)
        asf__change_state(d, ASF_FD_BEGINNING, ASF_FD_KERNEL);
    asf__unlock(&d->stream.lk);
}

/* Takes the lock of a private descriptor.  The state is read once, since it may change between the two
 * tests.  returns  false: the descriptor is the kernel's, or undecided again. */
static inline bool lock_private(struct asf_fd *d, int fd) {
    const unsigned state = __atomic_load_n(&d->state, __ATOMIC_SEQ_CST);
    if (state != ASF_FD_PRIVATE && state != ASF_FD_BEGINNING)
        return false;
    asf__lock(&d->stream.lk);
    if (asf__likely(asf__lock_is_held_once(&d->stream.lk) && d->state == ASF_FD_PRIVATE))
        return true;
    return_to_kernel(d, fd);
    return false;
}

enum entry { KERNEL_SERVES, OFFSET_HELD, PRIVATE_LOCKED };

/* Begins a call.  Returns how to end it: KERNEL_SERVES: there is nothing to end; OFFSET_HELD: by
 * release_offset; PRIVATE_LOCKED: by unlock_private. */
static inline __attribute__((always_inline)) enum entry begin_call(struct asf_fd *d, int fd) {
    do {
        while (is_undecided(d)) {
            if (hold_offset(d))
                return OFFSET_HELD;
            release_offset(d);
        }
        if (d && lock_private(d, fd))
            return PRIVATE_LOCKED;
    } while (asf__unlikely(is_undecided(d)));
    return KERNEL_SERVES;
}

/* If a handler published the descriptor during the call, the end of the call releases the window. */
static inline void unlock_private(struct asf_fd *d) {
    if (asf__unlikely(d->state == ASF_FD_KERNEL && d->stream.buffer && asf__lock_is_held_once(&d->stream.lk)))
        asf__end_private(d, false);
    asf__unlock(&d->stream.lk);
}

/* Whether this call may return the bytes from `at` on.  If a handler published the descriptor at that
 * offset, the bytes may be another reader's. */
static inline bool may_return(const struct asf_fd *d, off64_t at) {
    return asf__likely(d->state == ASF_FD_PRIVATE) || d->published_offset > at;
}

/* Reads from the kernel at offset `at`.  Then sets the descriptor's offset to the end of the bytes read,
 * unless a signal handler has moved it: then it differs from `left`, which this call has set. */
static inline __attribute__((always_inline)) ssize_t
read_at_offset(struct asf_fd *d, int fd, const struct iovec *v, int count, off64_t at, off64_t left) {
    struct asf_cios *c = &d->stream;
    ssize_t r = count == 1 ? asf__raw(SYS_pread64, fd, (long)v->iov_base, (long)v->iov_len, at)
                           : asf__raw(SYS_preadv, fd, (long)v, count, at);
    if (d->state == ASF_FD_PRIVATE && c->offset == left)
        c->offset = at + (r > 0 ? r : 0);
    return r <= 0 || may_return(d, at) ? r : ASF_NOT_OURS;
}

/* Reads from the kernel the bytes that the window gave, which may no longer be the file's. */
static __attribute__((noinline)) ssize_t reread_from_kernel(struct asf_fd *d, int fd, const struct iovec *v,
                                                            int count, size_t n, off64_t at) {
    if (!may_return(d, at))
        return ASF_NOT_OURS;
    ssize_t r = read_at_offset(d, fd, v, count, at, at + (off64_t)n);
    if (d->state == ASF_FD_PRIVATE && d->window.b.truncated)
        asf__publish_private(d, fd, false);
    return r;
}

static inline void count_served(struct asf_fd *d, size_t n) {
    if (asf__unlikely(asf__counting)) {
        d->calls++;
        d->bytes += n;
    }
}

/* Reads from a private descriptor: n bytes in all; n is 0 if they are more than a window serves.  This is one
 * function, since each level of calls above a system call costs some 7 ns. */
static inline __attribute__((always_inline)) ssize_t
read_private(struct asf_fd *d, int fd, const struct iovec *v, int count, size_t n) {
    struct asf_cios *c = &d->stream;
    const off64_t at = c->offset;
    const char *from = find_in_window(d, n, at);
    if (asf__likely(from != NULL)) {
        count_served(d, n);
        c->offset = at + (off64_t)n;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (asf__unlikely(!copy_parts(d, v, count, from)))
            return reread_from_kernel(d, fd, v, count, n, at);
        return may_return(d, at) ? (ssize_t)n : ASF_NOT_OURS;
    }
    ssize_t r = asf__count_call(fd, read_at_offset(d, fd, v, count, at, at), false, false);
    if (n > 0 && r == (ssize_t)n)
        count_miss(d, fd, n, -1);
    return r;
}

/* --- the calls -------------------------------------------------------------------------------- */

/* Makes a read that the window serves a cancellation point, too. */
static inline void test_cancel(void) {
    if (asf__unlikely(!__libc_single_threaded))
        pthread_testcancel();
}

static inline __attribute__((always_inline)) long readv_by_libc(int fd, const struct iovec *v, int count) {
    if (count == 1)
        return asf__cancellable_read(fd, v->iov_base, v->iov_len);
#ifdef ASF_STATIC
    return -ENOSYS;
#else
    ssize_t r = ASF_NEXT(readv)(fd, v, count);
    return r < 0 ? -errno : r;
#endif
}

/* n: as for read_private. */
static inline __attribute__((always_inline)) long read_by_state(struct asf_fd *d, int fd,
                                                                const struct iovec *v, int count, size_t n) {
    ssize_t r = ASF_NOT_OURS;
    if (!is_undecided(d))
        test_cancel();
    const enum entry entry = begin_call(d, fd);
    if (entry == OFFSET_HELD) {
        r = asf__count_call(fd, readv_by_libc(fd, v, count), false, false);
        release_offset(d);
        if (n > 0 && r == (ssize_t)n && asf__has_state(d, ASF_FD_NEW))
            count_new_miss(d, fd, n, -1);
    } else if (entry == PRIVATE_LOCKED) {
        r = read_private(d, fd, v, count, n);
        unlock_private(d);
    }
    return r;
}

static __attribute__((noinline)) long read_slow(struct asf_fd *d, int fd, char *p, size_t n) {
    const struct iovec v = {p, n};
    ssize_t r = d ? read_by_state(d, fd, &v, 1, n <= SMALL_READ ? n : 0) : ASF_NOT_OURS;
    if (r != ASF_NOT_OURS)
        return asf__result_or_errno(r);
    if (asf__has_state(d, ASF_FD_UNEXAMINED) && (r = asf__read_unexamined(d, fd, p, n)) != ASF_NOT_OURS)
        return asf__result_or_errno(r);
    if (asf__has_state(d, ASF_FD_JOINED))
        return asf__result_or_errno(asf__joined_read(d->joined, p, n));
    const bool rings = asf__rings();
    r = rings ? asf__pipe_read(fd, p, n) : asf__cancellable_read(fd, p, n);
    return asf__result_or_errno(asf__count_call(fd, r, false, rings && asf__pipe_has_ring(fd)));
}

long asf__unix_read(int fd, void *p, size_t n) {
    struct asf_fd *d = asf__fd(fd);
    asf__publish_streams(fd);
    if (!d && __libc_single_threaded && !asf__rings())
        return asf__result_or_errno(
            asf__count_call(fd, asf__raw(SYS_read, fd, (long)p, (long)n, 0), false, false));
    return read_slow(d, fd, p, n);
}

#ifndef ASF_STATIC
/* Returns the sum of the lengths; 0 if there are none or too many for a window.  Invalid vectors are left to
 * the kernel. */
static size_t total_length(const struct iovec *v, int count) {
    size_t n = 0;
    for (int i = 0; i < count && count <= 16; i++)
        n += v[i].iov_len <= SMALL_READ ? v[i].iov_len : SMALL_READ + 1;
    return n <= SMALL_READ ? n : 0;
}

long asf__unix_readv(int fd, const struct iovec *v, int count) {
    struct asf_fd *d = asf__fd(fd);
    asf__publish_streams(fd);
    ssize_t r = d ? read_by_state(d, fd, v, count, total_length(v, count)) : ASF_NOT_OURS;
    if (r != ASF_NOT_OURS)
        return asf__result_or_errno(r);
    asf__publish(fd);
    return asf__count_call(fd, ASF_NEXT(readv)(fd, v, count), false, false);
}

/* Reads n bytes at `at` from the window if it has all of them, and returns whether it did.  Never waits for
 * another thread. */
static bool read_from_window(int fd, const struct iovec *v, int count, size_t n, off64_t at) {
    struct asf_fd *d = asf__fd(fd);
    bool there = false;
    asf__publish_streams(fd);
    test_cancel();
    if (asf__has_state(d, ASF_FD_JOINED)) {
        asf__publish(fd);
    } else if (n - 1 < SMALL_READ && at >= 0 && asf__has_state(d, ASF_FD_NEW)) {
        count_new_miss(d, fd, n, at);
    } else if (n - 1 < SMALL_READ && at >= 0 && asf__has_state(d, ASF_FD_PRIVATE) && asf__try_lock_fd(d)) {
        bool nested = !asf__lock_is_held_once(&d->stream.lk);
        const char *from = nested ? NULL : find_in_window(d, n, at);
        there = from && copy_parts(d, v, count, from);
        if (!from && !nested)
            count_miss(d, fd, n, at);
        unlock_private(d);
    }
    if (asf__unlikely(asf__counting) && there)
        asf__count_pread(fd, n);
    return there;
}

long asf__unix_pread(int fd, void *p, size_t n, off64_t at) {
    const struct iovec v = {p, n};
    if (read_from_window(fd, &v, 1, n, at))
        return (long)n;
    return asf__result_or_errno(asf__count_call(fd, asf__cancellable_pread(fd, p, n, at), false, false));
}

long asf__unix_preadv(int fd, const struct iovec *v, int count, off64_t at) {
    size_t n = asf__fd(fd) ? total_length(v, count) : 0;
    if (read_from_window(fd, v, count, n, at))
        return (long)n;
    return asf__count_call(fd, ASF_NEXT(preadv)(fd, v, count, at), false, false);
}
#endif

/* --- lseek ------------------------------------------------------------------------------------ */

/* lseek on a private descriptor.  If the target is negative or above 2^40 bytes (1 TB), it publishes the
 * descriptor and calls the kernel, which refuses or accepts the target. */
static off64_t seek_private(struct asf_fd *d, int fd, off64_t offset, int whence) {
    const off64_t far = (off64_t)1 << 40;
    struct asf_cios *c = &d->stream;
    off64_t base = whence == SEEK_CUR ? c->offset : 0, to;
    if (whence != SEEK_CUR && whence != SEEK_SET) {
        to = asf__kernel_lseek(fd, offset, whence);
    } else if (__builtin_add_overflow(base, offset, &to) || to < 0 || to > far) {
        asf__publish_private(d, fd, false);
        return ASF_NOT_OURS;
    }
    if (to >= 0)
        c->offset = to;
    return to;
}

long asf__unix_lseek(int fd, off64_t offset, int whence) {
    struct asf_fd *d = asf__fd(fd);
    off64_t r = ASF_NOT_OURS;
    asf__publish_streams(fd);
    if (asf__decodes(fd) || asf__has_state(d, ASF_FD_JOINED))
        return asf__result_or_errno(asf__joined_seek(d->joined, offset, whence));
    const enum entry entry = begin_call(d, fd);
    if (entry == PRIVATE_LOCKED) {
        r = seek_private(d, fd, offset, whence);
        unlock_private(d);
    }
    if (r == ASF_NOT_OURS)
        r = asf__kernel_lseek(fd, offset, whence);
    if (entry == OFFSET_HELD) {
        d->seeks++;
        release_offset(d);
    }
    return asf__result_or_errno(r);
}
