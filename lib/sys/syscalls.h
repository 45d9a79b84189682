/* SPDX-License-Identifier: MIT
 *
 * syscalls.h - every system call that the library makes on a stream, in one table whose entries a test can
 * replace.  Each call returns -errno on failure and does not change errno, which only interfaces set.
 */
#ifndef ASF_LIB_SYSCALLS_H
#define ASF_LIB_SYSCALLS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include "lib/sys/export.h"
#include "lib/sys/machine.h"

#pragma GCC visibility push(hidden)

struct asf_syscalls {
    ssize_t (*read)(int fd, void *buf, size_t n);
    ssize_t (*write)(int fd, const void *buf, size_t n);
    ssize_t (*pread)(int fd, void *buf, size_t n, off64_t offset);
    ssize_t (*pwrite)(int fd, const void *buf, size_t n, off64_t offset);
    off64_t (*lseek)(int fd, off64_t offset, int whence);
    int (*open)(const char *path, int flags, mode_t mode);
    int (*close)(int fd);
    /* Directories and their entries. */
    int (*open_at)(int at, const char *path, int flags);
    ssize_t (*getdents)(int fd, void *buf, size_t n);
    int (*statx)(int at, const char *path, int flags, unsigned mask, struct statx *st);
    int (*fstat)(int fd, struct stat64 *st);
    int (*fstatfs)(int fd, struct statfs64 *st);
    int (*isatty)(int fd);
    void *(*map)(size_t length, int fd, off64_t offset, int *error);
    int (*unmap)(void *addr, size_t length);
    /* Copy inside the kernel, at the descriptors' current offsets. */
    ssize_t (*splice)(int in, int out, size_t n);
    ssize_t (*send)(int in, int out, size_t n);
    ssize_t (*copy_range)(int in, int out, size_t n);
    int (*clone_range)(int in, int out, off64_t in_at, off64_t out_at, size_t n);
    int (*truncate)(int fd, off64_t size);
    /* The number of pages in memory among the n bytes from `offset`, a page boundary.  Only the file's
     * owner gets the true number. */
    int64_t (*cached_pages)(int fd, off64_t offset, size_t n);
    /* Whether the page at `offset` is neither in memory nor being read.  If cachestat(2) is missing or
     * refused, a page that is being read counts as unasked. */
    bool (*unasked)(int fd, off64_t offset);
    /* posix_fadvise(). */
    int (*advise)(int fd, off64_t offset, off64_t n, int advice);
    int (*pipe)(int ends[2]);
    int (*pipe_size)(int fd, int size); /* size 0: returns the present size */
};

extern struct asf_syscalls asf__sys;

/* asf__descriptor_used: set by libasf_unix, which may keep a descriptor's offset itself.  Called before a
 * stream moves the offset or closes the descriptor by a system call of its own. */
extern void (*asf__descriptor_used)(int fd, bool closes);
static inline void asf__use_descriptor(int fd, bool closes) {
    if (__builtin_expect(asf__descriptor_used != NULL, 0))
        asf__descriptor_used(fd, closes);
}

/* libc's calls by names that this library never defines.  The dynamic linker resolves them at start-up
 * (OF_LIBC in export.h). */
extern OF_LIBC ssize_t __read(int fd, void *p, size_t n);
extern OF_LIBC ssize_t __write(int fd, const void *p, size_t n);
extern OF_LIBC ssize_t __pread64(int fd, void *p, size_t n, off64_t at);
extern OF_LIBC int __open64(const char *path, int flags, ...);
extern OF_LIBC int *__errno_location(void);
extern OF_LIBC void pthread_testcancel(void);

/* asf__cancellable_*: calls in which the thread can be cancelled at any moment, as in libc's.  With one
 * thread, no thread can cancel it, and the call is made directly.  With more threads libc makes the call,
 * since only libc can wait for the signal of a cancellation that is under way.  If that signal came after
 * the call, it would end a thread that has forbidden cancellation meanwhile. */
#define ASF__CANCELLABLE(alone, by_libc)                                                                     \
    (__extension__({                                                                                         \
        long result_;                                                                                        \
        if (__libc_single_threaded) {                                                                        \
            result_ = alone;                                                                                 \
        } else {                                                                                             \
            const int before_ = errno;                                                                       \
            if ((result_ = by_libc) < 0) {                                                                   \
                result_ = -errno;                                                                            \
                errno = before_;                                                                             \
            }                                                                                                \
        }                                                                                                    \
        result_;                                                                                             \
    }))

static inline __attribute__((always_inline)) ssize_t asf__cancellable_read(int fd, void *p, size_t n) {
    return ASF__CANCELLABLE(asf__raw(SYS_read, fd, (long)p, (long)n, 0), __read(fd, p, n));
}

static inline __attribute__((always_inline)) ssize_t asf__cancellable_write(int fd, const void *p, size_t n) {
    return ASF__CANCELLABLE(asf__raw(SYS_write, fd, (long)p, (long)n, 0), __write(fd, p, n));
}

