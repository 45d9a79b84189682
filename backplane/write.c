/* SPDX-License-Identifier: MIT
 *
 * write.c - output: make room in the current buffer when a call overflows it, put pending bytes, and append
 * bytes from the caller's memory.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"
#include "backplane/put.h"

#include <errno.h>

/* Moves unread input of a stream that cannot seek to c->unread until output ends, so that output does not
 * overwrite it. */
static int keep_unread(struct asf_cios *c) {
    size_t n = asf__avail(c);
    if (c->ops->seek || n == 0)
        return 0;
    struct asf_buffer *b = asf__buffer_new(n > c->block ? n : c->block);
    if (!b)
        return -ENOMEM;
    memcpy(b->base, c->read_ptr, n);
    b->to = b->base + n;
    c->unread = b;
    asf__empty_windows(c);
    return 0;
}

/* Moves the descriptor back over unread input, and drops it.  Output gets a new buffer, or the module's
 * own. */
static int give_up_input(struct asf_cios *c) {
    off64_t unread = (off64_t)asf__avail(c), at = 0;
    if (unread > 0)
        at = c->ops->seek(c, -unread, SEEK_CUR);
    if (at < 0)
        return (int)at;
    c->offset = -1;
    if (asf__module_drains(c)) {
        asf__use_buffer(c, NULL);
        return 0;
    }
    struct asf_buffer *b = asf__buffer_new(c->block);
    if (b)
        asf__use_buffer(c, b);
    return b ? 0 : -ENOMEM;
}

/* Begins output at read_ptr, in the same buffer.  The descriptor moves back there when the first byte is
 * put (asf__go_to_output). */
int asf__to_write(struct asf_cios *c) {
    if (c->flags & ASF_NO_WRITES) {
        c->flags |= ASF_ERR;
        return -EBADF;
    }
    if (asf__is_putting(c) && c->write_base && !(c->gate & ASF_MOVED))
        return 0;
    int rc = asf__attach(c);
    if (rc < 0 || (asf__is_putting(c) && c->write_base)) /* asf__arrive has begun output */
        return rc;
    size_t pushed = c->flags & ASF_IN_BACKUP ? asf__avail(c) : 0;
    asf__free_backup(c);
    if (!asf__module_drains(c))
        asf__allocate(c);
    struct asf_buffer *b = c->buffer;
    rc = keep_unread(c);
    /* Detached output may yet change the bytes of the window in the file. */
    if (rc == 0 && (asf__module_drains(c) || b->refs || b->release || asf__has_detached(c)))
        rc = give_up_input(c);
    if (rc < 0)
        return rc;
    size_t before = (size_t)(c->read_ptr - c->buf_base), over = pushed < before ? pushed : before;
    /* Output starts before the pushed-back bytes, and overwrites the bytes of the file in their place.
     * Without a buffer `over` is 0, and read_ptr is null. */
    if (over > 0)
        c->read_ptr -= over;
    if (c->read_ptr == c->buf_end)
        c->read_ptr = c->read_end = c->buf_base;
    asf__set_write(c, c->read_ptr);
    c->read_base = c->read_ptr = c->read_end;
    c->flags |= ASF_PUTTING;
    asf__show_room(c);
    return 0;
}

static void begin_anew(struct asf_cios *c) {
    c->buf_base = c->buffer->base;
    c->buf_end = c->buffer->base + c->buffer->size;
    asf__empty_windows(c);
    asf__show_room(c);
}

static int put_window(struct asf_cios *c) {
    if (asf__unlikely(c->bulk.own != NULL))
        return asf__put_large(c);
    char *from = c->write_base;
    if (asf__pending(c) == 0)
        return 0;
    if (asf__likely(!c->buffer->refs && !c->buffer->end)) {
        int error;
        size_t n = asf__pending(c), gone = asf__put_or_lose(c, from, n, &error);
        if (asf__likely(gone == n))
            begin_anew(c);
        else if (gone > 0)
            asf__note_put_up_to(c, from + gone);
        return error;
    }
    asf__table_last(c);
    int rc = asf__put_up_to_region(c, c->buffer, &from, c->write_ptr);
    if (from == c->write_ptr && c->buffer->refs == 0)
        begin_anew(c);
    else if (from != c->write_base)
        asf__note_put_up_to(c, from);
    return rc;
}

