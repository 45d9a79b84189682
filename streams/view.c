/* SPDX-License-Identifier: MIT
 *
 * view.c - views: mapped parts of a file, out of which small reads are served by
 * a copy instead of a system call.  A view is the page cache itself, so what
 * others write to the file is seen at once.  A truncation is noticed in one of two
 * ways: the kernel zeroes the rest of the last page, so a byte near the view's end
 * that was not zero (its proof) has become zero; or the copy faults.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

#include "backplane/backplane.h"
#include "backplane/descriptor.h"
#include "lib/sys/fault.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"

/* A view costs some 3 microseconds to make, and a fault for each 64 KB.  So the first ones
 * are small, and none is made for fewer than WORTH reads.  The proof is looked for in the
 * view's last PROOF bytes.  A handler that jumps out of a copy leaks the view: after LEAKS
 * of these no more are made. */
enum { PAGE = 4096, FIRST = 64 << 10, LARGEST = ASF_LARGEST_VIEW, WORTH = 32, PROOF = 64, LEAKS = 16 };

/* Reads of more than ASF_SMALLEST_READ pay only in large files whose pages are large: reads
 * of 4 KB have 0.88 of the kernel's speed out of pages of 4 KB, and 2.8 out of large folios.
 * FEW_FAULTS is what a first view of large pages costs at most; after GIVE_UP files of small
 * pages the process looks no more. */
enum { LARGE_FILE = 8 << 20, FEW_FAULTS = 2, GIVE_UP = 2 };
static int found_small_pages;

static const char no_proof = 0;

/* --- mapping ----------------------------------------------------------------------- */

/* Finds a byte near the view's end that is not zero, `*back` bytes before it (0: all are zero).
 * It is read by a system call that fails unless the page is cached: a fault would wait for
 * the disk, and the kernel reads ahead only where it sees reads.  The call also sets the
 * file's time of access, as the program's own read would have. */
static bool find_proof(int fd, off64_t end, ptrdiff_t *back) {
    char bytes[PROOF];
    struct iovec v = {bytes, PROOF < end ? PROOF : (size_t)end};
    ssize_t n = asf__raw6(SYS_preadv2, fd, (long)&v, 1, end - (off64_t)v.iov_len, 0, RWF_NOWAIT);
    if (n == -EOPNOTSUPP)
        n = asf__sys.pread(fd, bytes, v.iov_len, end - (off64_t)v.iov_len);
    if (n != (ssize_t)v.iov_len)
        return false;
    for (*back = 1; *back <= n; ++*back)
        if (bytes[n - *back])
            return true;
    *back = 0;
    return true;
}

/* The view ends at its proof: of the bytes behind it a truncation would not be noticed. */
static bool map(struct asf_view *v, int fd, off64_t at, size_t size, ptrdiff_t back) {
    int error;
    char *base = asf__sys.map(size, fd, at, &error);
    if (!base)
        return false;
    *v = (struct asf_view){
        .at = at, .size = size, .mapped = size, .watch = asf__watch(base, size, &v->torn, &v->end)};
    if (v->watch < 0) {
        asf__sys.unmap(base, size);
        *v = (struct asf_view){.watch = -1}; /* a view that has a size is read from */
        return false;
    }
    v->proof = back ? base + size - back : &no_proof;
    v->size = back ? size - (size_t)back + 1 : size;
    v->base = base;
    return true;
}

static void unmap(const struct asf_view *v) {
    asf__unwatch(v->watch);
    asf__sys.unmap((void *)(uintptr_t)v->base, v->mapped);
}

/* --- whether a descriptor can be kept ------------------------------------------- */

/* Only file systems where a mapped page is at any moment what read() would copy.  Not XFS:
 * its reads see each write whole or not at all.  Not overlayfs: a file that is copied up
 * leaves the map on the old one.  Not a network's: another machine may write. */
static bool suits(int fd, bool *in_memory) {
    struct statfs64 fs;
    if (asf__sys.fstatfs(fd, &fs) < 0 || (fs.f_type != EXT4_SUPER_MAGIC && fs.f_type != TMPFS_MAGIC))
        return false;
    *in_memory = fs.f_type == TMPFS_MAGIC;
    return (fs.f_flags & (ST_NOATIME | ST_RELATIME)) != 0; /* else each read sets the time of access */
}

/* On tmpfs, touching a hole in a map would allocate memory for it. */
static bool has_holes(const struct stat64 *st) {
    return (off64_t)st->st_blocks * 512 < st->st_size;
}

/* Whether enough is left to read, in reads of n bytes, to be worth a view.  Larger reads need
 * `more` bytes, since for them the size of the pages is looked at, too. */
static bool worth_it(off64_t size, off64_t at, size_t n, off64_t more) {
    if (asf__options()->unix_io == ASF_UNIX_ON)
        return true;
    return size - at >= (n <= ASF_SMALLEST_READ ? (off64_t)n * WORTH : more);
}

/* Whether this process may have views; found out once.  Not where SIGBUS is ignored, by which
 * a truncation is noticed, nor where address space is limited, which the views would use up. */
static bool process_allows(uint64_t mask) {
    static bool asked, allowed;
    struct sigaction bus;
    struct rlimit limit;
    if (asf__blocks(mask, SIGBUS))
        return false;
    if (asked)
        return allowed;
    asked = true;
    allowed = sigaction(SIGBUS, NULL, &bus) == 0 &&
              (bus.sa_flags & SA_SIGINFO || bus.sa_handler != SIG_IGN) && getrlimit(RLIMIT_AS, &limit) == 0 &&
              limit.rlim_cur == RLIM_INFINITY;
    return allowed;
}