static inline __attribute__((always_inline)) ssize_t asf__cancellable_pread(int fd, void *p, size_t n,
                                                                            off64_t at) {
    return ASF__CANCELLABLE(asf__raw(SYS_pread64, fd, (long)p, (long)n, at), __pread64(fd, p, n, at));
}

static inline __attribute__((always_inline)) int asf__cancellable_open(const char *path, int flags,
                                                                       mode_t mode) {
    return (int)ASF__CANCELLABLE(asf__raw(SYS_openat, AT_FDCWD, (long)path, flags, mode),
                                 __open64(path, flags, mode));
}

/* asf__read, asf__write, asf__open and so on: the table's calls.  Here reading, writing and opening are
 * cancellation points; calls through asf__sys are not.  After a system call the processor mispredicts
 * returns: each return costs some 7 ns.  So if the table has its usual entry, the system call is inline. */
ssize_t asf__plain_read(int fd, void *buf, size_t n);
ssize_t asf__plain_write(int fd, const void *buf, size_t n);
off64_t asf__plain_lseek(int fd, off64_t offset, int whence);
int asf__plain_open(const char *path, int flags, mode_t mode);
int asf__plain_close(int fd);
int asf__plain_fstat(int fd, struct stat64 *st);

static inline ssize_t asf__read(int fd, void *buf, size_t n) {
    asf__use_descriptor(fd, false);
    if (asf__sys.read == asf__plain_read)
        return asf__cancellable_read(fd, buf, n);
    return asf__sys.read(fd, buf, n);
}

/* asf__read_on, asf__write_on: as asf__read and asf__write, but after the n bytes, bytes of `more` are
 * read or written.  If another interface keeps the descriptor's offset, only the n bytes are moved.  No
 * cancellation points. */
ssize_t asf__read_on(int fd, void *buf, size_t n, void *more, size_t size);
ssize_t asf__write_on(int fd, const void *buf, size_t n, const void *more, size_t size);

static inline ssize_t asf__write(int fd, const void *buf, size_t n) {
    asf__use_descriptor(fd, false);
    if (asf__sys.write == asf__plain_write)
        return asf__cancellable_write(fd, buf, n);
    return asf__sys.write(fd, buf, n);
}

static inline off64_t asf__lseek(int fd, off64_t offset, int whence) {
    asf__use_descriptor(fd, false);
    if (asf__sys.lseek == asf__plain_lseek)
        return asf__raw(SYS_lseek, fd, offset, whence, 0);
    return asf__sys.lseek(fd, offset, whence);
}

static inline int asf__open(const char *path, int flags, mode_t mode) {
    if (asf__sys.open == asf__plain_open)
        return asf__cancellable_open(path, flags, mode);
    return asf__sys.open(path, flags, mode);
}

/* Closing a stream is no cancellation point, as in libc. */
static inline int asf__close(int fd) {
    asf__use_descriptor(fd, true);
    if (asf__sys.close == asf__plain_close)
        return (int)asf__raw(SYS_close, fd, 0, 0, 0);
    return asf__sys.close(fd);
}

/* Tests for cancellation only before the close: a signal does not interrupt a close. */
static inline __attribute__((always_inline)) int asf__cancellable_close(int fd) {
    if (!__libc_single_threaded)
        pthread_testcancel();
    return asf__close(fd);
}

/* asf__show_closes: let a race detector, if there is one, see the library's closes of descriptors. */
void asf__show_closes(void);

/* Calls newfstatat, as libc does: a filter of system calls may allow no other. */
static inline int asf__fstat(int fd, struct stat64 *st) {
    if (asf__sys.fstat == asf__plain_fstat)
        return (int)asf__raw(SYS_newfstatat, fd, (long)"", (long)st, AT_EMPTY_PATH);
    return asf__sys.fstat(fd, st);
}

/* asf__raw_syscall: a call that needs no table; returns -errno. */
long asf__raw_syscall(long number, long a, long b, long c, long d);

/* asf__processors: the number of processors that this thread may run on; 2 if a cpu_set_t is too small
 * for them. */
unsigned asf__processors(void);

/* asf__out_of_the_way: move one of our descriptors to a number of 400 or more, which programs hardly use.
 * returns  the new descriptor, close-on-exec, or `fd` unchanged if it cannot be moved. */
int asf__out_of_the_way(int fd);

/* asf__hold_signals: block all signals except faults, so that no handler runs.  Returns the mask for
 * asf__release_signals. */
uint64_t asf__hold_signals(void);
void asf__release_signals(uint64_t mask);

/* asf__zero_pages: map zeroed memory for a table that few processes need; `unmap` frees it.
 * returns  NULL: no memory. */
void *asf__zero_pages(size_t size);

#pragma GCC visibility pop

#endif
