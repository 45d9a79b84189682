/* SPDX-License-Identifier: MIT
 *
 * seek.c - tell a stream's offset, and seek: within the current buffer if the target is in it; else to the
 * target's block, which is read so that the next seeks find their targets in the buffer.  A stream with
 * ASF_SEEKS_ANEW always seeks by the module and reads no block.  It asks for the descriptor's offset each
 * time, unless no other process or stream can have moved the descriptor.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"
#include "lib/sys/cleanup.h"

#include <errno.h>

/* Whether `place` is the descriptor's offset, so that no system call need ask for it. */
static bool knows_place(const struct asf_cios *c) {
    return asf__is_exclusive(c) && c->kind == ASF_REGULAR && c->place >= 0;
}

/* Seeks by the module, and empties the windows and the backup. */
static off64_t seek_below(struct asf_cios *c, off64_t offset, int whence) {
    off64_t at = c->ops->seek(c, offset, whence);
    if (asf__failed(at))
        return at;
    c->offset = at;
    asf__free_backup(c);
    asf__leave_window(c);
    if (asf__unlikely(c->gate & ASF_MOVED)) /* the seek replaces the pending asf__arrive */
        __atomic_store_n(&c->gate, c->gate & ~(unsigned)ASF_MOVED, __ATOMIC_RELEASE);
    return at;
}

/* Moves read_ptr if the target is in the window.  Sets the descriptor to read_end, unless it is known to be
 * there: another process may have moved it. */
static bool seek_in_window(struct asf_cios *c, off64_t target) {
    off64_t start = c->offset - (c->read_end - c->buf_base);
    if (c->offset < 0 || !c->read_base || target < start || target >= c->offset)
        return false;
    asf__set_read(c, c->buf_base, c->buf_base + (target - start), c->read_end);
    asf__set_write(c, c->buf_base);
    if (!knows_place(c) || c->place != c->offset)
        c->ops->seek(c, c->offset, SEEK_SET);
    return true;
}

/* Seeks to the target's block and reads it: up to the target if `exact` (the windows were empty), else
 * whole.  A negative offset is an address (/proc/PID/mem): then only the descriptor is set, as in the C
 * library. */
static off64_t seek_block(struct asf_cios *c, off64_t target, bool exact) {
    off64_t size = c->buf_end - c->buf_base, start = target & ~(size - 1), into = target - start;
    if (into > size) /* the size is not a power of two */
        start = target, into = 0;
    off64_t at = c->ops->seek(c, start, SEEK_SET);
    if (at < 0)
        return asf__failed(at) ? at : -ASF_NO_ERRNO;
    ssize_t n = 0;
    if (into > 0) {
        if (c->buffer->refs || c->buffer->release)
            return seek_below(c, target, SEEK_SET);
        enum asf_use was = asf__begin_system_call(c);
        int before = asf__forbid_cancellation(); /* a thread cancelled in `get` would leave the descriptor
                                                    moved and the window not */
        n = c->ops->get(c, c->buf_base, (size_t)(exact ? into : size));
        asf__permit_cancellation(before);
        asf__end_system_call(c, was);
        if (n < into)
            return seek_below(c, into - (n > 0 ? n : 0), SEEK_CUR);
    }
    asf__set_read(c, c->buf_base, c->buf_base + into, c->buf_base + n);
    asf__set_write(c, c->buf_base);
    c->offset = (off64_t)((uint64_t)at + (size_t)n); /* a callback may return any offset */
    return target;
}

/* Makes a relative target absolute, if the offset is known.  Returns 0 or -errno.  The sums wrap, as in the
 * C library: a callback may get any offset, and the kernel refuses one before the beginning of a file. */
static int make_absolute(struct asf_cios *c, off64_t *offset, int *whence) {
    const bool onwards = *whence == SEEK_CUR;
    off64_t base = onwards ? c->offset : *whence == SEEK_END && c->ops->length ? c->ops->length(c) : -1;
    if (onwards)
        *offset = (off64_t)((uint64_t)*offset - asf__avail(c));
    if (asf__failed(base))
        return 0;
    *whence = SEEK_SET;
    *offset = (off64_t)((uint64_t)*offset + (uint64_t)base);
    return onwards && *offset < 0 ? -EINVAL : 0;
}

/* Drops bytes that ungetc pushed back.  A relative offset counts from before these bytes, unless the
 * stream has neither an orientation nor a buffer.  Returns whether the windows are empty.  As in the C
 * library, a byte stream tests this after the drop, any other stream before it. */
static bool drop_pushed_back(struct asf_cios *c, off64_t *offset, int whence) {
    bool counts = c->orientation < 0 || c->buffer;
    if (whence == SEEK_CUR && c->flags & ASF_IN_BACKUP && counts)
        *offset = (off64_t)((uint64_t)*offset - asf__avail(c));
    if (c->orientation < 0)
        asf__free_backup(c);
    bool empty = c->read_base == c->read_end && c->write_base == c->write_ptr;
    asf__free_backup(c);
    return empty;
}

/* Seeks by the module even if the target is in the window, so that the next bytes are read from the file
 * then.  A seek that fails keeps the window and pushed-back bytes. */
