/* SPDX-License-Identifier: MIT
 *
 * modules.c - which module serves a stream, decided at its first use from what
 * the object is and what was measured; and streams on a program's own module.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "backplane/pipe_ring.h"
#include "lib/sys/costs.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "streams/buffer.h"

static void use(struct asf_cios *c, const struct asf_stream_ops *ops, const char *why) {
    c->ops = ops;
    c->why = why;
    c->direct = ops != &asf__file_map;
}

static bool is_small(off64_t size) {
    const struct asf_options *o = asf__options();
    size_t least = o->map_min < ASF_COSTS_LEAST || size < ASF_COSTS_LEAST ? o->map_min : asf__tuned_map_min();
    return size < (off64_t)least;
}

static void choose_input(struct asf_cios *c, const struct stat64 *st) {
    const struct asf_options *o = asf__options();
    c->seekable = true;
    if (c->offset < 0 && !c->sought)
        c->offset = asf__sys.lseek(c->fd, 0, SEEK_CUR);
    asf__libc_empty_at(c, c->offset);
    if (o->module[0] == 'r') {
        use(c, &asf__file_read, "ASF_OPTIONS asks for read");
        return;
    }
    if (st->st_size == 0) {
        use(c, &asf__file_read, "no size: empty, or made up as it is read (/proc)");
        return;
    }
    if (o->module[0] == 'm') {
        use(c, &asf__file_map, "ASF_OPTIONS asks for map");
        return;
    }
    if (!c->own) { /* stdio copies out: a map gains nothing, and shows a file's later changes */
        use(c, &asf__file_read, "stdio copies: a read into a warm buffer costs no more than a map");
        return;
    }
    if (is_small(st->st_size - (c->offset > 0 ? c->offset : 0))) {
        use(c, &asf__file_read, "small file: a read costs less than a map");
        return;
    }
    use(c, &asf__file_map, "large file");
}

static void choose_regular(struct asf_cios *c, const struct stat64 *st) {
    c->regular = c->seekable = true;
    if (c->access == O_RDONLY)
        choose_input(c, st);
    else if (c->flags & ASF_APPENDING)
        use(c, &asf__file_append, "opened to append");
    else if (c->access == O_RDWR)
        use(c, &asf__file_update, "opened to read and write");
    else
        use(c, &asf__file_write, "output: large buffers beat a map");
    if (c->access == O_RDWR && c->offset < 0 && !(c->flags & ASF_APPENDING))
        c->offset = asf__sys.lseek(c->fd, 0, SEEK_CUR);
    if (c->access == O_RDWR && c->offset > 0)
        asf__libc_empty_at(c, c->offset);
}

static void choose_other(struct asf_cios *c, const struct stat64 *st) {
    if (S_ISCHR(st->st_mode) && !(c->flags & ASF_UNBUFFERED) && asf__sys.isatty(c->fd)) {
        c->flags |= ASF_LINE_BUF;
        use(c, &asf__pipe, "terminal: line buffered");
        return;
    }
    if (S_ISFIFO(st->st_mode) && asf__rings() && asf__vtable) {
        use(c, &asf__pipe_ring, "pipe, with a ring beside it if the other end is ours");
        return;
    }
    use(c, &asf__pipe,
        S_ISFIFO(st->st_mode)   ? "pipe"
        : S_ISSOCK(st->st_mode) ? "socket"
        : S_ISCHR(st->st_mode)  ? "character device"
                                : "not a regular file");
}

