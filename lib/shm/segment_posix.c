/* SPDX-License-Identifier: MIT
 *
 * segment_posix.c - segments that are files in /dev/shm.  A file is complete before it gets its name, so that
 * a killed creator leaves no incomplete segment.  All pages are allocated before that, too: otherwise a full
 * file system would cause a SIGBUS later.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/shm/segment_file.h"
#include "lib/sys/syscalls.h"
#include "lib/text/format.h"

#define DIRECTORY "/dev/shm"
#define PREFIX    "asf-shm."

enum { PATH = 64, RANDOM_DIGITS = 12 };

/* Identifiers: p, the creator's process id, a dot, twelve hexadecimal digits. */
static bool posix_owns(const char *id) {
    const char *at = id[0] == 'p' && id[1] != '0' ? asf__id_number(id + 1) : NULL;
    return at && *at == '.' && asf__id_random(at + 1, RANDOM_DIGITS);
}

static void choose_id(struct asf_segment *s) {
    asf__format_text(s->id, sizeof s->id, "p%d.%012llx", (int)getpid(),
                     (unsigned long long)asf__new_random(RANDOM_DIGITS));
}

static void path_of(char *path, const char *id) {
    asf__format_text(path, PATH, DIRECTORY "/" PREFIX "%s", id);
}

/* --- making ------------------------------------------------------------------ */

static int link_object(int fd, const char *id) {
    char from[PATH], to[PATH];
    int saved = errno;
    asf__format_text(from, sizeof from, "/proc/self/fd/%d", fd);
    path_of(to, id);
    int rc = linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
    errno = saved;
    return rc;
}

/* Writes the label before the file has a name, while no other process can see it. */
static int label(struct asf_segment *s, int fd, const char *name) {
    enum { TRIES = 100 };
    int rc = -EEXIST;
    for (int i = 0; i < TRIES && rc == -EEXIST; i++) {
        choose_id(s);
        asf__segment_label(s, name);
        rc = link_object(fd, s->id);
    }
    return rc == 0
               ? 0
               : asf__segment_fail(rc, "the segment could not be named in " DIRECTORY "; is /proc mounted?");
}

/* Maps before it allocates, so that a full address space fails before any memory is allocated. */
static int make_object(struct asf_segment *s, int fd, const char *name) {
    int rc = asf__map_file(s, fd, true);
    if (rc < 0)
        return rc;
    rc = asf__segment_allocate(fd, s->size);
    if (rc == 0)
        rc = label(s, fd, name);
    if (rc < 0)
        asf__unmap_file(s);
    return rc;
}

static int posix_create(struct asf_segment *s, const char *name, mode_t mode) {
    int fd = asf__sys.open(DIRECTORY, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (fd < 0)
        return asf__segment_fail(fd, "no file could be created in " DIRECTORY "; is a tmpfs mounted there?");
    int rc = make_object(s, fd, name);
    asf__sys.close(fd);
    return rc;
}

/* --- attaching ----------------------------------------------------------------- */

static int cannot_open(int rc) {
    switch (rc) {
    case -ENOENT:
        return asf__segment_fail(rc, "there is no such segment: it was removed, or is on another system");
    case -EACCES:
    case -EPERM:
        return asf__segment_fail(-EACCES, "its mode does not permit this user to attach it");
    case -ELOOP:
        return asf__segment_fail(rc, "the object is a symbolic link");
    case -ENXIO: /* for example a socket */
    case -EISDIR:
        return asf__no_regular_file();
    default:
        return asf__segment_fail(rc, "the segment could not be opened");
    }
}

/* O_NONBLOCK: if the path is a FIFO, open must not block. */
static int open_object(const char *id, int flags, struct stat64 *st) {
    char path[PATH];
    path_of(path, id);
    int fd = asf__sys.open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return cannot_open(fd);
    int rc = asf__sys.fstat(fd, st);
    if (rc == 0 && !S_ISREG(st->st_mode))
        rc = asf__no_regular_file();
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
    return asf__adopt_file(s, fd, update);
}

/* --- existing segments ------------------------------------------------------------- */

static int posix_remove(const char *id) {
    char path[PATH];
    path_of(path, id);
    int rc = (int)asf__raw_syscall(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0);
    if (rc == -ENOENT)
        return asf__segment_fail(rc, "there is no such segment");
    if (rc == -EISDIR)
        return asf__no_regular_file();
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

/* O_NOATIME, where permitted, so that listing segments does not change their access time. */
static bool read_head(const char *id, struct asf_segment_head *head) {
    struct stat64 st;
    int fd = open_object(id, O_RDONLY | O_NOATIME, &st);
    if (fd < 0)
        fd = open_object(id, O_RDONLY, &st);
    if (fd < 0)
        return false;
    bool got = asf__read_head(fd, head) > 0;
    asf__sys.close(fd);
    return got;
}

static int visit_object(const char *id, asf_segment_visit *visit, void *arg) {
    struct statx st;
    struct asf_segment_head head;
    int rc = status_of(id, &st);
    bool readable = rc == 0 && S_ISREG(st.stx_mode) && read_head(id, &head);
    if (rc == 0 && !readable)
        rc = status_of(id, &st);
    if (rc == -ENOENT)
        return 0; /* removed since the directory was read */
    if (rc < 0)
        return asf__segment_fail(rc, "the status of a segment could not be read in " DIRECTORY);
    struct asf_segment_state state;
    asf__file_state(&state, id, &st, readable ? &head : NULL);
    state.info.backend = asf__segment_posix.name;
    return visit(&state, arg);
}

static int posix_look(const char *id, asf_segment_visit *visit, void *arg) {
    int rc = 0;
    if (id)
        return visit_object(id, visit, arg);
    DIR *directory = opendir(DIRECTORY);
    if (!directory)
        return errno == ENOENT ? 0 : asf__segment_fail(-errno, DIRECTORY " could not be read");
    for (struct dirent *entry; rc == 0 && (entry = readdir(directory));)
        if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)) && posix_owns(entry->d_name + strlen(PREFIX)))
            rc = visit_object(entry->d_name + strlen(PREFIX), visit, arg);
    closedir(directory);
    return rc;
}

const struct asf_segment_backend asf__segment_posix = {
    .name = "posix",
    .truncatable = true,
    .owns = posix_owns,
    .create = posix_create,
    .attach = posix_attach,
    .adopt = asf__adopt_file,
    .detach = asf__unmap_file,
    .remove = posix_remove,
    .look = posix_look,
};
