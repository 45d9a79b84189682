/* SPDX-License-Identifier: MIT
 *
 * modules.c - choose the module of a stream when the stream is first used, by the kind of file and by
 * measurements; and open streams on a program's own module.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/sys/costs.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "streams/decode.h"

static void use_module(struct asf_cios *c, const struct asf_module *ops, const char *why) {
    c->ops = ops;
    c->why = why;
}

static enum asf_kind kind_of(const struct stat64 *st) {
    switch (st->st_mode & S_IFMT) {
    case S_IFREG:
        return ASF_REGULAR;
    case S_IFIFO:
        return ASF_PIPE;
    case S_IFSOCK:
        return ASF_SOCKET;
    default:
        return st->st_rdev == makedev(1, 3) ? ASF_NULL_DEVICE : ASF_CHARACTER_DEVICE;
    }
}

static const char *why_of(enum asf_kind kind) {
    return kind == ASF_PIPE               ? "pipe"
           : kind == ASF_SOCKET           ? "socket"
           : kind == ASF_NULL_DEVICE      ? "the null device"
           : kind == ASF_CHARACTER_DEVICE ? "character device"
                                          : "regular file";
}

const struct asf_module *asf__pipe_module = &asf__pipe;

/* As in the C library, recognizes a pseudoterminal by its device number, without calling isatty. */
static bool is_terminal(const struct asf_cios *c, const struct stat64 *st) {
    enum { FIRST_PTY = 136, LAST_PTY = 143 };
    const unsigned number = major(st->st_rdev);
    const bool is_pty = number >= FIRST_PTY && number <= LAST_PTY;
    return S_ISCHR(st->st_mode) && (is_pty || asf__sys.isatty(c->fd));
}

/* Sets the module of a descriptor by its kind and access, for stdio and the ASI. */
static void use_descriptor(struct asf_cios *c, const struct stat64 *st) {
    c->kind = kind_of(st);
    if (c->kind != ASF_REGULAR)
        use_module(c, c->kind == ASF_PIPE ? asf__pipe_module : &asf__pipe, why_of(c->kind));
    else
        use_module(c,
                   c->access == O_RDWR ? &asf__file_update
                   : c->access         ? &asf__file_write
                                       : &asf__file_read,
                   why_of(c->kind));
    if (c->kind == ASF_CHARACTER_DEVICE && !(c->flags & ASF_UNBUFFERED) && is_terminal(c, st)) {
        c->flags |= ASF_LINE_BUF;
        c->why = "terminal: line buffered";
    }
}

/* The last step of both `attach` functions: decompress, and print a verbose line. */
static void look_for_format(struct asf_cios *c) {
    if (asf__unlikely(asf__options()->decompress))
        asf__look_for_format(c);
    asf__tell_user(c, c->why);
}

static bool stat_descriptor(struct asf_cios *c, struct stat64 *st) {
    if (c->fd >= 0 && asf__fstat(c->fd, st) == 0)
        return true;
    c->kind = ASF_PIPE;
    use_module(c, &asf__pipe, "the descriptor is not open");
    return false;
}

/* --- buffered as libc's streams -------------------------------------------------- */

/* Returns the size of the buffer for a stream for which libc would allocate `size` bytes: that size, or the
 * one that the option `buffer` asks for. */
static size_t buffer_size(size_t size) {
    return asf__options()->buffer ? asf__options()->buffer : size;
}

/* Whether the stream writes to standard error's file.  Such a stream is never bulk, so that messages stay
 * between the lines to which they refer.  This is checked at the stream's first use, when the C library calls
 * fstat, too: a seccomp filter may forbid the call later. */
static bool is_standard_error(const struct asf_cios *c, const struct stat64 *st) {
    const bool is_written = c->kind == ASF_REGULAR && c->access != O_RDONLY;
    struct stat64 its;
    if (!is_written || c->fd == STDERR_FILENO)
        return is_written;
    return asf__fstat(STDERR_FILENO, &its) == 0 && st->st_dev == its.st_dev && st->st_ino == its.st_ino;
}

void asf__note_descriptor_flags(struct asf_cios *c, int flags) {
    if (c->access != O_RDONLY && (flags < 0 || flags & O_APPEND))
        c->bulk.state = ASF_BULK_NEVER;
}

void asf__look_at_output(struct asf_cios *c) {
    struct stat64 st = {.st_ino = 0};
    int flags = asf__fstat(c->fd, &st);
    if (flags == 0 && S_ISREG(st.st_mode))
        flags = (int)asf__raw_syscall(SYS_fcntl, c->fd, F_GETFL, 0, 0);
    asf__note_descriptor_flags(c, flags);
    c->device = st.st_dev;
    c->inode = st.st_ino;
}

void asf__look_at_input(struct asf_cios *c) {
    off64_t at = asf__lseek(c->fd, 0, SEEK_CUR);
    c->place = at < 0 ? -1 : at;
}

/* Whether the descriptor refers to another file than at start; whether that file is appended to is
 * unknown. */
static bool is_replaced(const struct asf_cios *c, const struct stat64 *st) {
    return c->inode && (c->inode != st->st_ino || c->device != st->st_dev);
}

/* Whether the stream may become bulk (backplane/bulk.h).  The kind of file, and the options, must not let
 * other processes see when its bytes are moved, or that the descriptor's offset differs from libc's. */
