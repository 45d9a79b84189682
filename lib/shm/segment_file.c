/* SPDX-License-Identifier: MIT
 *
 * segment_file.c - functions for segments that are memory files: files in /dev/shm, or memfds.
 */
#define _GNU_SOURCE
#include "lib/shm/segment_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "lib/shm/memfd.h"
#include "lib/sys/syscalls.h"

/* --- identifiers --------------------------------------------------------------- */

const char *asf__id_number(const char *id) {
    size_t n = strspn(id, "0123456789");
    return n > 0 && n <= 10 && (id[0] != '0' || n == 1) ? id + n : NULL;
}

bool asf__id_random(const char *id, size_t digits) {
    return strspn(id, "0123456789abcdef") == digits && id[digits] == '\0';
}

/* Returns the time plus a counter, unique in this process.  Used if a system-call filter forbids getrandom.
 */
static uint64_t any_number(void) {
    static uint64_t tries;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec +
           __atomic_add_fetch(&tries, 1, __ATOMIC_RELAXED);
}

uint64_t asf__new_random(size_t digits) {
    uint64_t random;
    if (asf__raw_syscall(SYS_getrandom, (long)&random, sizeof random, 0, 0) != sizeof random)
        random = any_number();
    return random & (UINT64_MAX >> (64 - 4 * digits));
}

/* --- memory ---------------------------------------------------------------------- */

/* Checks for free space first, so that a refusal allocates nothing.  Allocates small chunks: a signal
 * interrupts fallocate with EINTR, and an interval timer would interrupt a large one forever. */
int asf__segment_allocate(int fd, size_t size) {
    enum { CHUNK = 16 << 20 };
    struct statfs64 fs;
    if (asf__exceeds_file_limit(size))
        return asf__segment_fail(-EFBIG,
                                 "the segment would be larger than the limit of file sizes (ulimit -f)");
    bool limited = asf__sys.fstatfs(fd, &fs) == 0 && fs.f_blocks > 0;
    if (limited && (size - 1) / (size_t)fs.f_bsize >= fs.f_bavail)
        return asf__segment_fail(-ENOSPC, "not enough space in /dev/shm");
    for (size_t at = 0; at < size;) {
        size_t n = size - at < CHUNK ? size - at : CHUNK;
        long rc = asf__raw_syscall(SYS_fallocate, fd, 0, (long)at, (long)n);
        if (rc == -EINTR)
            continue;
        if (rc < 0)
            return asf__segment_fail((int)rc, "memory for the segment could not be allocated");
        at += n;
    }
    return 0;
}

int asf__map_file(struct asf_segment *s, int fd, bool update) {
    int saved = errno;
    void *p = mmap64(NULL, s->size, update ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    int rc = p == MAP_FAILED ? -errno : 0;
    errno = saved;
    s->base = rc < 0 ? NULL : p;
    if (rc == -EACCES)
        return asf__segment_fail(
            rc, "its mode, or the descriptor's access mode, does not permit this process to attach it");
    return rc < 0 ? asf__segment_fail(rc, "the segment could not be mapped") : 0;
}

int asf__unmap_file(struct asf_segment *s) {
    return asf__sys.unmap(s->base, s->size);
}

int asf__no_regular_file(void) {
    return asf__segment_fail(-ESTALE, "the object is not a regular file");
}

int asf__adopt_file(struct asf_segment *s, int fd, bool update) {
    struct stat64 st;
    int rc = asf__sys.fstat(fd, &st);
    if (rc < 0)
        return asf__segment_fail(rc, "there is no such descriptor");
    if (!S_ISREG(st.st_mode))
        return asf__no_regular_file();
    s->size = (size_t)st.st_size;
    if (s->size < ASF_SHM_HEAD)
        return asf__segment_fail(-ESTALE, "the object is too small for a label: truncated or foreign");
    return asf__map_file(s, fd, update);
}

/* --- describing a segment ------------------------------------------------------------ */

int asf__read_head(int fd, struct asf_segment_head *head) {
    size_t have = 0;
    ssize_t n = 1;
    while (have < sizeof *head && n > 0) {
        n = asf__sys.pread(fd, (char *)head + have, sizeof *head - have, (off64_t)have);
        have += n > 0 ? (size_t)n : 0;
    }
    return n < 0 ? (int)n : have == sizeof *head;
}

void asf__file_state(struct asf_segment_state *state, const char *id, const struct statx *st,
                     const struct asf_segment_head *head) {
    *state = (struct asf_segment_state){
        .info = {.owner = st->stx_uid,
                 .mode = st->stx_mode & 07777,
                 .created = st->stx_mask & STATX_BTIME ? st->stx_btime.tv_sec : st->stx_ctime.tv_sec,
                 .accessed = st->stx_atime.tv_sec,
                 .creator = (pid_t)strtol(id + 1, NULL, 10)},
        .device = makedev(st->stx_dev_major, st->stx_dev_minor),
        .inode = st->stx_ino};
    asf__segment_describe(state, id, S_ISREG(st->stx_mode) ? st->stx_size : 0, head);
}
