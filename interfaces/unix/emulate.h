/* SPDX-License-Identifier: MIT
 *
 * emulate.h - Unix I/O on descriptors that this process keeps the offset of
 * (backplane/descriptor.h): the part that every read() passes through.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#ifndef ASF_INTERFACES_UNIX_EMULATE_H
#define ASF_INTERFACES_UNIX_EMULATE_H

#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "backplane/descriptor.h"
#include "lib/sys/fresh_memory.h"
#include "lib/sys/syscalls.h"

#pragma GCC visibility push(hidden)

/* asf__failed: errno from -errno; returns -1. */
long asf__failed(long r);

enum { ASF_PAGE_BITS = 12 };

static inline bool asf__is_writable(const char *p, size_t n) {
    uintptr_t page = (uintptr_t)p >> ASF_PAGE_BITS, last = ((uintptr_t)p + n - 1) >> ASF_PAGE_BITS;
    do {
        if (asf__writable[page % ASF_WRITABLE] != page + 1)
            return false;
    } while (++page <= last);
    return true;
}

/* Copies of a few bytes, without a call. */
static inline __attribute__((always_inline)) void asf__copy_small(char *to, const char *from, size_t n) {
    if (n >= 16 && n <= 32) {
        __builtin_memcpy(to, from, 16);
        __builtin_memcpy(to + n - 16, from + n - 16, 16);
    } else if (n == 1) {
        *to = *from;
    } else if (n >= 8 && n < 16) {
        __builtin_memcpy(to, from, 8);
        __builtin_memcpy(to + n - 8, from + n - 8, 8);
    } else {
        memcpy(to, from, n);
    }
}

/* Of asf__from_view and asf__marked_read: where the descriptor stands, which then
 * moves on. */
enum { ASF_AT_OFFSET = -1 };

/* Whether the file still had this byte of the view; one that is 0 may be past its end. */
static inline __attribute__((always_inline)) bool asf__is_there(const struct asf_view *v, const char *byte,
                                                                const char *proof) {
    return (*(const volatile char *)byte || *(const volatile char *)proof) &&
           !__atomic_load_n(&v->torn, __ATOMIC_RELAXED);
}

/* asf__from_view: n bytes from `where` on, out of the view; false when they are
 * not there, when the file may have become shorter or a handler came by. */
static inline __attribute__((always_inline)) bool asf__from_view(struct asf_descriptor *d, int fd, char *p,
                                                                 size_t n, off64_t where) {
    const bool busy = d->busy;
    bool done = false;
    d->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const uint64_t state = asf__state(d);
    const struct asf_view *v = &d->view;
    const char *from = v->base, *proof = v->proof;
    const size_t size = v->size, at = (size_t)((where < 0 ? asf__position(state) : where) - v->at);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (asf__likely(n - 1 < d->most && at < size && n <= size - at && d->fd == fd && asf__state(d) == state &&
                    asf__is_writable(p, n) && asf__is_there(v, from + at + n - 1, proof))) {
        asf__copy_small(p, from + at, n);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (asf__likely(asf__is_there(v, p + n - 1, proof)))
            done = asf__move(d, state, where < 0 ? state + n : state);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    d->busy = busy;
    d->served += done;
    return done;
}

/* A system call's result as libc's. */
static inline long asf__answer(long r) {
    return r < 0 ? asf__failed(r) : r;
}

static inline long asf__call(long number, long a, long b, long c) {
    return asf__answer(asf__raw(number, a, b, c, 0));
}

/* The calls in which a thread may be cancelled, with libc's result. */
static inline __attribute__((always_inline)) ssize_t asf__kernel_read(int fd, void *p, size_t n) {
    asf__before_large_read(fd, p, n);
    return asf__answer(asf__cancellable_read(fd, p, n));
}

static inline __attribute__((always_inline)) ssize_t asf__kernel_write(int fd, const void *p, size_t n) {
    return asf__answer(asf__cancellable_write(fd, p, n));
}

static inline __attribute__((always_inline)) int asf__kernel_close(int fd) {
    return (int)asf__answer(asf__cancellable_close(fd));
}

/* The calls on a marked descriptor; each sets errno. */
ssize_t asf__marked_read(int fd, void *p, size_t n, off64_t where);
ssize_t asf__marked_readv(int fd, const struct iovec *v, int n);
/* From then on the descriptor is the kernel's. */
ssize_t asf__marked_write(int fd, const void *p, size_t n);
off64_t asf__marked_lseek(int fd, off64_t offset, int whence);

/* System calls on marked descriptors that the kernel is to do: a handler that
 * comes in between check and call must not begin to keep one. */
extern int asf__calls_under_way;

/* The first small read of a marked descriptor, too early to keep it: a file that is
 * opened for its first bytes costs little more than in libc.  And those that are
 * too large to be counted. */
static inline bool asf__is_kernels(unsigned mark, size_t n) {
    return mark == 1 ||
           (mark < ASF_KEPT && n > (mark & ASF_SMALLEST_ONLY ? ASF_SMALLEST_READ : ASF_SMALL_READ));
}

/* asf__kernels_read: such a read; false when it is none. */
static inline __attribute__((always_inline)) bool asf__kernels_read(int fd, void *p, size_t n, ssize_t *r) {
    asf__calls_under_way++;
    const unsigned mark = asf__mark(fd);
    const bool plain = asf__is_kernels(mark, n);
    if (plain)
        *r = asf__kernel_read(fd, p, n);
    asf__calls_under_way--;
    if (plain && mark == 1 && *r == (ssize_t)n && n - 1 < ASF_SMALL_READ && asf__marks[fd] == 1)
        asf__marks[fd] = 2;
    return plain;
}

/* asf__begin_by_kernel: a call follows that uses the descriptor's own offset. */
static inline void asf__begin_by_kernel(int fd) {
    asf__calls_under_way++;
    asf__unkeep(fd, false);
}

static inline void asf__end_by_kernel(void) {
    asf__calls_under_way--;
}

/* asf__opened: what an open of the program's returned; returns it. */
int asf__opened(int fd, int flags);

#pragma GCC visibility pop

#endif
