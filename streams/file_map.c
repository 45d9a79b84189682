/* SPDX-License-Identifier: MIT
 *
 * file_map.c - a regular file that is only read, mapped by sliding windows.  The windows start on 2 MiB
 * boundaries, where large folios are mapped whole.  For the ASI only: copying from a map gains nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>

#include "lib/sys/costs.h"
#include "lib/sys/fault.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "streams/modules.h"

enum { BOUNDARY = 2 << 20, MUCH = 1 << 20 };

static const struct asf_window *window_of(const struct asf_buffer *b) {
    return (const struct asf_window *)(const void *)b;
}

/* File systems on which mapped windows were measured to be faster than read(): GB/s of summing the input,
 * mapped and read in 64 KB.  `map_min` of the options is the file size from which the map wins back its
 * fixed cost. */
static const struct measured {
    long type;
    const char *why;
} maps_well[] = {
    {EXT4_SUPER_MAGIC, "large file on ext4: mapped 13 GB/s, read 7"},
    {TMPFS_MAGIC, "large file on tmpfs: mapped 8.5 GB/s, read 6.2"},
    {XFS_SUPER_MAGIC, "large file on xfs, whose folios are large as ext4's"},
    {BTRFS_SUPER_MAGIC, "large file on btrfs"},
};

const char *asf__why_map(const struct asf_cios *c, const struct stat64 *st) {
    struct statfs64 fs;
    const char *module = asf__options()->module;
    if (c->copied || module[0] == 'r' || asf__sys.fstatfs(c->fd, &fs) < 0)
        return NULL;
    if (fs.f_type == TMPFS_MAGIC && st->st_blocks < st->st_size / 512)
        return NULL; /* mapping a hole of a tmpfs file allocates memory for it */
    if (module[0] == 'm')
        return "ASF_OPTIONS asks for map";
    const struct asf_fs_costs *here = asf__costs_of((long)fs.f_type);
    if (here && here->map)
        return asf__map_pays(here) ? "large file; asf tune found a map to cost less here" : NULL;
    for (size_t i = 0; i < sizeof maps_well / sizeof *maps_well; i++)
        if (maps_well[i].type == (long)fs.f_type)
            return maps_well[i].why;
    return NULL;
}

static void unmap_window(struct asf_cios *c, struct asf_buffer *b) {
    (void)c;
    asf__unwatch(window_of(b)->watch);
    asf__sys.unmap(b->base, b->size);
}

/* Maps size > 0 bytes of the stream's file from `at` on, a multiple of the page; `w` is the caller's memory.
 * Returns false if they cannot be mapped. */
static bool map_window(struct asf_cios *c, struct asf_window *w, off64_t at, size_t size) {
    int error = 0;
    if (!asf__can_catch_faults())
        return false;
    *w = (struct asf_window){.b = {.size = size, .mapped = true, .release = unmap_window}, .at = at};
    w->b.base = asf__sys.map(size, c->fd, at, &error);
    c->stats.syscalls++;
    if (!w->b.base)
        return false;
    w->watch = asf__watch(w->b.base, size, &w->b.truncated, &c->read_end, ASF_MOST_WINDOWS);
    if (w->watch < 0)
        asf__sys.unmap(w->b.base, size);
    return w->watch >= 0;
}

enum { LARGEST_WINDOW = 256 << 20 };

bool asf__show_window(struct asf_cios *c, struct asf_window *w, off64_t at, off64_t size) {
    off64_t base = size <= LARGEST_WINDOW ? 0 : at & ~(off64_t)(BOUNDARY - 1);
    size_t n = (size_t)(size - base < LARGEST_WINDOW ? size - base : LARGEST_WINDOW);
    if ((c->buffer && w->at == base && w->b.size == n) || w->b.refs > 0)
        return c->buffer;
    asf__use_buffer(c, NULL);
    if (map_window(c, w, base, n))
        asf__use_buffer(c, &w->b);
    return c->buffer;
}

