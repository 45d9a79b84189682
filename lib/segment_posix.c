/* SPDX-License-Identifier: MIT
 *
 * segment_posix.c - segments that are objects in /dev/shm.  One gets its name
 * there when it is whole, so that a creator who is killed leaves nothing
 * half-made; its pages are allocated before, since a full file system would
 * otherwise tell by SIGBUS.
 * Layer: lib.  May include: lib, include/asf.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/segment.h"
#include "lib/syscalls.h"

#define DIRECTORY "/dev/shm"
#define PREFIX    "asf-shm."

enum { PATH = 64, RANDOM_DIGITS = 12, ALLOCATE = 16 << 20 };

/* Identifiers: p, the creator's process id, a dot, twelve hexadecimal digits. */
static bool posix_owns(const char *id) {
    if (id[0] != 'p')
        return false;
    size_t pid = strspn(id + 1, "0123456789"), digits;
    const char *random = id + 1 + pid;
    if (pid == 0 || pid > 10 || id[1] == '0' || *random++ != '.')
        return false;
    digits = strspn(random, "0123456789abcdef");
    return digits == RANDOM_DIGITS && random[digits] == '\0';
}

static void choose_id(struct asf_segment *s) {
    uint64_t random = 0;
    asf__raw_syscall(SYS_getrandom, (long)&random, sizeof random, 0, 0);
    snprintf(s->id, sizeof s->id, "p%d.%012llx", (int)getpid(), (unsigned long long)random >> 16);
}

static void path_of(char *path, const char *id) {
    snprintf(path, PATH, DIRECTORY "/" PREFIX "%s", id);
}

/* --- making ------------------------------------------------------------------ */

/* Bytes that the file system could not give are told before any are taken, and
 * pieces are small enough for a program with a timer to get on. */
static int allocate(int fd, size_t size) {
    struct rlimit limit;
    struct statfs64 fs;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur)
        return asf__segment_fail(-EFBIG,
                                 "the segment would be larger than the limit of file sizes (ulimit -f)");
    bool limited = asf__sys.fstatfs(fd, &fs) == 0 && fs.f_blocks > 0;
    if (limited && (size - 1) / (size_t)fs.f_bsize >= fs.f_bavail)
        return asf__segment_fail(-ENOSPC, "there is not so much room in " DIRECTORY);
    for (size_t at = 0; at < size;) {
        size_t n = size - at < ALLOCATE ? size - at : ALLOCATE;
        long rc = asf__raw_syscall(SYS_fallocate, fd, 0, (long)at, (long)n);
        if (rc == -EINTR)
            continue;
        if (rc < 0)
            return asf__segment_fail((int)rc, "memory for the segment could not be allocated in " DIRECTORY);
        at += n;
    }
    return 0;
}

static int map(struct asf_segment *s, int fd, int protection) {
    int saved = errno;
    void *p = mmap64(NULL, s->size, protection, MAP_SHARED, fd, 0);
    int rc = p == MAP_FAILED ? -errno : 0;
    errno = saved;
    s->base = rc < 0 ? NULL : p;
    return rc < 0 ? asf__segment_fail(rc, "the segment could not be mapped") : 0;
}

static int posix_detach(struct asf_segment *s) {
    return asf__sys.unmap(s->base, s->size);
}

static int give_name(int fd, const char *id) {
    char from[PATH], to[PATH];
    int saved = errno;
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    path_of(to, id);
    int rc = linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
    errno = saved;
    return rc;
}

/* Labelled before it has a name, and so before others can see it. */
static int label(struct asf_segment *s, int fd, const char *name) {
    int rc;
    do {
        choose_id(s);
        asf__segment_label(s, name);
        rc = give_name(fd, s->id);
    } while (rc == -EEXIST);
    return rc == 0
               ? 0
               : asf__segment_fail(rc, "the segment could not be named in " DIRECTORY "; is /proc mounted?");
}

/* Mapped first: no memory is taken for what the address space has no room for. */
static int make(struct asf_segment *s, int fd, const char *name) {
    int rc = map(s, fd, PROT_READ | PROT_WRITE);
    if (rc < 0)
        return rc;
    rc = allocate(fd, s->size);
    if (rc == 0)
        rc = label(s, fd, name);
    if (rc < 0)
        posix_detach(s);
    return rc;
}

