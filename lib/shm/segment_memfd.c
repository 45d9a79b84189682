/* SPDX-License-Identifier: MIT
 *
 * segment_memfd.c - segments that are memfds, without a name in a file system.  The kernel frees a segment
 * when no process has it open or attached, so none can leak.  The label contains the creator's process id and
 * descriptor number; the creator keeps this descriptor until it removes the segment.  If the creator has
 * ended, the descriptors of all processes are searched.  Segments are sealed, so that no process can truncate
 * them.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/shm/memfd.h"
#include "lib/shm/segment_file.h"
#include "lib/sys/syscalls.h"
#include "lib/text/format.h"

#define NAME "asf-shm"

enum { PATH = 48, RANDOM_DIGITS = 8 };

/* Identifiers: m, process id, dot, descriptor, dot, eight hexadecimal digits. */
static bool memfd_owns(const char *id) {
    const char *at = id[0] == 'm' && id[1] != '0' ? asf__id_number(id + 1) : NULL;
    at = at && *at == '.' ? asf__id_number(at + 1) : NULL;
    return at && *at == '.' && asf__id_random(at + 1, RANDOM_DIGITS);
}

static int no_such(void) {
    return asf__segment_fail(-ENOENT, "there is no such segment: it was removed, no process has a "
                                      "descriptor of it, or it is on another system");
}

/* --- making ---------------------------------------------------------------------- */

/* A memfd's file system reports no free space, so the system's available memory is the limit. */
static int allocate_memory(int fd, size_t size) {
    uint64_t kilobytes = 0;
    if (asf__proc_number("/proc/meminfo", "MemAvailable:", 10, &kilobytes) && size >> 10 > kilobytes)
        return asf__segment_fail(-ENOMEM, "not enough memory is available");
    return asf__segment_allocate(fd, size);
}

static int make_segment(struct asf_segment *s, int fd, const char *name, mode_t mode) {
    int rc = asf__map_file(s, fd, true);
    if (rc < 0)
        return rc;
    rc = allocate_memory(fd, s->size);
    if (rc == 0) {
        asf__format_text(s->id, sizeof s->id, "m%d.%d.%08x", (int)getpid(), fd,
                         (unsigned)asf__new_random(RANDOM_DIGITS));
        asf__segment_label(s, name);
        long kept = asf__memfd_seal(fd);
        if (kept == 0)
            kept = asf__raw_syscall(SYS_fchmod, fd, (long)(mode & ~asf__umask()), 0, 0);
        rc = kept < 0 ? asf__segment_fail((int)kept, "the segment could not be sealed") : 0;
    }
    if (rc < 0)
        asf__unmap_file(s);
    return rc;
}

static int memfd_create_segment(struct asf_segment *s, const char *name, mode_t mode) {
    int fd = asf__memfd(NAME);
    if (fd < 0)
        return asf__segment_fail(fd, "memfd_create failed");
    fd = asf__out_of_the_way(fd);
    int rc = make_segment(s, fd, name, mode);
    if (rc < 0)
        asf__sys.close(fd);
    return rc;
}

/* --- finding ----------------------------------------------------------------------- */

/* Returns 0 if /proc/PID/fd/FD is a memfd of this backend, -ENOENT if not, or -errno. */
static int check_link(const char *path) {
    static const char is[] = "/memfd:" NAME " ";
    char leads_to[sizeof is];
    long n = asf__raw_syscall(SYS_readlinkat, AT_FDCWD, (long)path, (long)leads_to, sizeof is - 1);
    if (n < 0 && n != -ENAMETOOLONG) /* ENAMETOOLONG: another file, whose path is longer than a page */
        return (int)n;
    return n == sizeof is - 1 && memcmp(leads_to, is, sizeof is - 1) == 0 ? 0 : -ENOENT;
}

/* Opens the segment at descriptor `number` of process `pid`.  The process may reuse the number for another
 * file at any moment.  So this function opens the file with O_PATH, checks it, and reopens it through that
 * descriptor.  Returns -ENOENT if it is no segment. */
static int open_held(const char *pid, const char *number, int flags) {
    char path[PATH];
    asf__format_text(path, sizeof path, "/proc/%.10s/fd/%.10s", pid, number);
    int rc = check_link(path), path_fd = -1;
    if (rc == 0)
        rc = path_fd = asf__sys.open(path, O_PATH | O_CLOEXEC, 0);
    if (rc < 0)
        return rc;
    asf__format_text(path, sizeof path, "/proc/self/fd/%d", path_fd);
    rc = check_link(path);
    if (rc == 0)
        rc = asf__sys.open(path, flags | O_CLOEXEC, 0);
    asf__sys.close(path_fd);
    return rc;
}

typedef int visit_descriptor(const char *pid, const char *fd, void *arg);