static bool may_be_bulk(struct asf_cios *c, const struct stat64 *st) {
    bool suits = c->ops == &asf__file_read || c->ops == &asf__file_write ||
                 (c->ops == &asf__pipe &&
                  (c->kind == ASF_NULL_DEVICE || (c->kind == ASF_PIPE && c->access == O_RDONLY)));
    return suits && !asf__options()->exact && c->block >= 1024 && c->fd >= 0 &&
           !(c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED | ASF_APPENDING)) && !is_standard_error(c, st) &&
           !is_replaced(c, st);
}

static void attach_as_libc(struct asf_cios *c) {
    struct stat64 st = {.st_blksize = 0};
    if (stat_descriptor(c, &st))
        use_descriptor(c, &st);
    else
        c->bulk.state = ASF_BULK_NEVER; /* the number may become any file's */
    c->block = st.st_blksize > 0 && st.st_blksize < BUFSIZ ? (size_t)st.st_blksize : BUFSIZ;
    c->stats.as_libc = true;
    if (!(c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED)))
        c->block = buffer_size(c->block);
    look_for_format(c);
    if (c->bulk.state == ASF_BULK_UNKNOWN && may_be_bulk(c, &st))
        c->bulk.state = ASF_BULK_MAYBE;
    c->device = st.st_dev;
    c->inode = st.st_ino;
}

const struct asf_module asf__as_libc = {ASF__DESCRIPTOR_OPS("unused"), .attach = attach_as_libc};

/* --- streams of the ASI ------------------------------------------------------------- */

enum { READ_BUFFER = 64 << 10, WRITE_BUFFER = 128 << 10 };

static bool is_small(off64_t size) {
    const struct asf_options *o = asf__options();
    size_t least = o->map_min < ASF_COSTS_LEAST || size < ASF_COSTS_LEAST ? o->map_min : asf__tuned_map_min();
    return size < (off64_t)least;
}

static void choose_input(struct asf_cios *c, const struct stat64 *st) {
    const struct asf_options *o = asf__options();
    const char *why;
    if (c->offset < 0)
        c->offset = c->ops->seek(c, 0, SEEK_CUR);
    if (o->module[0] == 'r')
        use_module(c, &asf__file_ahead, "ASF_OPTIONS asks for read");
    else if (st->st_size == 0)
        use_module(c, &asf__file_ahead, "no size: empty, or made up as it is read (/proc)");
    else if (o->module[0] != 'm' && is_small(st->st_size - (c->offset > 0 ? c->offset : 0)))
        use_module(c, &asf__file_ahead, "small file: a read costs less than a map");
    else if ((why = asf__why_map(c, st)))
        use_module(c, &asf__file_map, why);
    else
        use_module(c, &asf__file_ahead, "not known to map well: the file system, or holes in memory");
}

static void attach_for_asi(struct asf_cios *c) {
    struct stat64 st;
    c->block = c->access == O_RDONLY ? READ_BUFFER : WRITE_BUFFER;
    if (stat_descriptor(c, &st)) {
        use_descriptor(c, &st);
        if (c->kind == ASF_REGULAR && c->access == O_RDONLY)
            choose_input(c, &st);
        else if (c->kind == ASF_REGULAR) {
            c->block = asf__tuned_buffer();
            c->ops = c->access == O_RDWR ? &asf__places_update : &asf__places_write;
        } else if (c->access == O_RDWR && asf__lseek(c->fd, 0, SEEK_CUR) < 0)
            c->ops = &asf__two_ways;
    }
    look_for_format(c);
}

const struct asf_module asf__for_asi = {ASF__DESCRIPTOR_OPS("unused"), .attach = attach_for_asi};

/* --- a program's own modules ----------------------------------------------------------- */

struct asf_cios *asf__open_module(const struct asf_module *ops, void *data, int access) {
    struct asf_cios *c = asf__cios_new(ops, -1, access);
    if (!c)
        return NULL;
    c->flags &= ~ASF_FILEBUF;
    c->orientation = -1;
    c->data = data;
    c->kind = ASF_CALLBACK;
    c->block = buffer_size(BUFSIZ);
    return c;
}

struct users_module {
    struct asf_module module;
    int (*close)(struct asf_cios *c);
};

static const struct asf_module closed_module = {.name = "closed"};

static int close_users_module(struct asf_cios *c) {
    struct users_module *u = (struct users_module *)(uintptr_t)c->ops;
    int rc = u->close ? u->close(c) : 0;
    c->ops = &closed_module;
    free(u);
    return rc;
}

struct asf_cios *asf__open_users_module(const struct asf_stream_ops *ops, void *data, int access) {
    struct users_module *u = malloc(sizeof *u);
    if (!u)
        return NULL;
    *u = (struct users_module){.module = {.name = ops->name,
                                          .get = ops->get,
                                          .put = ops->put,
                                          .seek = ops->seek,
                                          .close = close_users_module,
                                          .asks_for_offset_each_time = true,
                                          .reads_by_whole_buffers = true},
                               .close = ops->close};
    struct asf_cios *c = asf__open_module(&u->module, data, access);
    if (c)
        c->why = "the program's own module";
    else
        free(u);
    return c;
}