int asf__flush_output(struct asf_cios *c) {
    if (c->ops->memory_is_the_stream)
        return c->ops->flushed(c);
    if (!asf__is_putting(c))
        return 0;
    int failed = c->failed;
    c->failed = 0;
    int rc = c->queue ? asf__flush_queue(c) : 0;
    if (rc == 0)
        rc = put_window(c);
    if (rc == 0 && c->ops->flushed)
        rc = c->ops->flushed(c);
    return failed ? failed : rc;
}

static bool is_whole_block(const struct asf_cios *c) {
    return c->write_ptr == c->buf_end && c->write_base == c->buf_base && c->read_end == c->write_base &&
           (size_t)(c->buf_end - c->buf_base) == c->block;
}

/* Puts a full window, and counts it if it is a whole block. */
static int pass_block(struct asf_cios *c) {
    bool whole = c->bulk.state > 0 && asf__is_putting(c) && is_whole_block(c) && !c->buffer->refs;
    int rc = asf__flush_output(c);
    if (whole && rc == 0)
        asf__count_block(c);
    return rc;
}

size_t asf__waiting(const struct asf_cios *c) {
    size_t n = asf__pending(c) - c->left_out;
    for (const struct asf_buffer *b = c->queue; b; b = b->next)
        n += (size_t)(b->to - b->from);
    return n;
}

/* Whether the output that waits for regions has reached c->bound. */
static bool is_full(struct asf_cios *c) {
    enum { BOUND = 256 << 20 };
    return c->full = asf__waiting(c) >= (c->bound ? c->bound : BOUND);
}

int asf__drain(struct asf_cios *c, size_t want) {
    int rc = asf__to_write(c);
    if (rc < 0 || asf__room_in_buffer(c) >= want)
        return rc;
    if (asf__module_drains(c)) {
        rc = c->ops->drain(c, want);
        if (rc < 0 && !c->ops->memory_is_the_stream)
            c->flags |= ASF_ERR;
        return rc;
    }
    bool in_use = c->queue || c->buffer->refs;
    struct asf_buffer *larger = NULL;
    if (in_use && is_full(c))
        return -ENOBUFS;
    bool too_small = c->buffer->size < want, is_small = c->buffer->size < c->block && c->buffer != &c->single;
    if (in_use || too_small || is_small) {
        larger = asf__buffer_new(want > c->block ? want : c->block);
        if (!larger && (in_use || too_small))
            return -ENOMEM; /* the stream is unchanged */
    }
    rc = in_use ? asf__go_to_output(c) : pass_block(c);
    if (rc == 0 && !in_use) /* with nothing pending, the descriptor is still at read_end */
        rc = asf__go_to_output(c);
    if (rc == 0 && in_use)
        asf__queue_output(c);
    if (rc == 0 && larger)
        asf__use_buffer(c, larger);
    else if (larger)
        asf__retire_buffer(c, larger);
    else if (rc == 0 && asf__room_in_buffer(c) < want)
        begin_anew(c);
    asf__show_room(c);
    return rc;
}

int asf__put_now(struct asf_cios *c) {
    int rc = asf__flush_output(c);
    return rc == ASF_PARTLY ? 0 : rc;
}

/* --- output that is put unsplit (ASF_PUTS_WHOLE) ------------------------------------------ */

/* Whether n bytes overflow the buffer and must be put unsplit.  They are split, as on other streams, if
 * the stream has no buffer, or memory of the module's own, or regions in its buffer. */
static bool overflows(struct asf_cios *c, size_t n) {
    if (c->flags & ASF_UNBUFFERED || (c->gate & ASF_MOVED) || asf__to_write(c) < 0)
        return false;
    return n > asf__room_in_buffer(c) && !(asf__module_drains(c) || c->queue || c->buffer->refs);
}