static int each_descriptor_of(const char *pid, visit_descriptor *visit, void *arg) {
    char path[PATH];
    int rc = 0;
    asf__format_text(path, sizeof path, "/proc/%.10s/fd", pid);
    DIR *directory = opendir(path);
    if (!directory)
        return asf__hidden(-errno) ? 0 : -errno;
    for (struct dirent *entry; rc == 0 && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            rc = visit(pid, entry->d_name, arg);
    closedir(directory);
    return rc;
}

/* Calls `visit` for each descriptor of each process that this user can inspect. */
static int each_descriptor(visit_descriptor *visit, void *arg) {
    int rc = 0, saved = errno;
    DIR *directory = opendir("/proc");
    if (!directory)
        rc = errno == ENOENT ? 0 : -errno;
    for (struct dirent *entry; directory && rc == 0 && (entry = readdir(directory));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            rc = each_descriptor_of(entry->d_name, visit, arg);
    if (directory)
        closedir(directory);
    errno = saved;
    return rc < 0 ? asf__segment_fail(rc, "the descriptors of processes could not be read") : rc;
}

static bool has_id(int fd, const char *id) {
    struct asf_segment_head head;
    size_t n = strlen(id);
    return asf__read_head(fd, &head) > 0 && strncmp(head.text, id, n) == 0 && head.text[n] == ' ';
}

struct search {
    const char *id;
    int flags, fd;
};

/* Opens descriptor `number` of `pid` if it is the wanted segment.  Returns 1 if it is, else 0. */
static int try_descriptor(const char *pid, const char *number, void *arg) {
    struct search *h = arg;
    h->fd = open_held(pid, number, h->flags);
    if (h->fd < 0 || has_id(h->fd, h->id))
        return h->fd >= 0;
    asf__sys.close(h->fd);
    h->fd = -ENOENT;
    return 0;
}

/* Opens the segment: first the creator's descriptor from the label, then any process's. */
static int open_segment(const char *id, int flags) {
    struct search h = {.id = id, .flags = flags};
    char pid[16], fd[16];
    asf__format_text(pid, sizeof pid, "%.*s", (int)strcspn(id + 1, "."), id + 1);
    asf__format_text(fd, sizeof fd, "%.*s", (int)strcspn(strchr(id, '.') + 1, "."), strchr(id, '.') + 1);
    if (try_descriptor(pid, fd, &h))
        return h.fd;
    int first = h.fd;
    int rc = each_descriptor(try_descriptor, &h);
    return rc < 0 ? rc : rc > 0 ? h.fd : first;
}

/* --- attaching --------------------------------------------------------------------- */

static int memfd_adopt(struct asf_segment *s, int fd, bool update) {
    if (!asf__memfd_sealed(fd))
        return asf__segment_fail(-ESTALE, "the object is not sealed against truncation: foreign or forged");
    return asf__adopt_file(s, fd, update);
}

static int memfd_attach(struct asf_segment *s, bool update) {
    int fd = open_segment(s->id, update ? O_RDWR : O_RDONLY);
    if (fd == -EACCES)
        return asf__segment_fail(fd, "its mode does not permit this user to attach it, or only "
                                     "another user's process has it, which must pass a descriptor");
    if (fd == -EMFILE || fd == -ENFILE)
        return asf__segment_fail(fd, "no free descriptor is left to attach it with");
    if (fd < 0)
        return no_such();
    s->fd = fd;
    return memfd_adopt(s, fd, update);
}

/* --- existing segments ---------------------------------------------------------------- */

/* Removing means closing the creator's descriptor, which only the creator can do. */
static int memfd_remove(const char *id) {
    if (strtol(id + 1, NULL, 10) != getpid())
        return asf__segment_fail(-EBUSY, "it is freed when no process has a descriptor of it; "
                                         "only its creator can remove it earlier");
    int fd = (int)strtol(strchr(id, '.') + 1, NULL, 10);
    if (!has_id(fd, id))
        return no_such();
    return asf__sys.close(fd);
}

struct listing {
    const char *id; /* the wanted segment; NULL: all */
    asf_segment_visit *visit;
    void *arg;
    uint64_t *inodes; /* inodes of the segments visited so far */
    size_t count;
};

/* Returns 1 if the inode was not visited before, 0 if it was, or -ENOMEM. */
static int add_inode(struct listing *t, uint64_t inode) {
    for (size_t i = 0; i < t->count; i++)
        if (t->inodes[i] == inode)
            return 0;
    uint64_t *more = reallocarray(t->inodes, t->count + 1, sizeof *more);
    if (!more)
        return asf__segment_fail(-ENOMEM, "there is no memory for the list of segments");
    t->inodes = more;
    t->inodes[t->count++] = inode;
    return 1;
}

static int visit_segment(struct listing *t, int fd) {
    struct asf_segment_state state;
    struct asf_segment_head head;
    struct statx st;
    char id[ASF_SEGMENT_ID];
    int rc = asf__read_head(fd, &head);
    size_t n = rc > 0 ? strnlen(head.text, sizeof head.text) : 0;
    size_t length = n ? strcspn(head.text, " \n") : 0;
    if (length == 0 || length >= n || length >= sizeof id)
        return rc < 0 ? rc : 0; /* no segment, or its label is not complete yet */
    memcpy(id, head.text, length);
    id[length] = '\0';
    if (!memfd_owns(id) || (t->id && strcmp(id, t->id) != 0))
        return 0;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
        return -errno;
    rc = add_inode(t, st.stx_ino);
    if (rc <= 0)
        return rc;
    asf__file_state(&state, id, &st, &head);
    state.info.backend = asf__segment_memfd.name;
    state.held = true;
    return t->visit(&state, t->arg);
}

static int list_descriptor(const char *pid, const char *number, void *arg) {
    int fd = open_held(pid, number, O_RDONLY | O_NOATIME);
    if (fd < 0 && fd != -ENOENT)
        fd = open_held(pid, number, O_RDONLY);
    if (fd < 0)
        return asf__hidden(fd) ? 0 : fd;
    int rc = visit_segment(arg, fd);
    asf__sys.close(fd);
    return rc;
}

static int memfd_look(const char *id, asf_segment_visit *visit, void *arg) {
    struct listing t = {.id = id, .visit = visit, .arg = arg};
    int rc = each_descriptor(list_descriptor, &t);
    free(t.inodes);
    return rc;
}

const struct asf_segment_backend asf__segment_memfd = {
    .name = "memfd",
    .owns = memfd_owns,
    .create = memfd_create_segment,
    .attach = memfd_attach,
    .adopt = memfd_adopt,
    .detach = asf__unmap_file,
    .remove = memfd_remove,
    .look = memfd_look,
};
