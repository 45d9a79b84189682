/* SPDX-License-Identifier: MIT
 *
 * wide_position.c - where a wide stream stands, by libc's rules: an offset is
 * found by converting again, or counting, what was read from the start of the
 * window; and after a seek the bytes before the target are converted, so that
 * the window holds what it holds in libc.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/wide/wide.h"

#include "backplane/gather.h"
#include "lib/sys/syscalls.h"

static off64_t kernel_seek(struct asf_cios *c, off64_t offset, int whence) {
    return c->ops->seek ? c->ops->seek(c, offset, whence) : -ESPIPE;
}

/* --- telling --------------------------------------------------------------- */

/* Bytes between the reader and the end of what was read. */
static off64_t unread(struct asf_cios *c, const wchar_t *base, const wchar_t *p, const wchar_t *end) {
    mbstate_t state = c->wide.last_state;
    int width = asf__wide_width(c);
    if (width > 0)
        return (end - p) * width + (c->read_end - c->read_ptr);
    return c->read_end - c->read_base - (off64_t)asf__wide_span(c, &state, (size_t)(p - base));
}

/* Bytes that the characters not yet written will take, or -1. */
static off64_t unwritten(struct asf_cios *c) {
    struct asf_wide *w = &c->wide;
    size_t n = (size_t)(w->write_ptr - w->write_base);
    int width = asf__wide_width(c);
    if (width > 0)
        return (off64_t)n * width;
    mbstate_t state = w->last_state;
    const wchar_t *from = w->write_base;
    off64_t length = 0;
    while (from < w->write_ptr) {
        char bytes[1024], *to = bytes;
        if (asf__encode(c, &state, &from, w->write_ptr, &to, bytes + sizeof bytes) == ASF_INVALID)
            return -1;
        length += to - bytes;
    }
    return length;
}

static off64_t tell_output(struct asf_cios *c) {
    if (c->flags & ASF_APPENDING) {
        off64_t end = kernel_seek(c, 0, SEEK_END);
        if (end < 0)
            return end;
        c->offset = end;
    }
    off64_t n = unwritten(c);
    return n < 0 ? -ASF_NO_ERRNO : n;
}

static off64_t tell_input(struct asf_cios *c) {
    const struct asf_wide *w = &c->wide;
    if (c->flags & ASF_IN_BACKUP)
        return -unread(c, w->save_base, w->save_base, w->save_end);
    return -unread(c, w->read_base, w->read_ptr, w->read_end);
}

/* A character pushed back has no offset. */
static bool pushed_back(const struct asf_cios *c) {
    return c->flags & ASF_IN_BACKUP && c->wide.read_ptr < c->wide.read_end;
}

off64_t asf__wide_tell(struct asf_cios *c) {
    struct asf_wide *w = &c->wide;
    off64_t from = 0;
    bool output = w->write_ptr > w->write_base;
    if (w->buf_base && pushed_back(c))
        return -EINVAL;
    if (w->buf_base)
        from = output ? tell_output(c) : tell_input(c);
    if (output && from < 0)
        return from;
    off64_t at = c->offset >= 0 ? c->offset : kernel_seek(c, 0, SEEK_CUR);
    if (at < 0)
        return at;
    off64_t pending = asf__is_putting(c) ? (off64_t)asf__pending(c) : 0;
    if (asf__is_putting(c) && (output || pending) && !(c->flags & ASF_APPENDING))
        at -= (off64_t)c->lag;
    at += from + pending;
    return at < 0 ? -EINVAL : at;
}

/* --- giving back what was read ahead ------------------------------------------ */

int asf__wide_sync(struct asf_cios *c) {
    struct asf_wide *w = &c->wide;
    if (asf__is_putting(c) && (w->write_ptr > w->write_base || asf__pending(c)) && asf__wide_flush(c) == EOF)
        return EOF;
    if (w->read_ptr != w->read_end) {
        int width = asf__wide_width(c);
        off64_t back = unread(c, w->read_base, w->read_ptr, w->read_end);
        if (width > 0) {
            back -= c->read_end - c->read_ptr;
        } else {
            w->state = w->last_state;
            c->read_ptr = c->read_base + asf__wide_span(c, &w->state, (size_t)(w->read_ptr - w->read_base));
        }
        off64_t at = kernel_seek(c, -back, SEEK_CUR);
        if (at < 0 && at != -ESPIPE)
            return asf__error(c, (int)at);
        if (at >= 0) {
            w->read_end = w->read_ptr;
            c->read_end = c->read_ptr;
        }
    }
    c->offset = -1;
    c->placed = false;
    return 0;
}

/* --- seeking -------------------------------------------------------------------- */

static void empty_windows(struct asf_cios *c) {
    struct asf_wide *w = &c->wide;
    if (c->in)
        asf__bytes_set_read(c, c->in->base, c->in->base, c->in->base);
    asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
    asf__wide_set_write(w, w->buf_base);
}