static size_t copy_in(struct asf_cios *c, const char *p, size_t n, size_t room) {
    n = n < room ? n : room;
    if (n > 0) { /* with n 0 there may be no buffer */
        memcpy(c->write_ptr, p, n);
        c->write_ptr += n;
    }
    return n;
}

/* Whether one call of the module can put the pending output and other memory after it. */
static bool puts_on(const struct asf_cios *c) {
    return c->ops->put_on && asf__pending(c) > 0 && !c->buffer->end && !c->bulk.own;
}

/* Puts the pending output and p[0..n) by one call of `put_on`.  As in asf__put_or_lose, bytes that fail are
 * dropped.  Returns how many bytes of p were put. */
static size_t put_window_and(struct asf_cios *c, const char *p, size_t n, int *error) {
    size_t pending = asf__pending(c), done = asf__put_both(c, c->write_base, pending, p, n, error);
    if (*error == 0 || done > 0 || !asf__is_stuck(c))
        begin_anew(c);
    if (*error == 0)
        asf__count_block(c);
    return done > pending ? done - pending : 0;
}

/* Puts the buffer, and p[0..n) that overflows it: with one call, if the module has such a call.  Returns
 * n; or how many bytes of p were put before an error. */
static size_t append_whole(struct asf_cios *c, const char *p, size_t n, int *error) {
    if (puts_on(c))
        return put_window_and(c, p, n, error);
    *error = pass_block(c);
    if (*error < 0)
        return 0;
    size_t done = asf__put_to_module(c, p, n, error);
    if (done > 0 || !asf__is_stuck(c))
        begin_anew(c);
    if (*error == 0)
        asf__count_block(c);
    return done;
}

/* Appends through the buffer: a line-buffered stream line by line, an unbuffered one byte by byte. */
static size_t append_by_copies(struct asf_cios *c, const char *p, size_t n, int *error) {
    size_t done = 0;
    while (*error == 0 && done < n) {
        if ((*error = asf__drain(c, 1)) < 0)
            break;
        size_t length = c->flags & ASF_UNBUFFERED ? 1 : n - done;
        const char *end = c->flags & ASF_LINE_BUF ? memchr(p + done, '\n', length) : NULL;
        if (end)
            length = (size_t)(end - (p + done)) + 1;
        size_t copied = copy_in(c, p + done, length, asf__room_in_buffer(c));
        done += copied;
        if (c->flags & ASF_UNBUFFERED || (end && copied == length))
            *error = asf__put_now(c);
        if (*error < 0) /* the last byte, whose flush failed, does not count */
            return done - 1;
    }
    return done;
}

/* Puts whole buffers from the caller's memory, unless the module has memory of its own or the pending
 * output has regions.  Returns how many bytes were put. */
static size_t append_straight(struct asf_cios *c, const char *p, size_t n, int *error) {
    size_t size = (size_t)(c->buf_end - c->buf_base);
    bool leaves_rest = size >= 128 || (c->flags2 & ASF_PUTS_WHOLE && c->flags & ASF_LINE_BUF);
    size_t whole = leaves_rest ? n - n % size : n;
    if (whole == 0 || asf__module_drains(c) || !c->ops->put || c->queue || c->buffer->refs)
        return 0;
    size_t done = asf__put_to_module(c, p, whole, error);
    if (done > 0 || !asf__is_stuck(c))
        begin_anew(c);
    if (*error == 0)
        asf__count_block(c);
    return done;
}

/* Returns how many of n bytes go into the buffer before it is flushed: on a line-buffered stream all up
 * to the last newline, if there is room for n. */
static size_t fitting(const struct asf_cios *c, const char *p, size_t n, bool *flush) {
    *flush = false;
    if (!(c->flags & ASF_LINE_BUF) || !asf__is_putting(c))
        return asf__room(c);
    size_t room = asf__room_in_buffer(c);
    const char *end = room >= n ? memrchr(p, '\n', n) : NULL;
    *flush = end != NULL;
    return end ? (size_t)(end - p) + 1 : room;
}

