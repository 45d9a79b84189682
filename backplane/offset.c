/* SPDX-License-Identifier: MIT
 *
 * offset.c - where a stream stands, and seeking: in the current buffer where libc would
 * find its own there, too.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/parts.h"

#include <errno.h>

#include "backplane/gather.h"
#include "lib/sys/syscalls.h"

static size_t queued(const struct asf_cios *c) {
    size_t n = 0;
    for (const struct asf_buffer *b = c->queue; b; b = b->next)
        n += (size_t)(b->to - b->from);
    return n;
}

/* Whether to go by the offset that is remembered.  A callback is asked each
 * time, and one that others share as long as libc would ask; and what is not chosen
 * yet may be a pipe. */
static bool knows_offset(const struct asf_cios *c) {
    return c->fd >= 0 && c->chosen && (c->placed || c->own || !(c->inherited || c->shared));
}

/* libc knows the offset from a seek on, until a flush or the end of file. */
static bool libc_knows_offset(const struct asf_cios *c) {
    return c->fd >= 0 && c->offset >= 0 && (c->placed || c->own);
}

/* Bytes may be pushed back before. */
static bool libc_has_buffer(const struct asf_cios *c) {
    return c->user_size || c->sought || (c->fd >= 0 ? c->chosen : c->buf_base != NULL);
}

/* Where the stream stands before the offset.  Bytes pushed back before libc has
 * a buffer are passed over; so is input that it would write over, until it does. */
static off64_t before_offset(const struct asf_cios *c, size_t pending) {
    if (asf__is_putting(c))
        return pending ? (off64_t)c->lag : 0;
    return libc_has_buffer(c) ? (off64_t)asf__unread(c) : 0;
}

off64_t asf__tell(struct asf_cios *c) {
    size_t pending = asf__is_putting(c) ? asf__pending(c) + queued(c) : 0;
    if (asf__unlikely(c->sink) && pending)
        pending = asf__libc_pending(c); /* where nothing stays, it is as if the rest had gone out */
    if (!c->ops->seek)
        return -ESPIPE;
    if (c->resident)
        return c->ops->seek(c, 0, SEEK_CUR);
    if (pending && c->flags & ASF_APPENDING) {
        off64_t end = c->ops->seek(c, 0, SEEK_END);
        if (end < 0)
            return end;
        c->offset = c->fd < 0 ? -1 : end; /* and glibc knows it from then on */
        c->placed = true;
        return end + (off64_t)pending;
    }
    off64_t base = knows_offset(c) ? c->offset : -1;
    if (base < 0) {
        base = c->ops->seek(c, 0, SEEK_CUR);
        if (base < 0)
            return base;
    }
    off64_t at = base + (off64_t)pending - before_offset(c, pending);
    if (asf__likely(at >= 0))
        return at;
    /* glibc refuses for what was pushed back, and goes on below zero for the rest. */
    off64_t behind = c->flags & ASF_IN_BACKUP ? c->save_end - c->save_base : 0;
    return at + behind < 0 ? -EINVAL : at - ASF_BEFORE_START;
}

/* To the start of the target's block, as libc seeks. */
static off64_t block_of(const struct asf_cios *c, off64_t target) {
    off64_t block = target & ~((off64_t)c->block - 1);
    return c->own || c->flags & ASF_NO_READS || target - block > (off64_t)c->block ? target : block;
}

/* The block is read; but from an empty buffer glibc reads no further than the
 * target, and where the block begins with it, nothing. */
static struct asf_libc_buffer libc_after_seek(const struct asf_cios *c, off64_t target, bool empty) {
    off64_t block = block_of(c, target);
    bool none = empty || block == target || block > INT64_MAX - (off64_t)c->block;
    off64_t end = none ? target : block + (off64_t)c->block;
    return (struct asf_libc_buffer){block, block, end};
}

/* A target that stands in the window costs no system call; where libc's own
 * smaller buffer would have been refilled, its blocks lie aligned again. */
static inline __attribute__((always_inline)) bool seek_in_window(struct asf_cios *c, off64_t target,
                                                                 struct asf_libc_buffer libc, bool empty) {
    if (!c->placed && !c->own)
        return false; /* glibc does not know where its buffer lies: it reads again */
    if (c->offset < 0 || c->fd < 0 || !c->in || !c->buf_base || c->read_ptr > c->read_end)
        return false;
    if (target < c->offset - (c->read_end - c->buf_base) || target >= c->offset)
        return false;
    if (target >= libc.base && target < libc.end)
        libc.first = libc.base;
    else if (c->loose)
        return false;
    else
        libc = libc_after_seek(c, target, empty);
    if (libc.end > c->offset)
        return false; /* libc would have read more than we have */
    c->libc = libc;
    c->read_base = c->buf_base;
    if (c->regular && !c->own)
        asf__mark_ahead(c, true);
    c->read_ptr = c->read_end - (c->offset - target);
    if (c->shared || c->inherited || c->astray) {
        /* glibc does not look whether the kernel has refused, either. */
        if (asf__sys.lseek(c->fd, c->offset, SEEK_SET) >= 0)
            c->astray = false;
        c->deferred = false;
    }
    c->placed = true;
    return true;
}