static off64_t seek_plainly(struct asf_cios *c, off64_t offset, int whence) {
    off64_t at = kernel_seek(c, offset, whence);
    if (at < 0)
        return at;
    c->flags &= ~ASF_EOF;
    c->offset = at;
    c->placed = true;
    empty_windows(c);
    return at;
}

/* The bytes up to the target count as read: convert them.  False when they
 * cannot be: then the offset alone is set. */
static bool convert_before(struct asf_cios *c) {
    struct asf_wide *w = &c->wide;
    const char *from = c->read_base;
    w->last_state = w->state;
    enum asf_converted status = asf__decode(c, &from, c->read_ptr, &w->read_end, w->buf_end);
    if (status == ASF_INVALID)
        c->flags |= ASF_ERR;
    w->read_ptr = w->read_end;
    return status == ASF_CONVERTED;
}

static bool seek_in_window(struct asf_cios *c, off64_t target) {
    struct asf_wide *w = &c->wide;
    if (c->offset < 0 || !c->read_base || !c->in)
        return false;
    char *base = c->in->base;
    off64_t start = c->offset - (c->read_end - base);
    if (target < start || target >= c->offset)
        return false;
    empty_windows(c);
    int width = asf__wide_width(c);
    asf__bytes_set_read(c, base, base + (target - start), base + (c->offset - start));
    if (width <= 0)
        return convert_before(c);
    w->read_ptr = w->read_end += (target - start) / width;
    if (w->read_ptr > w->buf_end) /* a program's small buffer; libc goes beyond */
        asf__wide_set_read(w, w->buf_base, w->buf_end, w->buf_end);
    return true;
}

/* To the start of the target's block, as libc seeks, which is then read: as far
 * as the target alone where the offset must be exact afterwards. */
static off64_t seek_block(struct asf_cios *c, off64_t target, bool exact) {
    off64_t size = (off64_t)c->block, start = target & ~(size - 1), into = target - start;
    ssize_t n = 0;
    if (into > size) {
        start = target;
        into = 0;
    }
    off64_t at = kernel_seek(c, start, SEEK_SET);
    if (at < 0)
        return at;
    empty_windows(c);
    if (into > 0) {
        c->offset = -1;
        n = c->ops->get(c, c->in->base, (size_t)(exact ? into : size));
        if (n < into)
            return seek_plainly(c, n < 0 ? into : into - n, SEEK_CUR);
    }
    asf__bytes_set_read(c, c->in->base, c->in->base + into, c->in->base + n);
    if (!convert_before(c))
        return seek_plainly(c, target, SEEK_SET);
    c->offset = at + n;
    c->placed = true;
    c->flags &= ~ASF_EOF;
    return target;
}

static off64_t seek_to(struct asf_cios *c, off64_t target, bool exact) {
    asf__free_backup(c);
    if (seek_in_window(c, target)) {
        c->flags &= ~ASF_EOF;
        kernel_seek(c, c->offset, SEEK_SET); /* another process may have moved it */
        return target;
    }
    if (c->flags & ASF_NO_READS || !c->in || !c->ops->get)
        return seek_plainly(c, target, SEEK_SET);
    return seek_block(c, target, exact);
}

/* From where the reader stands, which the windows now end at. */
static off64_t seek_on(struct asf_cios *c, off64_t offset, bool exact) {
    struct asf_wide *w = &c->wide;
    if (__builtin_sub_overflow(offset, unread(c, w->read_base, w->read_ptr, w->read_end), &offset))
        return -EINVAL;
    if (asf__wide_width(c) <= 0) {
        w->state = w->last_state;
        c->read_ptr = c->read_base + asf__wide_span(c, &w->state, (size_t)(w->read_ptr - w->read_base));
        w->read_end = w->read_ptr;
    }
    if (c->offset < 0) {
        asf__free_backup(c);
        return seek_plainly(c, offset, SEEK_CUR);
    }
    return __builtin_add_overflow(offset, c->offset, &offset) ? -EINVAL : seek_to(c, offset, exact);
}

off64_t asf__wide_seek(struct asf_cios *c, off64_t offset, int whence) {
    struct asf_wide *w = &c->wide;
    struct stat64 st;
    bool exact = w->read_base == w->read_end && w->write_base == w->write_ptr;
    if (asf__is_putting(c) && asf__wide_to_read(c) == EOF)
        return -ASF_NO_ERRNO;
    int rc = asf__wide_prepare(c);
    if (rc >= 0 && !w->read_base)
        asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
    if (rc >= 0 && !(c->flags & ASF_NO_READS))
        rc = asf__wide_input(c);
    if (rc < 0)
        return rc;
    if (whence == SEEK_CUR)
        return seek_on(c, offset, exact);
    if (whence == SEEK_SET)
        return seek_to(c, offset, exact);
    asf__before_io();
    asf__settle_writers(c);
    if (asf__sys.fstat(c->fd, &st) == 0 && S_ISREG(st.st_mode))
        return __builtin_add_overflow(offset, st.st_size, &offset) ? -EINVAL : seek_to(c, offset, exact);
    asf__free_backup(c);
    return seek_plainly(c, offset, whence);
}