static void choose_size(struct asf_cios *c, const struct stat64 *st) {
    bool null = S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3); /* where no order shows */
    const struct asf_options *o = asf__options();
    c->blksize = st->st_blksize > 0 && st->st_blksize < BUFSIZ ? (size_t)st->st_blksize : BUFSIZ;
    asf__set_block(c);
    c->may_grow = o->grow && !c->own && !c->user_size && c->block >= 4096 && !(c->flags & ASF_LINE_BUF) &&
                  (c->regular || null);
    if (!c->own && (!o->ahead || asf__is_written_by_map(st->st_dev, st->st_ino)))
        c->shared = true; /* never false: another thread may just have set it */
    if (c->own)
        c->limit = o->buffer;
    if (!(c->flags & ASF_NO_WRITES) && !null)
        asf__check_twins(c);
    c->ino = null ? 0 : st->st_ino;
    c->dev = null ? 0 : st->st_dev;
    c->sink = null;
    if (!c->regular && !c->own && !c->placed) /* as glibc: it is asked where it stands */
        c->offset = -1;
    c->records = !c->own && !null && (S_ISSOCK(st->st_mode) || S_ISCHR(st->st_mode));
}

/* libc takes its buffer when a stream is first used; where there is no memory for
 * it the stream has a byte of its own, so that even then something can be said. */
static void lie_as_libc(struct asf_cios *c) {
    if (!asf__vtable || c->own || asf__make_first(c))
        return;
    asf__unbuffer(c);
    asf__make_first(c);
}

bool asf__choose_now(struct asf_cios *c) {
    struct stat64 st;
    c->chosen = true;
    asf__set_early(c, false);
    if (c->fd < 0) {
        c->blksize = BUFSIZ;
        asf__set_block(c);
        lie_as_libc(c);
        return false;
    }
    bool open = asf__fstat(c->fd, &st) == 0;
    if (!open)
        st = (struct stat64){.st_mode = 0};
    if (!open)
        use(c, &asf__pipe, "the descriptor is not open");
    else if (S_ISREG(st.st_mode))
        choose_regular(c, &st);
    else
        choose_other(c, &st);
    c->dev = st.st_dev;
    c->ino = st.st_ino;
    c->follows = c->follows && S_ISREG(st.st_mode) && st.st_size > 0;
    choose_size(c, &st);
    lie_as_libc(c);
    if (asf__options()->verbose)
        asf__stats_verbose(c->name ? c->name : "stream", c->ops->name, c->why);
    return !open;
}

static ssize_t first_fill(struct asf_cios *c, size_t want) {
    asf__choose(c);
    return c->ops->fill(c, want);
}

static int first_drain(struct asf_cios *c, size_t want) {
    asf__choose(c);
    return c->ops->drain(c, want);
}

/* --- modules made outside ----------------------------------------------------- */

/* The stream's own copy of the table, with the calls that were left out. */
struct outside {
    struct asf_stream_ops ops;
    const struct asf_stream_ops *theirs;
};

static int close_outside(struct asf_cios *c) {
    struct outside *o = (struct outside *)(void *)c->ops;
    int rc = o->theirs->close ? o->theirs->close(c) : 0;
    c->ops = o->theirs;
    free(o);
    return rc;
}

/* NULL when memory is short. */
static const struct asf_stream_ops *fill_in(const struct asf_stream_ops *ops) {
    struct outside *o = malloc(sizeof *o);
    if (!o)
        return NULL;
    *o = (struct outside){.ops = *ops, .theirs = ops};
    if (!o->ops.fill)
        o->ops.fill = asf__buffered_fill;
    if (!o->ops.drain)
        o->ops.drain = asf__buffered_drain;
    o->ops.close = close_outside;
    return &o->ops;
}

struct asf_cios *asf__open_module(const struct asf_stream_ops *ops, void *data, int access) {
    bool complete = ops->fill && ops->drain && ops->close;
    const struct asf_stream_ops *all = complete ? ops : fill_in(ops);
    struct asf_cios *c = all ? asf__cios_new(all, -1, access) : NULL;
    if (!c) {
        if (!complete)
            free((void *)all);
        return NULL;
    }
    c->flags &= ~ASF_FILEBUF;
    c->orientation = -1;
    c->data = data;
    c->chosen = true;
    c->blksize = BUFSIZ;
    asf__set_block(c);
    return c;
}

const struct asf_stream_ops asf__first_use = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "unused",
    .get = asf__fd_get,
    .put = asf__fd_put,
    .seek = asf__fd_seek,
    .close = asf__fd_close,
    .fill = first_fill,
    .drain = first_drain,
};
