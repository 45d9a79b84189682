/* SPDX-License-Identifier: MIT
 *
 * wide_position.c - the offset of a wide stream, by libc's rules.  The offset is found by converting again,
 * or counting, the bytes from the start of the window.  After a seek the bytes before the target are
 * converted, so that the window has the same characters as in libc.
 */
#include "interfaces/stdio/stdio_cios.h"

static off64_t kernel_seek(struct asf_cios *c, off64_t offset, int whence) {
    return c->ops->seek ? c->ops->seek(c, offset, whence) : -ESPIPE;
}

/* --- telling --------------------------------------------------------------- */

/* Returns how many of the bytes read are after the program's position, p in a window that begins at `base`
 * and ends at `end`. */
static off64_t unread_bytes(struct asf_cios *c, const wchar_t *base, const wchar_t *p, const wchar_t *end) {
    mbstate_t state = asf__wide(c)->last_state;
    int width = asf__wide_width(c);
    if (width > 0)
        return (end - p) * width + (c->read_end - c->read_ptr);
    return c->read_end - c->read_base - (off64_t)asf__wide_span(c, &state, (size_t)(p - base));
}

/* Returns how many bytes the characters that are not written yet will take, or -1. */
static off64_t pending_bytes(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
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

/* Sets *distance to the stream's position relative to the descriptor's offset: negative for input that was
 * not read, positive for pending output. */
static int find_distance(struct asf_cios *c, off64_t *distance) {
    const struct asf_wide *w = asf__wide(c);
    bool backup = c->flags & ASF_IN_BACKUP, appends = c->flags & ASF_APPENDING;
    if (backup && w->read_ptr < w->read_end)
        return -EINVAL; /* a character pushed back has no offset */
    if (w->write_ptr == w->write_base) {
        *distance = backup ? -unread_bytes(c, w->save_base, w->save_base, w->save_end)
                           : -unread_bytes(c, w->read_base, w->read_ptr, w->read_end);
        return 0;
    }
    off64_t end = appends ? kernel_seek(c, 0, SEEK_END) : 0, n = asf__failed(end) ? -1 : pending_bytes(c);
    if (asf__failed(end) || n < 0)
        return asf__failed(end) ? (int)end : -ASF_NO_ERRNO;
    if (appends)
        c->offset = end;
    *distance = n + (c->write_ptr - (appends ? c->write_base : c->read_end));
    return 0;
}

off64_t asf__wide_tell(struct asf_cios *c) {
    off64_t distance = 0, at = c->offset;
    int rc = asf__wide(c)->buf_base ? find_distance(c, &distance) : 0;
    if (rc < 0)
        return rc;
    if (asf__knows_offset(c))
        at = c->offset;
    else
        at = asf__is_exclusive(c) && c->place >= 0 ? c->place : kernel_seek(c, 0, SEEK_CUR);
    if (asf__failed(at))
        return at;
    return at + distance < 0 ? -EINVAL : at + distance;
}

/* --- giving back unread input ------------------------------------------------ */

/* Sets read_ptr to the first byte of the program's next character. */
static void set_read_position(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    w->state = w->last_state;
    c->read_ptr = c->read_base + asf__wide_span(c, &w->state, (size_t)(w->read_ptr - w->read_base));
}

void asf__wide_reader_to_bytes(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    int width = asf__wide_width(c);
    asf__wide_free_backup(c);
    if (w->read_ptr < w->read_end && width > 0)
        c->read_ptr -= (w->read_end - w->read_ptr) * width;
    else if (w->read_ptr < w->read_end)
        set_read_position(c);
    asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
}

int asf__wide_sync(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    if (asf__wide_has_output(c) && asf__wide_flush(c) == EOF)
        return EOF;
    if (w->read_ptr != w->read_end) {
        int width = asf__wide_width(c);
        if (width <= 0)
            set_read_position(c);
        off64_t back = width > 0 ? (w->read_end - w->read_ptr) * width : c->read_end - c->read_ptr;
        off64_t at = kernel_seek(c, -back, SEEK_CUR);
        if (asf__failed(at) && at != -ESPIPE) {
            asf__set_errno((int)at);
            return EOF;
        }
        if (!asf__failed(at)) {
            w->read_end = w->read_ptr;
            c->read_end = c->read_ptr;
        }
    }
    c->offset = -1;
    return 0;
}

/* --- seeking -------------------------------------------------------------------- */

static void empty_windows(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    asf__empty_windows(c);
    asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
    asf__wide_set_write(w, w->buf_base);
}

static off64_t seek_and_empty(struct asf_cios *c, off64_t offset, int whence) {
    off64_t at = kernel_seek(c, offset, whence);
    if (asf__failed(at))
        return at;
    c->flags &= ~ASF_EOF;
    c->offset = at;
    empty_windows(c);
    return at;
}

/* Converts the bytes before the target, which count as read.  Returns false if they cannot be converted. */
static bool convert_before(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    const char *from = c->read_base;
    w->last_state = w->state;
    enum asf_converted status = asf__decode(c, &from, c->read_ptr, &w->read_end, w->buf_end);
    if (status == ASF_INVALID)
        c->flags |= ASF_ERR;
    w->read_ptr = w->read_end;
    return status == ASF_CONVERTED;
}

static bool seek_in_window(struct asf_cios *c, off64_t target) {
    struct asf_wide *w = asf__wide(c);
    char *end = c->read_end;
    off64_t start = c->offset - (end - c->buf_base);
    if (c->offset < 0 || !c->read_base || target < start || target >= c->offset)
        return false;
    empty_windows(c);
    int width = asf__wide_width(c);
    asf__set_read(c, c->buf_base, c->buf_base + (target - start), end);
    if (width <= 0)
        return convert_before(c);
    w->read_ptr = w->read_end += (target - start) / width;
    if (w->read_ptr > w->buf_end) /* the program's buffer is small; libc would write beyond its end */
        asf__wide_set_read(w, w->buf_base, w->buf_end, w->buf_end);
    return true;
}

/* As in libc, seeks to the start of the target's block and reads the block; only up to the target if the
 * descriptor's offset must be exact afterwards. */
static off64_t seek_block(struct asf_cios *c, off64_t target, bool exact) {
    off64_t size = c->buf_end - c->buf_base, start = target & ~(size - 1), into = target - start;
    ssize_t n = 0;
    if (into > size) { /* a size that is no power of two */
        start = target;
        into = 0;
    }
    off64_t at = kernel_seek(c, start, SEEK_SET);
    if (at < 0)
        return asf__failed(at) ? at : -ASF_NO_ERRNO;
    if (into > 0)
        asf__wide_prepare(c);
    empty_windows(c);
    if (into > 0) {
        c->offset = -1;
        n = asf__get(c, c->buf_base, (size_t)(exact ? into : size));
        if (n < into)
            return seek_and_empty(c, n < 0 ? into : into - n, SEEK_CUR);
    }
    asf__set_read(c, c->buf_base, c->buf_base + into, c->buf_base + n);
    if (!convert_before(c))
        return seek_and_empty(c, target, SEEK_SET);
    c->offset = at + n;
    c->flags &= ~ASF_EOF;
    return target;
}

static off64_t seek_to(struct asf_cios *c, off64_t target, bool exact) {
    if (seek_in_window(c, target)) {
        c->flags &= ~ASF_EOF;
        if (!asf__is_exclusive(c) || c->place != c->offset)
            kernel_seek(c, c->offset, SEEK_SET); /* another user of the descriptor may have moved it */
        return target;
    }
    if (c->flags & ASF_NO_READS || !c->ops->get)
        return seek_and_empty(c, target, SEEK_SET);
    return seek_block(c, target, exact);
}

/* As in glibc, the sum wraps. */
static off64_t wrapping_sum(off64_t a, off64_t b) {
    return (off64_t)((uint64_t)a + (uint64_t)b);
}

/* Seeks relative to the program's position.  Where the width of characters varies, the windows are cut off at
 * that position first. */
static off64_t seek_relative(struct asf_cios *c, off64_t offset, bool exact) {
    struct asf_wide *w = asf__wide(c);
    offset = wrapping_sum(offset, -unread_bytes(c, w->read_base, w->read_ptr, w->read_end));
    if (asf__wide_width(c) <= 0) {
        set_read_position(c);
        w->read_end = w->read_ptr;
    }
    return asf__knows_offset(c) ? seek_to(c, wrapping_sum(offset, c->offset), exact)
                                : seek_and_empty(c, offset, SEEK_CUR);
}

static off64_t seek_from_end(struct asf_cios *c, off64_t offset, bool exact) {
    off64_t length = c->ops->length ? c->ops->length(c) : -1;
    return length < 0 ? seek_and_empty(c, offset, SEEK_END) : seek_to(c, wrapping_sum(offset, length), exact);
}

off64_t asf__wide_seek(struct asf_cios *c, off64_t offset, int whence) {
    struct asf_wide *w = asf__wide(c);
    asf__wide_free_backup(c);
    bool exact = w->read_base == w->read_end && w->write_base == w->write_ptr;
    if (asf__is_putting(c) && asf__wide_to_read(c) == EOF)
        return -ASF_NO_ERRNO;
    if (!c->buf_base) /* as in glibc, which makes both buffers together */
        asf__wide_prepare(c);
    if (!w->read_base)
        empty_windows(c);
    return whence == SEEK_CUR   ? seek_relative(c, offset, exact)
           : whence == SEEK_SET ? seek_to(c, offset, exact)
                                : seek_from_end(c, offset, exact);
}
