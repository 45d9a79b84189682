/* SPDX-License-Identifier: MIT
 *
 * file_map.c - a regular file, read only, mapped by sliding windows that start
 * on 2 MiB boundaries, where large folios are mapped whole.  After a seek to
 * somewhere else, and where another process may look at the offset, one libc
 * block is read instead: a map pays only for sequential input.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include <linux/magic.h>
#include <stdlib.h>

#include "lib/sys/costs.h"
#include "lib/sys/fault.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "streams/buffer.h"

enum { BOUNDARY = 2 << 20, MUCH = 1 << 20 };

/* Where mapped windows were measured to beat read(): GB/s of summed input,
 * mapped against read in 64 KB.  `map_min` of the options is the size at which
 * the map's fixed cost is won back. */
static const struct measured {
    long type;
    const char *why;
} maps_well[] = {
    {EXT4_SUPER_MAGIC, "large file on ext4: mapped 13 GB/s, read 7"},
    {TMPFS_MAGIC, "large file on tmpfs: mapped 8.5 GB/s, read 6.2"},
    {XFS_SUPER_MAGIC, "large file on xfs, whose folios are large as ext4's"},
    {BTRFS_SUPER_MAGIC, "large file on btrfs"},
};

/* Asked when there is something to map: a file that is opened for its first
 * bytes never comes here. */
static const char *why_map(const struct asf_cios *c) {
    struct statfs64 fs;
    if (asf__options()->module[0] == 'm')
        return "ASF_OPTIONS asks for map";
    if (asf__sys.fstatfs(c->fd, &fs) < 0)
        return NULL;
    const struct asf_fs_costs *here = asf__costs_of((long)fs.f_type);
    if (here && here->map)
        return asf__map_pays(here) ? "large file; asf tune found a map to cost less here" : NULL;
    for (size_t i = 0; i < sizeof maps_well / sizeof *maps_well; i++)
        if (maps_well[i].type == (long)fs.f_type)
            return maps_well[i].why;
    return NULL;
}

static struct asf_buffer *map(struct asf_cios *c, off64_t base, size_t size) {
    int error = 0;
    struct asf_buffer *b = malloc(sizeof *b);
    if (!b)
        return NULL;
    *b = (struct asf_buffer){.size = size, .watch = -1, .at = base};
    b->base = asf__sys.map(size, c->fd, base, &error);
    c->stats.syscalls++;
    if (b->base && (b->watch = asf__watch(b->base, size, &b->torn, &c->read_end)) >= 0)
        return b;
    if (b->base)
        asf__sys.unmap(b->base, size);
    free(b);
    return NULL;
}

/* Whether each 64 KB of the window costs a fault.  Then reading costs less: CPU ms a program on 64 MB, mapped
 * and read: cut 29 and 26, wc 16 and 14, cmp 19 and 17; on large folios wc -l 5 and 7. */
static bool has_small_pages(const struct asf_buffer *b) {
    return b->size >= (size_t)ASF_FAULT_STEP * ASF_FAULTS_MOST && asf__options()->module[0] != 'm' &&
           asf__count_faults(b->base) >= ASF_FAULTS_MOST - 1;
}

/* The window that holds `want` bytes from `at`, as far as the file goes now. */
static size_t window_size(off64_t base, off64_t at, size_t want, off64_t file_size) {
    size_t size = asf__tuned_window(), need = (size_t)(at - base) + want;
    if (need > size)
        size = (need + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
    size_t rest = (size_t)(file_size - base);
    return size < rest ? size : rest;
}

/* From now on through read(): the kernel would not map, or must not. */
static ssize_t fall_back(struct asf_cios *c, size_t want, const char *why) {
    c->ops = &asf__file_read;
    c->direct = true;
    c->why = why;
    return asf__buffered_fill(c, want);
}

/* The bytes to map and where the unread ones start; 0 at the end of file. */
static int position(struct asf_cios *c, off64_t *at, off64_t *size) {
    struct stat64 st;
    asf__relearn_offset(c);
    asf__settle_writers(c);
    int rc = c->offset < 0 ? (int)c->offset : asf__sys.fstat(c->fd, &st);
    if (rc < 0)
        return rc;
    c->stats.syscalls++;
    *at = c->offset - (off64_t)asf__unread(c);
    *size = st.st_size;
    return 0;
}

static void show(struct asf_cios *c, struct asf_buffer *b, off64_t base, off64_t at) {
    if (c->in)
        asf__buffer_retire(c, c->in);
    c->in = b;
    c->buf_base = c->read_base = b->base + (at - base);
    c->read_ptr = c->read_base;
    c->read_end = c->buf_end = b->base + b->size;
    c->stats.in += (uint64_t)(base + (off64_t)b->size - c->offset);
    c->offset = base + (off64_t)b->size;
    asf__sys.lseek(c->fd, c->offset, SEEK_SET);
    c->stats.syscalls++;
    if (!c->own)
        asf__mark_ahead(c, true);
}

/* The first bytes after an open or a seek: an fopen and a getc, or a seek and
 * a getc, must cost no more than in libc. */
static bool read_instead(const struct asf_cios *c, size_t want) {
    if (c->flags & ASF_IN_BACKUP)
        return true;
    return !c->own && (c->flags & ASF_UNBUFFERED || c->shared || c->loose || c->astray || c->block < 128 ||
                       (want == 1 && !asf__is_sequential(c)));
}

static ssize_t map_fill(struct asf_cios *c, size_t want) {
    off64_t at, size;
    if (read_instead(c, want))
        return asf__buffered_fill(c, want);
    bool first = !c->mapped;
    if (first) {
        const char *why = why_map(c);
        if (!why)
            return fall_back(c, want, "file system not known to map well");
        c->why = why;
        c->mapped = true;
    }
    int rc = position(c, &at, &size);
    if (rc < 0)
        return fall_back(c, want, "the offset cannot be read");
    if (c->offset >= size) /* at the end: nothing but what is unread */
        return (ssize_t)asf__unread(c);
    off64_t base = at & ~(off64_t)(BOUNDARY - 1);
    struct asf_buffer *b = map(c, base, window_size(base, at, want, size));
    if (!b)
        return fall_back(c, want, "the kernel would not map it");
    if (first && want <= MUCH && has_small_pages(b)) {
        asf__buffer_free(b);
        return fall_back(c, want, "large file in small pages: read costs less than a fault for 64 KB");
    }
    show(c, b, base, at);
    return (ssize_t)asf__avail(c);
}

const struct asf_stream_ops asf__file_map = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "map",
    .get = asf__fd_get,
    .seek = asf__fd_seek,
    .close = asf__fd_close,
    .fill = map_fill,
};
