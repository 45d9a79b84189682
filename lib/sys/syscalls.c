/* SPDX-License-Identifier: MIT
 *
 * syscalls.c - the table of system calls.  They are made by number, since the program, or this library, may
 * have replaced libc's functions of these names.
 */
#define _GNU_SOURCE
#include "lib/sys/syscalls.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/sys/race_detector.h"

long asf__raw_syscall(long number, long a, long b, long c, long d) {
    return asf__raw(number, a, b, c, d);
}

unsigned asf__processors(void) {
    cpu_set_t set;
    long n = asf__raw_syscall(SYS_sched_getaffinity, 0, sizeof set, (long)&set, 0);
    return n > 0 ? (unsigned)CPU_COUNT_S((size_t)n, &set) : 2;
}

uint64_t asf__hold_signals(void) {
    const uint64_t faults = (uint64_t)1 << (SIGBUS - 1) | (uint64_t)1 << (SIGSEGV - 1) |
                            (uint64_t)1 << (SIGILL - 1) | (uint64_t)1 << (SIGFPE - 1) |
                            (uint64_t)1 << (SIGTRAP - 1) | (uint64_t)1 << (SIGSYS - 1);
    uint64_t all = ~faults, before = 0;
    asf__raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&before, sizeof all);
    return before;
}

void asf__release_signals(uint64_t mask) {
    asf__raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask);
}

/* These are no cancellation points: asf__read and the like are, for the program's calls.  The plain calls
 * read and write the library's own data, also with a stream's lock held. */
ssize_t asf__plain_read(int fd, void *buf, size_t n) {
    return asf__raw(SYS_read, fd, (long)buf, (long)n, 0);
}

ssize_t asf__plain_write(int fd, const void *buf, size_t n) {
    return asf__raw(SYS_write, fd, (long)buf, (long)n, 0);
}

ssize_t asf__read_on(int fd, void *buf, size_t n, void *more, size_t size) {
    asf__use_descriptor(fd, false);
    if (asf__sys.read != asf__plain_read)
        return asf__sys.read(fd, buf, n);
    const struct iovec parts[] = {{buf, n}, {more, size}};
    return asf__raw(SYS_readv, fd, (long)parts, 2, 0);
}

ssize_t asf__write_on(int fd, const void *buf, size_t n, const void *more, size_t size) {
    asf__use_descriptor(fd, true);
    if (asf__sys.write != asf__plain_write)
        return asf__sys.write(fd, buf, n);
    const struct iovec parts[] = {{(void *)(uintptr_t)buf, n}, {(void *)(uintptr_t)more, size}};
    return asf__raw(SYS_writev, fd, (long)parts, 2, 0);
}

static ssize_t sys_pread(int fd, void *buf, size_t n, off64_t offset) {
    return asf__raw(SYS_pread64, fd, (long)buf, (long)n, offset);
}

static ssize_t sys_pwrite(int fd, const void *buf, size_t n, off64_t offset) {
    return asf__raw(SYS_pwrite64, fd, (long)buf, (long)n, offset);
}

off64_t asf__plain_lseek(int fd, off64_t offset, int whence) {
    return asf__raw(SYS_lseek, fd, offset, whence, 0);
}

int asf__plain_open(const char *path, int flags, mode_t mode) {
    return (int)asf__raw(SYS_openat, AT_FDCWD, (long)path, flags, mode);
}

int asf__plain_close(int fd) {
    return (int)asf__raw(SYS_close, fd, 0, 0, 0);
}

int asf__plain_fstat(int fd, struct stat64 *st) {
    return (int)asf__raw(SYS_newfstatat, fd, (long)"", (long)st, AT_EMPTY_PATH);
}

static int sys_open_at(int at, const char *path, int flags) {
    return (int)asf__raw(SYS_openat, at, (long)path, flags, 0);
}

static ssize_t sys_getdents(int fd, void *buf, size_t n) {
    return asf__raw(SYS_getdents64, fd, (long)buf, (long)n, 0);
}

static int sys_statx(int at, const char *path, int flags, unsigned mask, struct statx *st) {
    return (int)asf__raw6(SYS_statx, at, (long)path, flags, mask, (long)st, 0);
}

static int sys_fstatfs(int fd, struct statfs64 *st) {
    return (int)asf__raw(SYS_fstatfs, fd, (long)st, 0, 0);
}

static int sys_isatty(int fd) {
    struct termios unused;
    return asf__raw_syscall(SYS_ioctl, fd, TCGETS, (long)&unused, 0) == 0;
}

/* Calls mmap by its number, since an interface may define a function mmap. */
static void *sys_map(size_t length, int fd, off64_t offset, int *error) {
    long p = asf__raw6(SYS_mmap, 0, (long)length, PROT_READ, MAP_SHARED, fd, offset);
    if (asf__failed(p)) {
        *error = (int)p;
        return NULL;
    }
    return (void *)p; // NOLINT(performance-no-int-to-ptr)
}