static int posix_create(struct asf_segment *s, const char *name, mode_t mode) {
    int fd = asf__sys.open(DIRECTORY, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (fd < 0)
        return asf__segment_fail(fd, "no file could be made in " DIRECTORY "; is a tmpfs mounted there?");
    int rc = make(s, fd, name);
    asf__sys.close(fd);
    return rc;
}

/* --- attaching ----------------------------------------------------------------- */

static int cannot_open(int rc) {
    switch (rc) {
    case -ENOENT:
        return asf__segment_fail(rc, "there is no such segment: it was removed, or is of another system");
    case -EACCES:
    case -EPERM:
        return asf__segment_fail(-EACCES, "its mode does not let this user attach it");
    case -ELOOP:
        return asf__segment_fail(rc, "a symbolic link stands in the place of the segment");
    default:
        return asf__segment_fail(rc, "the segment could not be opened");
    }
}

/* O_NONBLOCK: a FIFO in the place of the segment must not make us wait. */
static int open_object(const char *id, int flags, struct stat64 *st) {
    char path[PATH];
    path_of(path, id);
    int fd = asf__sys.open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return cannot_open(fd == -ENXIO || fd == -EISDIR ? -ENOENT : fd);
    int rc = asf__sys.fstat(fd, st);
    if (rc == 0 && !S_ISREG(st->st_mode))
        rc = asf__segment_fail(-ESTALE, "what stands in the place of the segment is no regular file");
    if (rc == 0)
        return fd;
    asf__sys.close(fd);
    return rc;
}

static int posix_attach(struct asf_segment *s, bool update) {
    struct stat64 st;
    int fd = open_object(s->id, update ? O_RDWR : O_RDONLY, &st);
    if (fd < 0)
        return fd;
    s->fd = fd;
    s->size = (size_t)st.st_size;
    if (s->size < ASF_SHM_HEAD)
        return asf__segment_fail(-ESTALE, "what is there is too small for a label: truncated or foreign");
    return map(s, fd, update ? PROT_READ | PROT_WRITE : PROT_READ);
}

/* --- those there are --------------------------------------------------------------- */

static int posix_remove(const char *id) {
    char path[PATH];
    path_of(path, id);
    int rc = (int)asf__raw_syscall(SYS_unlink, (long)path, 0, 0, 0);
    if (rc == -ENOENT)
        return asf__segment_fail(rc, "there is no such segment");
    return rc < 0 ? asf__segment_fail(rc, "it belongs to another user, or " DIRECTORY " cannot be changed")
                  : 0;
}

static int status_of(const char *id, struct statx *st) {
    char path[PATH];
    int saved = errno;
    path_of(path, id);
    int rc = statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, st) < 0 ? -errno : 0;
    errno = saved;
    return rc;
}

/* Looking is no access: whoever may, reads without leaving a trace. */
static bool read_head(const char *id, struct asf_segment_head *head) {
    struct stat64 st;
    int fd = open_object(id, O_RDONLY | O_NOATIME, &st);
    if (fd < 0)
        fd = open_object(id, O_RDONLY, &st);
    if (fd < 0)
        return false;
    bool got = asf__sys.pread(fd, head, sizeof *head, 0) == (ssize_t)sizeof *head;
    asf__sys.close(fd);
    return got;
}

static int tell(const char *id, asf_segment_visit *visit, void *arg) {
    struct statx st;
    struct asf_segment_head head;
    if (status_of(id, &st) < 0)
        return 0; /* removed just now */
    struct asf_segment_state state = {
        .info = {.backend = asf__segment_posix.name,
                 .owner = st.stx_uid,
                 .mode = st.stx_mode & 07777,
                 .created = st.stx_mask & STATX_BTIME ? st.stx_btime.tv_sec : st.stx_ctime.tv_sec,
                 .accessed = st.stx_atime.tv_sec,
                 .creator = (pid_t)strtol(id + 1, NULL, 10)},
        .device = makedev(st.stx_dev_major, st.stx_dev_minor),
        .inode = st.stx_ino};
    bool regular = S_ISREG(st.stx_mode);
    bool readable = regular && read_head(id, &head);
    asf__segment_describe(&state, id, regular ? st.stx_size : 0, readable ? &head : NULL);
    return visit(&state, arg);
}

static int posix_look(const char *id, asf_segment_visit *visit, void *arg) {
    int rc = 0;
    if (id)
        return tell(id, visit, arg);
    DIR *directory = opendir(DIRECTORY);
    if (!directory)
        return 0;
    for (struct dirent *entry; rc == 0 && (entry = readdir(directory));)
        if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)) && posix_owns(entry->d_name + strlen(PREFIX)))
            rc = tell(entry->d_name + strlen(PREFIX), visit, arg);
    closedir(directory);
    return rc;
}

const struct asf_segment_backend asf__segment_posix = {
    .name = "posix",
    .owns = posix_owns,
    .create = posix_create,
    .attach = posix_attach,
    .detach = posix_detach,
    .remove = posix_remove,
    .look = posix_look,
};