static off64_t seek_anew(struct asf_cios *c, off64_t offset, int whence) {
    off64_t behind = c->flags & ASF_IN_BACKUP ? c->save_end - c->save_base : 0;
    if (whence == SEEK_CUR)
        offset = (off64_t)((uint64_t)offset - asf__avail(c) - (uint64_t)behind);
    if (whence == SEEK_CUR && c->offset >= 0 && (c->ops->positional || asf__is_exclusive(c))) {
        offset = (off64_t)((uint64_t)offset + (uint64_t)c->offset);
        whence = SEEK_SET;
    }
    return seek_below(c, offset, whence);
}

/* Seeks to a target outside the window. */
static off64_t seek_file(struct asf_cios *c, off64_t offset, int whence, bool exact) {
    bool by_block = whence == SEEK_SET && c->ops->get && !(c->flags & ASF_NO_READS);
    return by_block && !asf__module_fills(c) && !c->ops->positional ? seek_block(c, offset, exact)
                                                                    : seek_below(c, offset, whence);
}

static off64_t seek_stream(struct asf_cios *c, off64_t offset, int whence) {
    const bool anew = c->flags2 & ASF_SEEKS_ANEW;
    asf__end_bulk(c);

    bool exact = !anew && drop_pushed_back(c, &offset, whence);
    asf__look_below(c);
    asf__publish_others(c);
    int rc = whence == SEEK_CUR ? asf__arrive(c) : 0;
    if (rc == 0)
        rc = asf__trim(c);
    if (rc < 0)
        return rc;
    if (!c->ops->seek)
        return -ESPIPE;
    if (c->ops->memory_is_the_stream)
        return c->ops->seek(c, offset, whence);
    if (c->ops->asks_for_offset_each_time)
        c->offset = -1;
    rc = asf__is_putting(c) ? asf__end_output(c) : 0;
    if (rc == 0 && anew)
        return seek_anew(c, offset, whence);
    if (rc == 0 && !asf__module_fills(c))
        asf__allocate(c);
    if (rc == 0 && whence != SEEK_SET)
        rc = make_absolute(c, &offset, &whence);
    if (rc < 0)
        return rc;
    return whence == SEEK_SET && seek_in_window(c, offset) ? offset : seek_file(c, offset, whence, exact);
}

off64_t asf__seek(struct asf_cios *c, off64_t offset, int whence) {
    off64_t at = seek_stream(c, offset, whence);
    if (at >= 0)
        c->stopped = 0; /* the reason applies to the old offset */
    return at;
}

/* Returns the stream's offset less c->offset: bytes of pending output, or the negative number of unread
 * bytes.  Output mode without pending bytes, as after __fpurge, counts as 0, as in the C library, even if the
 * descriptor is at the end of unread input; but not on a positional stream, which has just begun to write.
 * Bytes that were pushed back before there is a buffer count with ASF_SEEKS_ANEW alone: the C library's fseek
 * makes one. */
static off64_t ahead_of_offset(struct asf_cios *c) {
    off64_t pending = asf__is_putting(c) ? (off64_t)asf__waiting(c) : 0;
    if (pending == 0 && !(asf__is_putting(c) && c->ops->positional))
        return c->buffer || c->flags2 & ASF_SEEKS_ANEW ? -(off64_t)asf__avail(c) : 0;
    const bool elsewhere = (c->flags & ASF_APPENDING && pending > 0) || c->queue;
    return elsewhere ? pending : pending + (c->write_base - c->read_end);
}

static off64_t ask_offset(struct asf_cios *c, int whence) {
    asf__publish_others(c);
    return c->ops->seek(c, 0, whence);
}

off64_t asf__tell_from(struct asf_cios *c, off64_t *below) {
    int rc = asf__arrive(c);
    *below = rc < 0 ? rc : -ESPIPE;
    if (rc < 0 || !c->ops->seek)
        return *below;
    if (c->ops->memory_is_the_stream)
        return c->ops->seek(c, 0, SEEK_CUR);
    if (c->ops->asks_for_offset_each_time)
        c->offset = -1;
    rc = asf__trim(c);
    if (rc < 0)
        return *below = rc;
    off64_t ahead = ahead_of_offset(c), at = c->offset;

    if (ahead > 0 && c->flags & ASF_APPENDING)
        at = c->offset = ask_offset(c, SEEK_END);
    else if (!asf__knows_offset(c) || (c->flags2 & ASF_SEEKS_ANEW && !c->ops->positional))
        at = knows_place(c) ? c->place : ask_offset(c, SEEK_CUR);
    *below = at;
    if (asf__failed(at))
        return at;
    if (c->seek_error < 0)
        *below = at = c->seek_error;
    return __builtin_add_overflow(at, ahead, &at) || at < 0 ? -EINVAL : at;
}

off64_t asf__tell(struct asf_cios *c) {
    off64_t below;
    return asf__tell_from(c, &below);
}

off64_t asf__absolute_offset(struct asf_cios *c, off64_t offset, int whence) {
    off64_t base = 0;
    if (whence == SEEK_CUR)
        base = asf__tell(c);
    else if (whence == SEEK_END) {
        off64_t here = asf__tell(c), end = asf__end_of_detached(c);
        base = c->ops->length(c);
        if (asf__is_putting(c) && base >= 0 && asf__waiting(c) > 0)
            base = here > base ? here : base;
        base = end > base ? end : base;
    } else if (whence != SEEK_SET)
        return -EINVAL;
    if (base < 0)
        return base;
    return __builtin_add_overflow(base, offset, &offset) || offset < 0 ? -EINVAL : offset;
}