static off64_t seek_target(struct asf_cios *c, off64_t offset, int whence) {
    if (whence == SEEK_CUR) {
        off64_t at = asf__tell(c);
        if (at < 0)
            return at;
        if (__builtin_add_overflow(at, offset, &offset))
            return -EINVAL;
    } else if (whence == SEEK_END) {
        struct stat64 st;
        asf__before_io();
        asf__settle_writers(c);
        if (!c->regular || asf__sys.fstat(c->fd, &st) < 0)
            return INT64_MIN;
        if (__builtin_add_overflow(st.st_size, offset, &offset))
            return -EINVAL;
    } else if (whence != SEEK_SET) {
        return -EINVAL;
    }
    return offset < 0 ? -EINVAL : offset;
}

void asf__leave_window(struct asf_cios *c) {
    asf__close_read_window(c);
    asf__libc_empty_at(c, c->offset);
    c->indent = 0;
}

/* Leave the window, and let input go on at `at`. */
static inline void move_to(struct asf_cios *c, off64_t at) {
    c->offset = c->fd < 0 ? -1 : at;
    asf__leave_window(c);
    c->run = ASF_AFTER_SEEK;
    c->placed = true;
    c->astray = false;
}

/* Regular files are served by system calls alone. */
static inline off64_t place(struct asf_cios *c, off64_t at) {
    if (asf__unlikely(!c->regular))
        return c->ops->seek(c, at, SEEK_SET);
    c->stats.syscalls++;
    off64_t r = asf__lseek(c->fd, at, SEEK_SET);
    if (r >= 0)
        c->deferred = false;
    if (r > c->reach)
        c->reach = r;
    return r;
}

int asf__catch_up_now(struct asf_cios *c) {
    off64_t at = c->offset >= 0 ? place(c, c->offset) : 0;
    c->deferred = false;
    return at < 0 ? (int)at : 0;
}

/* Where reads jump about, of a descriptor whose offset no one can see but by calls that
 * bring it up to date first.  The first seek is the kernel's: it may refuse. */
static bool may_defer(const struct asf_cios *c, off64_t at) {
    return c->run < 0 && c->ops->get_at && c->regular && c->access == O_RDONLY && c->orientation <= 0 &&
           !(c->own || c->inherited || c->shared || c->loose || c->astray) && __libc_single_threaded &&
           (at <= c->reach || at <= INT32_MAX);
}

static inline void defer(struct asf_cios *c, off64_t at) {
    move_to(c, at);
    if (c->deferred)
        return;
    c->deferred = true;
    asf__mark_ahead(c, true);
}

/* The block was read, but the target is nowhere: what was read is lost, except that
 * glibc's pointers into its buffer stay.  Of a file they do not matter any more. */
static void stay(struct asf_cios *c, ptrdiff_t stood, ptrdiff_t had, ssize_t got) {
    if (c->fd >= 0 || had > got || stood < 0 || stood >= had) {
        asf__leave_window(c);
        return;
    }
    c->read_ptr = c->read_base + stood;
    c->read_end = c->read_base + had;
}

/* The block is read, so that the next seeks are likely to stay in the window. */
static off64_t seek_block(struct asf_cios *c, off64_t target, bool empty) {
    struct asf_libc_buffer libc = libc_after_seek(c, target, empty);
    ptrdiff_t stood = c->read_ptr - c->buf_base, had = c->read_end - c->buf_base;
    if (may_defer(c, libc.base)) {
        defer(c, libc.base);
    } else {
        off64_t at = place(c, libc.base);
        if (at < 0)
            return at;
        move_to(c, at);
    }
    if (libc.base == target)
        return target;
    c->exactly = empty ? (size_t)(target - libc.base) : 0;
    ssize_t got = asf__fill_empty(c);
    c->exactly = 0;
    if (got >= target - libc.base) {
        c->libc = libc;
        c->read_ptr += target - libc.base;
        return target;
    }
    off64_t further = target - libc.base - (got > 0 ? got : 0);
    /* As libc asks a callback. */
    off64_t at = c->regular ? place(c, target) : c->ops->seek(c, further, SEEK_CUR);
    if (at >= 0)
        move_to(c, at);
    else
        stay(c, stood, had, got);
    return at;
}

/* glibc's sum, which wraps around where the distance is beyond any offset. */
static off64_t wrapped(off64_t a, off64_t b) {
    return (off64_t)((uint64_t)a + (uint64_t)b);
}

/* The offset is not known, or others may look at it: moved by the kernel or
 * the callback, with nothing read. */