unsigned asf__map_costs(const struct asf_cios *c, off64_t size) {
    enum { FAULT_AROUND = 64 << 10, READS_A_FAULT = 5 };
    struct statfs64 fs;
    if (asf__sys.fstatfs(c->fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
        return 0;
    return (unsigned)(size < LARGEST_WINDOW ? size : LARGEST_WINDOW) / FAULT_AROUND * READS_A_FAULT;
}

static void unmap(struct asf_cios *c, struct asf_buffer *b) {
    unmap_window(c, b);
    free(b);
}

static struct asf_buffer *map_new_window(struct asf_cios *c, off64_t at, size_t size) {
    struct asf_window *w = malloc(sizeof *w);
    if (!w || !map_window(c, w, at, size)) {
        free(w);
        return NULL;
    }
    w->b.release = unmap;
    return &w->b;
}

/* Whether each 64 KB of the window costs a page fault.  Reading costs less then: on 64 MB, mapped and
 * read, cut takes 29 and 26 ms of CPU, wc 16 and 14, cmp 19 and 17.  On large folios wc -l takes 5 and 7. */
static bool has_small_pages(const struct asf_buffer *b) {
    return b->size >= (size_t)ASF_FAULT_STEP * ASF_FAULTS_MOST && asf__options()->module[0] != 'm' &&
           asf__count_faults(b->base) >= ASF_FAULTS_MOST - 1;
}

/* Returns the size of a window at `base` that has the `want` bytes from `at` on, or ends at the present
 * end of the file. */
static size_t window_size(off64_t base, off64_t at, size_t want, off64_t file_size) {
    size_t size = asf__tuned_window(), need = (size_t)(at - base) + want;
    if (need > size)
        size = (need + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
    size_t rest = (size_t)(file_size - base);
    return size < rest ? size : rest;
}

/* Changes the stream to read() permanently, for the reason `why`, and fills the buffer. */
static ssize_t fall_back(struct asf_cios *c, size_t want, const char *why) {
    c->ops = &asf__file_ahead;
    c->data = NULL;
    c->why = why;
    return c->ops->fill(c, want);
}

/* Sets *at to the offset of the first unread byte, and *size to the size of the file. */
static int find_position(struct asf_cios *c, off64_t *at, off64_t *size) {
    struct stat64 st;
    if (c->offset < 0)
        c->offset = c->ops->seek(c, 0, SEEK_CUR);
    int rc = c->offset < 0 ? (int)c->offset : asf__sys.fstat(c->fd, &st);
    if (rc < 0)
        return rc;
    c->stats.syscalls++;
    *at = c->offset - (off64_t)asf__avail(c);
    *size = st.st_size;
    return 0;
}

/* Makes the window the current buffer, and `at` the read position.  The descriptor is set to the window's
 * end, as if the window had been read. */
static ssize_t show_window_from(struct asf_cios *c, struct asf_buffer *b, off64_t at) {
    off64_t base = window_of(b)->at, end = c->ops->seek(c, base + (off64_t)b->size, SEEK_SET);
    if (end < 0) {
        unmap(c, b);
        return end;
    }
    c->stats.in += (uint64_t)(end - c->offset);
    asf__use_buffer(c, b);
    asf__set_read(c, b->base, b->base + (at - base), b->base + b->size);
    c->offset = end;
    asf__filled(c);
    return (ssize_t)asf__avail(c);
}

static ssize_t map_fill(struct asf_cios *c, size_t want) {
    off64_t at, size;
    if (find_position(c, &at, &size) < 0)
        return fall_back(c, want, "the offset cannot be read");
    if (c->offset >= size) /* at the end: only the unread bytes are left */
        return (ssize_t)asf__avail(c);
    if (c->advice == ASF_RANDOM)
        return fall_back(c, want, "the program reads here and there");
    if (c->copied)
        return fall_back(c, want, "the program asks for copies");
    asf__read_ahead(c);
    off64_t base = at & ~(off64_t)(BOUNDARY - 1);
    bool first = !c->data; /* `data` is not NULL once a window was mapped */
    c->data = c;
    struct asf_buffer *b = map_new_window(c, base, window_size(base, at, want, size));
    if (!b)
        return fall_back(c, want, "the kernel would not map it");
    if (first && want <= MUCH && has_small_pages(b)) {
        unmap(c, b);
        return fall_back(c, want, "large file in small pages: read costs less than a fault for 64 KB");
    }
    return show_window_from(c, b, at);
}

/* --- truncation ------------------------------------------------------------------ */

/* Drops the window, and sets the descriptor to the stream's offset.  Pages that were replaced by zeros
 * stay zero even if the file grows again, so the next fill maps a new window. */
int asf__map_trim(struct asf_cios *c) {
    const struct asf_buffer *b = c->buffer;
    if (c->flags & ASF_IN_BACKUP)
        return 0;
    if (c->offset >= 0) {
        off64_t at = c->ops->seek(c, window_of(b)->at + (c->read_ptr - b->base), SEEK_SET);
        if (at < 0)
            return (int)at;
        c->offset = at;
    }
    asf__use_buffer(c, NULL);
    return 0;
}

/* Bytes before the first replaced page are the file's.  If the file has grown again, the page before
 * the replaced one is in doubt, too: the file may have ended in that page, whose rest was zero then. */
bool asf__was_cut(struct asf_cios *c, const char *map, off64_t at, int watch, const char *end) {
    const char *replaced = asf__replaced_from(watch);
    off64_t size = c->ops->length(c), there = size - at;
    if (size < 0 || end - map > there)
        return true;
    return replaced &&
           end - map > (replaced - map < there ? replaced - map - (off64_t)asf__page() : replaced - map);
}

int asf__map_lost(struct asf_cios *c, const struct asf_buffer *b, const char *p, size_t n) {
    const struct asf_window *w = window_of(b);
    if (n == 0 || asf__still_there(w, p + n - 1))
        return 0;
    return asf__was_cut(c, b->base, w->at, w->watch, p + n) ? -EIO : 0;
}

const struct asf_module asf__file_map = {
    .name = "map",
    .get = asf__fd_get,
    .seek = asf__fd_seek,
    .fill = map_fill,
    ASF__POSITIONAL_OPS,
    .trim = asf__map_trim,
    .lost = asf__map_lost,
};