void *asf__zero_pages(size_t size) {
    int saved = errno;
    void *p = mmap64(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

int asf__out_of_the_way(int fd) {
    enum { FIRST = 400 };
    int up = (int)asf__raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FIRST, 0);
    if (up < 0)
        return fd;
    asf__sys.close(fd);
    return up;
}

static int sys_unmap(void *addr, size_t length) {
    return (int)asf__raw_syscall(SYS_munmap, (long)addr, (long)length, 0, 0);
}

static ssize_t sys_splice(int in, int out, size_t n) {
    return asf__raw6(SYS_splice, in, 0, out, 0, (long)n, SPLICE_F_MOVE);
}

static ssize_t sys_send(int in, int out, size_t n) {
    return asf__raw(SYS_sendfile, out, in, 0, (long)n);
}

static ssize_t sys_copy_range(int in, int out, size_t n) {
    return asf__raw6(SYS_copy_file_range, in, 0, out, 0, (long)n, 0);
}

static int sys_clone_range(int in, int out, off64_t in_at, off64_t out_at, size_t n) {
    struct file_clone_range range = {
        .src_fd = in, .src_offset = (uint64_t)in_at, .src_length = n, .dest_offset = (uint64_t)out_at};
    return (int)asf__raw(SYS_ioctl, out, FICLONERANGE, (long)&range, 0);
}

static int sys_truncate(int fd, off64_t size) {
    return (int)asf__raw(SYS_ftruncate, fd, size, 0, 0);
}

/* Counts pages in memory by mincore: unlike cachestat it does not count pages whose read failed or is under
 * way. */
static int64_t sys_cached_pages(int fd, off64_t offset, size_t n) {
    enum { AT_ONCE = 1 << 20, PAGE_LEAST = 4096 };
    const size_t page = asf__page();
    unsigned char there[AT_ONCE / PAGE_LEAST];
    int error = 0;
    int64_t count = 0;
    char *p = sys_map(n, fd, offset, &error);
    if (!p)
        return error;
    for (size_t at = 0; at < n; at += AT_ONCE) {
        size_t size = n - at < AT_ONCE ? n - at : AT_ONCE;
        if (asf__raw(SYS_mincore, (long)(p + at), (long)size, (long)there, 0) < 0)
            break;
        for (size_t i = 0; i < (size + page - 1) / page; i++)
            count += there[i] & 1;
    }
    sys_unmap(p, n);
    return count;
}

/* cachestat(2) is in Linux since 6.5, but not in all headers yet. */
enum { CACHESTAT = 451 };

static bool sys_unasked(int fd, off64_t offset) {
    struct {
        uint64_t offset, length;
    } page = {(uint64_t)offset, 1};
    struct {
        uint64_t cached, dirty, written_back, evicted, lately_evicted;
    } found;
    if (asf__raw(CACHESTAT, fd, (long)&page, (long)&found, 0) == 0)
        return found.cached == 0;
    char byte;
    struct iovec to = {&byte, 1};
    return asf__raw6(SYS_preadv2, fd, (long)&to, 1, offset, 0, RWF_NOWAIT) == -EAGAIN;
}

static int sys_advise(int fd, off64_t offset, off64_t n, int advice) {
    return (int)asf__raw(SYS_fadvise64, fd, offset, n, advice);
}

static int sys_pipe(int ends[2]) {
    return (int)asf__raw(SYS_pipe2, (long)ends, O_CLOEXEC, 0, 0);
}

static int sys_pipe_size(int fd, int size) {
    return (int)asf__raw(SYS_fcntl, fd, size > 0 ? F_SETPIPE_SZ : F_GETPIPE_SZ, size, 0);
}

void (*asf__descriptor_used)(int fd, bool closes);

struct asf_syscalls asf__sys = {
    .read = asf__plain_read,
    .write = asf__plain_write,
    .pread = sys_pread,
    .pwrite = sys_pwrite,
    .lseek = asf__plain_lseek,
    .open = asf__plain_open,
    .close = asf__plain_close,
    .open_at = sys_open_at,
    .getdents = sys_getdents,
    .statx = sys_statx,
    .fstat = asf__plain_fstat,
    .fstatfs = sys_fstatfs,
    .isatty = sys_isatty,
    .map = sys_map,
    .unmap = sys_unmap,
    .splice = sys_splice,
    .send = sys_send,
    .copy_range = sys_copy_range,
    .clone_range = sys_clone_range,
    .truncate = sys_truncate,
    .cached_pages = sys_cached_pages,
    .unasked = sys_unasked,
    .advise = sys_advise,
    .pipe = sys_pipe,
    .pipe_size = sys_pipe_size,
};

/* __close: libasf_unix does not replace this name. */
extern OF_LIBC __attribute__((weak)) int __close(int fd);

static int sys_close_seen(int fd) {
    const int before = errno;
    int rc = __close(fd) < 0 ? -errno : 0;
    errno = before;
    return rc;
}

/* Reports the library's closes to a race detector, which has seen the program open the descriptors.
 * Otherwise it would report a race when the number is used again. */
void asf__show_closes(void) {
    if (asf__has_race_detector() && asf__sys.close == asf__plain_close)
        asf__sys.close = sys_close_seen;
}
