/* SPDX-License-Identifier: MIT
 *
 * dir.c - directory entries, read in place from the stream's buffer.
 *
 * asf_dir_next calls statx for one entry at a time, in directory order.  Calling it in inode order gains
 * little on ext4, which reads 512 inodes at once.  100,000 uncached entries took 1630 disk requests in
 * directory order; sorted in groups of 64 entries 1628, of 64 KB of entries 1604; all sorted 1443.
 */
#define _GNU_SOURCE
#include <asf/dir.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/syscalls.h"
#include "streams/streams.h"

_Static_assert(sizeof(struct statx) <= sizeof((struct asf_dir *)0)->status, "<asf/dir.h>");

/* --- the stream ----------------------------------------------------------------- */

static struct asf_cios *open_directory_stream(int fd, int *error) {
    struct asf_cios *c = asf__open_directory(fd);
    *error = c ? 0 : -ENOMEM;
    if (c)
        asf__cios_link(c);
    return c;
}

struct asf_cios *asf_dir_sopen_fd(int fd, int *error) {
    struct stat64 st;
    int unused;
    if (!error)
        error = &unused;
    *error = asf__sys.fstat(fd, &st);
    if (*error == 0 && !S_ISDIR(st.st_mode))
        *error = -ENOTDIR;
    return *error == 0 ? open_directory_stream(fd, error) : NULL;
}

struct asf_cios *asf_dir_sopen(int at, const char *path, int *error) {
    int unused, fd = asf__sys.open_at(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!error)
        error = &unused;
    *error = fd < 0 ? fd : 0;
    struct asf_cios *c = fd < 0 ? NULL : open_directory_stream(fd, error);
    if (c)
        asf__set_name(c, path);
    else if (fd >= 0)
        asf__sys.close(fd);
    return c;
}

/* --- its entries ---------------------------------------------------------------------- */

/* The kernel's struct linux_dirent64: `length` is padded and the name is null-terminated.  Packed, because
 * the stream appends new entries to unread bytes, so an entry can be misaligned. */
struct kernel_dirent {
    uint64_t inode;
    int64_t next;
    uint16_t length;
    unsigned char type;
    char name[];
} __attribute__((packed));

enum { NAME_OFFSET = offsetof(struct kernel_dirent, name) };

void asf_dir_begin(struct asf_dir *d, struct asf_cios *stream, unsigned mask, int flags) {
    d->stream = stream;
    d->region = d->next = d->end = NULL;
    d->mask = mask;
    d->flags = flags;
}

/* Frees the current region, whose entries have all been returned, and allocates the next one.  Returns its
 * bytes, or what salloc returns at the end or on an error. */
static ssize_t next_region(struct asf_dir *d) {
    ssize_t n = asf_dir_end(d);
    if (n < 0)
        return n;
    n = SSIZE_MAX;
    d->region = d->next = asf_salloc_some(d->stream, &n);
    d->end = d->region ? d->region + n : NULL;
    return n;
}

/* Calls statx for the fields that getdents64 has not returned. */
static void fill_status(struct asf_dir *d, struct asf_entry *e) {
    struct statx *st = (struct statx *)(void *)d->status;
    unsigned mask = d->mask | STATX_TYPE;
    e->error = asf__sys.statx(d->stream->fd, e->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, st);
    if (e->error == 0 && e->type == DT_UNKNOWN)
        e->type = (unsigned char)IFTODT(st->stx_mode);
    if (e->error == 0 && d->mask)
        e->status = st;
}

static bool is_dot_or_dot_dot(const struct asf_entry *e) {
    return e->name[0] == '.' && (e->length == 1 || (e->length == 2 && e->name[1] == '.'));
}

const struct asf_entry *asf_dir_next(struct asf_dir *d, ssize_t *length) {
    do {
        if (d->next == d->end && (*length = next_region(d)) <= 0)
            return NULL;
        const struct kernel_dirent *r = (const struct kernel_dirent *)(const void *)d->next;
        size_t left = (size_t)(d->end - d->next);
        if (left <= NAME_OFFSET || r->length <= NAME_OFFSET || r->length > left) {
            *length = -EBADMSG;
            return NULL;
        }
        d->entry = (struct asf_entry){.name = r->name, .inode = r->inode, .type = r->type};
        d->entry.length = strnlen(r->name, r->length - NAME_OFFSET);
        d->next += r->length;
    } while (!(d->flags & ASF_DIR_DOTS) && is_dot_or_dot_dot(&d->entry));
    if (d->mask || d->entry.type == DT_UNKNOWN)
        fill_status(d, &d->entry);
    *length = (ssize_t)d->entry.length;
    return &d->entry;
}

int asf_dir_end(struct asf_dir *d) {
    if (!d->region)
        return 0;
    ssize_t used = d->next - d->region;
    bool in_place = d->next == d->end || asf_srealloc(d->stream, d->region, &used);
    int rc = asf_sfree(d->stream, d->region);
    d->region = d->next = d->end = NULL;
    return in_place ? rc : -EBUSY;
}

int asf_dir_rewind(struct asf_dir *d) {
    int rc = asf_dir_end(d);
    asf__lock(&d->stream->lk);
    off64_t at = asf__seek(d->stream, 0, SEEK_SET);
    asf__unlock(&d->stream->lk);
    return at < 0 ? (int)at : rc;
}