/* Whether a view costs a fault for 2 MB, as the largest folios do, and not for
 * each 64 KB, as pages of 4 KB. */
static bool has_large_pages(int fd, off64_t at, off64_t size) {
    ptrdiff_t unused;
    struct asf_view v = {.watch = -1};
    off64_t from = (at + LARGEST - 1) / LARGEST * LARGEST;
    if (asf__options()->unix_io == ASF_UNIX_ON)
        return true;
    if (found_small_pages >= GIVE_UP || from + LARGEST > size || !find_proof(fd, from + LARGEST, &unused) ||
        !map(&v, fd, from, LARGEST, 0))
        return false;
    int faults = asf__count_faults(v.base);
    unmap(&v);
    bool large = faults >= 0 && faults <= FEW_FAULTS;
    found_small_pages += !large;
    return large;
}

static struct asf_descriptor *keep(int fd, size_t n, uint64_t mask) {
    struct stat64 st;
    bool in_memory;
    if (!__libc_single_threaded || asf__fd_stream(fd) || !process_allows(mask) ||
        asf__sys.fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    off64_t at = asf__lseek(fd, 0, SEEK_CUR);
    if (at < 0 || !worth_it(st.st_size, at, n, LARGE_FILE) || (uint64_t)st.st_size > ASF_LARGEST_OFFSET / 2 ||
        (uint64_t)at > ASF_LARGEST_OFFSET / 2 || !suits(fd, &in_memory))
        return NULL;
    if (n > ASF_SMALLEST_READ && !has_large_pages(fd, at, st.st_size))
        return NULL;
    struct asf_descriptor *d = asf__keep(fd, at);
    if (d) {
        d->in_memory = in_memory;
        d->size = st.st_size;
        d->run = asf__patience;
        d->most = n > ASF_SMALLEST_READ ? ASF_SMALL_READ : ASF_SMALLEST_READ;
    }
    return d;
}

struct asf_descriptor *asf__keep_if_worth(int fd, size_t n) {
    int saved = errno;
    uint64_t mask = asf__hold_signals();
    struct asf_descriptor *d = keep(fd, n, mask);
    if (!d)
        asf__marks[fd] = n > ASF_SMALLEST_READ ? ASF_SMALLEST_ONLY + 1 : 0;
    asf__release_signals(mask);
    errno = saved;
    return d;
}

/* --- making and dropping ---------------------------------------------------------- */

void asf__drop_view(struct asf_descriptor *d) {
    static int leaks;
    struct asf_view *v = &d->view;
    if (!v->base)
        return;
    if (!d->busy) {
        unmap(v);
    } else if (++leaks > LEAKS) { /* by handlers that jump out of a copy */
        asf__option_values.unix_io = ASF_UNIX_OFF;
    }
    *v = (struct asf_view){.watch = -1};
}

/* The size of a view that begins at `from`: up to a multiple of `reach`, or the file's end. */
static size_t extent(const struct asf_descriptor *d, off64_t from, off64_t size) {
    off64_t reach = (off64_t)d->reach, end = (from + reach + reach / 2) / reach * reach;
    return (size_t)((end < size ? end : size) - from);
}

static bool map_up_to_proof(struct asf_descriptor *d, off64_t at, off64_t from, size_t size, ptrdiff_t back) {
    return at <= from + (off64_t)size - back && map(&d->view, d->fd, from, size, back);
}

static bool make_view(struct asf_descriptor *d, off64_t at, size_t n) {
    struct stat64 st;
    ptrdiff_t back;
    if (asf__wants_all(d))
        at = 0;
    if (asf__sys.fstat(d->fd, &st) < 0 || at >= st.st_size || !worth_it(st.st_size, at, n, LARGEST / 4) ||
        (d->in_memory && has_holes(&st)))
        return false;
    d->size = st.st_size;
    off64_t from = at & ~(off64_t)(PAGE - 1);
    size_t size = extent(d, from, st.st_size);
    if (find_proof(d->fd, from + (off64_t)size, &back))
        return map_up_to_proof(d, at, from, size, back);
    d->reach = FIRST;
    size = extent(d, from, st.st_size);
    return find_proof(d->fd, from + (off64_t)size, &back) && map_up_to_proof(d, at, from, size, back);
}

/* The next view's size: small at first, then growing as long as the program reads `further`. */
static size_t next_reach(const struct asf_descriptor *d, bool further) {
    if (d->most > ASF_SMALLEST_READ || asf__wants_all(d))
        return LARGEST;
    return !further ? FIRST : d->reach * 4 < LARGEST ? d->reach * 4 : LARGEST;
}

bool asf__next_view(struct asf_descriptor *d, int fd, uint64_t state, off64_t at, size_t n, bool further) {
    uint64_t mask = asf__hold_signals();
    bool made = false;
    if (asf__state(d) == state && d->fd == fd) {
        if (!asf__blocks(mask, SIGBUS)) {
            d->reach = next_reach(d, further);
            asf__drop_view(d);
            made = make_view(d, at, n);
        }
        d->state = asf__next_state(asf__position(state));
    }
    asf__release_signals(mask);
    return made;
}