static off64_t seek_by(struct asf_cios *c, off64_t distance) {
    off64_t at = c->ops->seek(c, wrapped(distance, -(off64_t)asf__unread(c)), SEEK_CUR);
    if (at >= 0)
        move_to(c, at);
    return at;
}

/* What a relative seek goes back over; glibc forgets the rest of its buffer
 * while the stream has no orientation. */
static off64_t pushed_back(const struct asf_cios *c) {
    if (!(c->flags & ASF_IN_BACKUP))
        return 0;
    return (off64_t)asf__avail(c) - (c->orientation == 0 ? c->save_end - c->save_base : 0);
}

/* Then bytes pushed back are still there while the stream has no orientation. */
static bool is_before_start(const struct asf_cios *c, off64_t distance) {
    return c->flags & ASF_IN_BACKUP && c->orientation == 0 && libc_knows_offset(c) &&
           wrapped(asf__read_position(c), distance) < 0;
}

static off64_t seek_input(struct asf_cios *c, off64_t offset, int whence, bool was_reading, bool empty) {
    if (whence == SEEK_CUR && !libc_knows_offset(c))
        return seek_by(c, offset);
    off64_t target = seek_target(c, offset, whence);
    if (target < 0 && target != INT64_MIN)
        return target;
    if (was_reading && target >= 0 && seek_in_window(c, target, asf__libc_buffer(c), empty))
        return target;
    if (target != INT64_MIN)
        return seek_block(c, target, empty);
    off64_t at = c->ops->seek(c, offset, whence);
    if (at >= 0)
        move_to(c, at);
    return at;
}

/* Output is ended, and what was pushed back is forgotten. */
static int leave_direction(struct asf_cios *c, bool has_buffer) {
    bool was_putting = asf__is_putting(c);
    asf__free_backup(c);
    if (!was_putting && !c->read_base && !has_buffer)
        asf__empty_window(c);
    int rc = was_putting ? asf__end_output(c) : 0;
    if (rc < 0)
        c->flags |= c->lag ? 0 : ASF_ERR; /* as at every write that fails */
    return rc;
}

/* Of any stream: callbacks, pipes, output, bytes pushed back. */
static off64_t seek_any(struct asf_cios *c, off64_t offset, int whence) {
    asf__libc_orient(c);
    bool has_buffer = libc_has_buffer(c);
    bool counts = has_buffer || c->orientation < 0; /* else what was pushed back is forgotten */
    if (whence == SEEK_SET && offset >= 0)
        c->sought = true; /* so that nobody asks for an offset that is about to be set */
    asf__choose(c);
    c->sought = true;
    c->outlived = false;
    if (!c->ops->seek)
        return -ESPIPE;
    if (c->resident)
        return c->ops->seek(c, offset, whence);
    if (c->flags & ASF_IN_BACKUP)
        asf__settle_stream(c); /* what pushed-back bytes stand before is what libc has read */
    if (whence == SEEK_CUR && counts)
        offset = wrapped(offset, -pushed_back(c));
    if (whence == SEEK_CUR && counts && is_before_start(c, offset))
        return -EINVAL;
    if (c->orientation != 0) /* later, glibc takes pushed-back bytes for a filled buffer */
        asf__free_backup(c);
    bool was_reading = !asf__is_putting(c), empty = asf__libc_is_empty(c);
    int rc = leave_direction(c, has_buffer);
    return rc < 0 ? rc : seek_input(c, offset, whence, was_reading, empty);
}

/* The whole of a seek of the usual kinds. */
static inline off64_t seek_plainly(struct asf_cios *c, off64_t target) {
    asf__libc_orient(c);
    c->sought = true;
    c->outlived = false;
    struct asf_libc_buffer libc = asf__libc_buffer(c);
    bool empty = libc.first == libc.end;
    return seek_in_window(c, target, libc, empty) ? target : seek_block(c, target, empty);
}

/* Input of a regular file whose place is known, and nothing pushed back. */
static bool reads_plainly(const struct asf_cios *c) {
    enum { NOT_SO = ASF_IN_BACKUP | ASF_PUTTING | ASF_NO_READS };
    return c->chosen && c->regular && c->offset >= 0 && !(c->flags & NOT_SO) && c->orientation <= 0 &&
           !c->save_base && c->read_base;
}

off64_t asf__seek(struct asf_cios *c, off64_t offset, int whence) {
    off64_t target = offset;
    if ((whence != SEEK_SET && whence != SEEK_CUR) || !reads_plainly(c))
        return seek_any(c, offset, whence);
    if (whence == SEEK_CUR &&
        (!c->placed || c->orientation == 0 || __builtin_add_overflow(asf__read_position(c), offset, &target)))
        return seek_any(c, offset, whence);
    return target >= 0 ? seek_plainly(c, target) : seek_any(c, offset, whence);
}
