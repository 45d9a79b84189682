/* SPDX-License-Identifier: MIT
 *
 * fresh_memory.c - large pages for memory that a large read is about to fill.
 * Milliseconds of a read of 24 MB, AMD EPYC, Linux 6.18: into memory that has
 * its pages 3, into fresh memory 12.4, in large pages made here 4.3.
 *
 * MADV_COLLAPSE leaves the mapping as it was, which MADV_HUGEPAGE would cut into
 * several, so that the program could no longer mremap it.
 * Layer: lib.  May include: lib.
 */
#define _GNU_SOURCE
#include "lib/sys/fresh_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "lib/sys/clock.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"

#ifdef __x86_64__

enum { PAGE = 4096, LARGE = 2 << 20, PIECE = 32 << 20, MOST = 0x7ffff000 };

/* Of Linux 5.14, 6.1 and 6.11; the headers may be older. */
enum { POPULATE_WRITE = 23, COLLAPSE = 25 };
struct mapping_query {
    uint64_t size, flags, address, start, end, is, page_size, offset, inode;
    uint32_t device[2], name_size, build_id_size;
    uint64_t name, build_id;
};
#define QUERY_MAPPING _IOWR('f', 17, struct mapping_query)
enum { WRITABLE = 2, SHARED = 8 };

/* 2 MB in small pages cost 0.7 ms, in a large one 0.2 unless the kernel has to
 * search for it, or to wait for other processors: what a process may lose. */
enum { GAIN_NS = 500000, MAY_LOSE_NS = 20000000 };
static bool refused;

/* Whether the administrator leaves large pages to those who ask for them; with
 * `always` there is nothing to ask for. */
static bool system_leaves_it_to_us(void) {
    static const char file[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    char text[64] = "";
    uint64_t mask = asf__hold_signals();
    int fd = asf__sys.open(file, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        asf__raw(SYS_read, fd, (long)text, sizeof text - 1, 0);
        asf__sys.close(fd);
    }
    asf__release_signals(mask);
    return strstr(text, "[madvise]") != NULL;
}

static bool system_allows(void) {
    static bool asked;
    if (!asked) {
        asked = true;
        refused = !system_leaves_it_to_us();
    }
    return !refused;
}

static bool is_there(const char *p) {
    unsigned char there = 1;
    asf__raw(SYS_mincore, (long)((uintptr_t)p & ~(uintptr_t)(PAGE - 1)), PAGE, (long)&there, 0);
    return there & 1;
}

/* How much the file has to give: what is not read must not be filled. */
static size_t there_is(int fd, size_t n) {
    struct stat64 st;
    if (asf__sys.fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    off64_t at = asf__lseek(fd, 0, SEEK_CUR), left = st.st_size - at;
    return at < 0 || left < 0 ? 0 : left < (off64_t)n ? (size_t)left : n;
}

/* Nobody else's: neither shared, nor a file's. */
static bool is_private(const char *p, const char *end) {
    struct mapping_query q = {.size = sizeof q, .address = (uintptr_t)p};
    uint64_t mask = asf__hold_signals();
    int fd = asf__sys.open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    long rc = -ENOENT;
    if (fd >= 0) {
        rc = asf__raw(SYS_ioctl, fd, QUERY_MAPPING, (long)&q, 0);
        asf__sys.close(fd);
    }
    asf__release_signals(mask);
    refused = rc == -ENOTTY;
    return rc == 0 && q.inode == 0 && q.page_size == PAGE && (q.is & WRITABLE) && !(q.is & SHARED) &&
           q.start <= (uintptr_t)p && (uintptr_t)end <= q.end;
}

/* One page must be there for the kernel to collapse what is around it. */
static long collapse(char *from, char *end) {
    for (char *p = from; p < end; p += LARGE) {
        long rc = asf__raw(SYS_madvise, (long)p, PAGE, POPULATE_WRITE, 0);
        if (rc < 0)
            return rc;
    }
    return asf__raw(SYS_madvise, (long)from, end - from, COLLAPSE, 0);
}

/* In pieces, for the time that each takes. */
static void make_large(char *from, char *end) {
    static int64_t lost;
    for (char *to; from < end && !refused; from = to) {
        int64_t began = asf__nanoseconds();
        to = end - from < PIECE ? end : from + PIECE;
        long rc = collapse(from, to);
        lost += asf__nanoseconds() - began - (to - from) / LARGE * GAIN_NS;
        lost = lost > 0 ? lost : 0;
        refused = rc < 0 || lost > MAY_LOSE_NS;
    }
}

/* Only while there is one thread: another could open a file meanwhile, and get
 * another number than it ought to. */
void asf__make_large_pages(int fd, void *p, size_t n) {
    const uintptr_t large = LARGE;
    if (refused || !__libc_single_threaded || !asf__options()->large_pages || is_there((char *)p + n / 2) ||
        !system_allows())
        return;
    n = there_is(fd, n < MOST ? n : MOST);
    char *at = (char *)(((uintptr_t)p + large - 1) & ~(large - 1)); // NOLINT
    char *end = (char *)(((uintptr_t)p + n) & ~(large - 1));        // NOLINT
    if (at < end && is_private(at, end))
        make_large(at, end);
}

#else
void asf__make_large_pages(int fd, void *p, size_t n) {
    (void)fd, (void)p, (void)n;
}
#endif