/* Appends n bytes to an empty buffer. */
static size_t append_to_empty(struct asf_cios *c, const char *p, size_t n, int *error) {
    size_t done = append_straight(c, p, n, error);
    return *error ? done : done + append_by_copies(c, p + done, n - done, error);
}

/* Appends n bytes to a bulk stream when its own buffer would be full.  That buffer would be put, then
 * whole blocks from the caller's memory, and the rest would begin the buffer again; or all would be put
 * (ASF_PUTS_WHOLE). */
static size_t append_past_block(struct asf_cios *c, const char *p, size_t n, int *error) {
    size_t rest = c->flags2 & ASF_PUTS_WHOLE ? 0 : n % c->block, done = 0;
    bool straight = n - rest >= ASF_STRAIGHT;
    if (!asf__stays_bulk(c) || straight)
        *error = asf__flush_output(c);
    if (*error == 0 && !asf__is_bulk_output(c))
        return c->flags2 & ASF_PUTS_WHOLE ? append_whole(c, p, n, error) : append_to_empty(c, p, n, error);
    if (*error == 0 && straight) {
        done = asf__put_to_module(c, p, n - rest, error);
        asf__put_large(c); /* nothing is pending: computes where the next put ends */
    }
    while (*error == 0 && done < n) {
        done += copy_in(c, p + done, n - done, (size_t)(c->buf_end - c->write_ptr));
        if (done < n)
            *error = asf__flush_output(c);
    }
    if (*error == 0)
        *error = asf__begin_own_buffer(c, c->write_ptr - rest);
    return done;
}

/* Appends to a bulk stream.  ASF_STRAIGHT bytes or more bypass an empty buffer. */
static size_t append_bulk(struct asf_cios *c, const char *p, size_t n, int *error) {
    bool passes = asf__pending(c) == 0 && n >= ASF_STRAIGHT;
    size_t done = passes ? 0 : copy_in(c, p, n, asf__room(c));
    *error = 0;
    return done == n ? n : done + append_past_block(c, p + done, n - done, error);
}

size_t asf__append(struct asf_cios *c, const char *p, size_t n, int *error) {
    if (asf__is_bulk_output(c))
        return append_bulk(c, p, n, error);
    if (asf__unlikely(c->flags2 & ASF_PUTS_WHOLE && overflows(c, n)))
        return append_whole(c, p, n, error);
    bool flush;
    size_t room = fitting(c, p, n, &flush), done = copy_in(c, p, n, room);
    *error = 0;
    if (done == n && !flush)
        return n;
    *error = asf__to_write(c);
    if (*error == 0 && !(asf__module_drains(c) || c->queue || c->buffer->refs))
        *error = pass_block(c);
    if (*error == 0 && done < n)
        done += asf__is_bulk_output(c) ? append_past_block(c, p + done, n - done, error)
                                       : append_to_empty(c, p + done, n - done, error);
    return done;
}

int asf__overflow(struct asf_cios *c, unsigned char byte) {
    bool fits = asf__room_in_buffer(c) > 0 && !(c->gate & ASF_MOVED); /* mostly on line-buffered streams */
    bool bulk = asf__is_bulk_output(c);
    if (asf__unlikely(bulk || (!fits && c->flags2 & ASF_PUTS_WHOLE && overflows(c, 1)))) {
        int error = 0;
        if (bulk)
            append_bulk(c, (const char *)&byte, 1, &error);
        else
            append_whole(c, (const char *)&byte, 1, &error);
        return error < 0 ? error : byte;
    }
    int rc = fits ? 0 : asf__drain(c, 1);
    if (rc < 0)
        return rc;
    *c->write_ptr++ = (char)byte;
    if (c->flags & ASF_UNBUFFERED || (c->flags & ASF_LINE_BUF && byte == '\n'))
        rc = asf__put_now(c);
    return rc < 0 ? rc : byte;
}
