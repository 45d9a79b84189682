/* SPDX-License-Identifier: MIT
 *
 * read.c - input: fill the current buffer when a call finds too few bytes in it, and copy bytes to the
 * caller: from the buffer, or straight from the module if the call wants a whole buffer or more.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"

#include <errno.h>

/* The least number of bytes copied without the lock (paper, "Interface modules"). */
enum { UNLOCKED_COPY = 2048 };

/* Calls the module's `get`.  Inline: a system call empties the processor's stack of return addresses, and
 * each return after it costs some 7 ns. */
static inline __attribute__((always_inline)) ssize_t get_from_module(struct asf_cios *c, char *p, size_t n) {
    if (!c->ops->get)
        return -EBADF;
    enum asf_use was = asf__begin_system_call(c);
    ssize_t r = c->ops->get(c, p, n);
    asf__end_system_call(c, was);
    if (r > 0 && asf__knows_offset(c))
        c->offset += r;
    return r;
}

static int leave_output(struct asf_cios *c) {
    int rc = asf__arrive(c);
    return rc < 0 || !asf__is_putting(c) ? rc : asf__end_output(c);
}

int asf__to_read(struct asf_cios *c) {
    if (c->flags & ASF_NO_READS) /* pushed-back bytes are readable on any stream */
        return c->flags & ASF_IN_BACKUP && asf__avail(c) > 0 ? 0 : -EBADF;
    return asf__is_putting(c) ? leave_output(c) : 0;
}

/* Sets the read window where output ended: over bytes read before, or empty; or restores the unread input
 * that asf__to_write has set aside. */
int asf__end_output(struct asf_cios *c) {
    int rc = asf__whole(asf__flush_output(c));
    if (rc < 0)
        return rc;
    c->flags &= ~ASF_PUTTING;
    if (c->unread) {
        asf__use_buffer(c, c->unread);
        c->read_end = c->unread->to;
        c->unread = NULL;
        return 0;
    }
    asf__end_bulk(c);
    if (c->write_ptr > c->read_end)
        c->read_end = c->write_ptr;
    c->read_base = c->buf_base;
    c->read_ptr = c->write_ptr;
    asf__set_write(c, c->read_ptr);
    return 0;
}

/* Whether n bytes copied from the window are valid: the file of a mapped window may have been truncated. */
static bool is_copy_valid(struct asf_cios *c, const char *p, size_t n) {
    return asf__likely(!c->mapped) || !c->ops->lost || c->ops->lost(c, c->buffer, p, n) == 0;
}

/* Moves the unread bytes, pushed-back ones first, to the front of a buffer that has room for `want` bytes
 * and no regions: the current one or a new one.  Returns 0 or -errno. */
static int move_unread_to_front(struct asf_cios *c, size_t want) {
    size_t front = asf__avail(c), have = asf__unread(c);
    struct asf_buffer *b = c->buffer, *old = b;
    if (!b->refs && (!b->release || b->is_static) && b->size >= want && !(c->flags & ASF_IN_BACKUP)) {
        memmove(b->base, c->read_ptr, have);
    } else {
        size_t least = c->flags & ASF_UNBUFFERED ? 1 : c->block;
        if (least < have)
            least = have;
        size_t spare = have > c->block ? want / 2 : 0; /* a region that has grown will grow again */
        b = asf__buffer_new(want > least ? want + spare : least);
        if (!b)
            return -ENOMEM;
        if (front)
            memcpy(b->base, c->read_ptr, front);
        if (c->flags & ASF_IN_BACKUP)
            memcpy(b->base + front, c->save_base, have - front);
        bool whole = c->flags & ASF_IN_BACKUP ? is_copy_valid(c, c->save_base, have - front)
                                              : is_copy_valid(c, c->read_ptr, have);
        if (asf__unlikely(!whole)) {
            asf__retire_buffer(c, b);
            return -EIO;
        }
        asf__free_backup(c);
    }
    if (b != old)
        asf__use_buffer(c, b);
    asf__set_read(c, b->base, b->base, b->base + have);
    asf__set_write(c, b->base);
    return 0;
}

/* Limits a large `want` to the rest of the file, so that no memory is allocated beyond it.  A length of 0 is
 * ignored: files of /proc have it, and are not empty. */
static size_t within_file(struct asf_cios *c, size_t want) {
    enum { MUCH = 1 << 20 };
    off64_t length = want > MUCH && c->ops->length ? c->ops->length(c) : 0;
    off64_t at = length <= 0 ? -1 : c->offset >= 0 ? c->offset : c->ops->seek(c, 0, SEEK_CUR);
    if (at < 0)
        return want;
    size_t there = asf__unread(c) + (length > at ? (size_t)(length - at) : 1);
    return want < there ? want : there;
}

int asf__take_stop(struct asf_cios *c) {
    int why = c->stopped;
    c->stopped = 0;
    return why;
}

static void prepare_bulk(struct asf_cios *c) {
    if (asf__unread(c) > 0) {
        asf__leave_bulk(c);
    } else {
        asf__free_backup(c);
        asf__choose_buffer(c);
    }
}

ssize_t asf__fill_buffer(struct asf_cios *c, size_t want) {
    if (asf__unlikely(!c->buffer || !c->read_base))
        asf__allocate(c);
    if (asf__unlikely(c->bulk.state == ASF_BULK || c->bulk.own))
        prepare_bulk(c);
    want = within_file(c, want);
    int rc = move_unread_to_front(c, want);
    if (rc < 0)
        return rc;
    while (asf__avail(c) < want && !c->stopped) {
        size_t room = (size_t)(c->buf_end - c->read_end), missing = want - asf__avail(c);
        ssize_t r = get_from_module(c, c->read_end, c->flags & ASF_UNBUFFERED ? missing : room);
        if (r <= 0 && asf__avail(c) > 0) {
            /* The end of a regular file need not be recorded, since the next read meets it again.  At a
             * terminal the user would have to type it twice. */
            c->stopped = r < 0 ? (int)r : c->kind != ASF_REGULAR;
            break;
        }
        if (r <= 0) {
            c->offset = -1; /* another process may move the descriptor now */
            return r;
        }
        c->read_end += r;
        if (asf__unlikely(c->bulk.own))
            c->stats.spared += (r - 1) / (ssize_t)c->block;
        if ((size_t)r == room)
            asf__count_block(c);
    }
    return (ssize_t)asf__avail(c);
}

ssize_t asf__fill(struct asf_cios *c, size_t want, bool (*before)(struct asf_cios *c)) {
    int rc = asf__is_putting(c) && !c->ops->memory_is_the_stream ? leave_output(c) : 0;
    if (rc < 0)
        return rc;
    if (asf__avail(c) == 0)
        asf__free_backup(c);
    rc = asf__trim(c);
    if (rc < 0)
        return rc;
    if (asf__avail(c) >= want || (asf__avail(c) > 0 && c->flags & ASF_NO_READS))
        return (ssize_t)asf__avail(c);
    if (c->flags & ASF_NO_READS)
        return -EBADF;
    if (asf__unlikely(c->stopped)) {
        int why = asf__avail(c) == 0 ? asf__take_stop(c) : 0;
        return why < 0 ? why : (ssize_t)asf__avail(c);
    }
    rc = asf__attach(c);
    if (rc < 0 || (before && !before(c)))
        return rc;
    if (asf__module_fills(c) && !(c->flags & ASF_IN_BACKUP))
        return c->ops->fill(c, want);
    return asf__fill_buffer(c, want);
}

ssize_t asf__get(struct asf_cios *c, char *p, size_t n) {
    if (c->buf_base)
        asf__empty_windows(c);
    return get_from_module(c, p, n);
}

/* Counts a reference to the buffer, as a region does, so that several threads can copy from one stream at
 * the same time. */
static void copy_unlocked(struct asf_cios *c, char *p, size_t n) {
    struct asf_buffer *b = c->buffer;
    const char *from = c->read_ptr;
    b->refs++;
    b->copies++;
    c->read_ptr += n;
    asf__unlock(&c->lk);
    memcpy(p, from, n);
    asf__lock(&c->lk);
    b->copies--;
    asf__release_buffer(c, b);
}

/* Copies n bytes from the window.  `last`: the call wants no more; otherwise the lock is kept, so that no
 * other thread takes the bytes that follow.  Returns n; or 0 if the file was truncated during the copy:
 * the window is then mapped anew. */
static size_t take_window(struct asf_cios *c, char *p, size_t n, bool last, int *error) {
    bool unlocked = last && n >= UNLOCKED_COPY && !c->mapped && c->use == ASF_LOCKED &&
                    !__libc_single_threaded && !(c->flags & ASF_IN_BACKUP) && asf__lock_is_held_once(&c->lk);
    if (unlocked) {
        copy_unlocked(c, p, n);
        return n;
    }
    const char *from = c->read_ptr;
    memcpy(p, from, n);
    if (asf__unlikely(!(c->flags & ASF_IN_BACKUP) && !is_copy_valid(c, from, n))) {
        *error = c->ops->trim(c);
        return 0;
    }
    c->read_ptr += n;
    return n;
}

/* The size of the stream's own buffer. */
static inline size_t own_size(const struct asf_cios *c) {
    return asf__unlikely(c->bulk.own) ? c->block : (size_t)(c->buf_end - c->buf_base);
}

/* Whether n bytes go straight to the caller's memory: at least a whole buffer, unless the module has
 * memory of its own or reads by whole buffers (a program's callbacks).  A bulk stream on a file reads
 * fewer than ASF_STRAIGHT bytes through its large buffer.  It does so neither after the end of the file,
 * where stdio's straight read continues and a fill would not, nor from a pipe, where a fill would take
 * more than the call asks for. */
static bool goes_straight(const struct asf_cios *c, size_t n) {
    const bool bulk = c->bulk.state == ASF_BULK && c->kind != ASF_PIPE && !asf__has_ended(c);
    return c->ops->get && !asf__module_fills(c) && !c->stopped && !c->ops->reads_by_whole_buffers &&
           n >= (asf__unlikely(bulk) ? ASF_STRAIGHT : own_size(c));
}

/* Whether n bytes would bypass the stream's own buffer if it were not bulk. */
static bool passes_own_buffer(const struct asf_cios *c, size_t n) {
    return c->bulk.state == ASF_BULK && n % c->block == 0;
}

static inline ssize_t take_straight(struct asf_cios *c, char *p, size_t n) {
    size_t size = own_size(c);
    asf__empty_windows(c);
    n = size >= 128 ? n - n % size : n;
    ssize_t r = get_from_module(c, p, n);
    if (r == (ssize_t)n && n < ASF_STRAIGHT)
        asf__count_block(c);
    return r;
}

/* Whether one call of the module can read n bytes and fill the buffer (ASF_READS_ON). */
static bool reads_on(const struct asf_cios *c, size_t n) {
    if (asf__likely(!(c->flags2 & ASF_READS_ON)) || n <= 1 || c->flags & ASF_UNBUFFERED ||
        c->bulk.state == ASF_BULK)
        return false;
    return c->ops->get_on && !c->stopped && c->buffer && !c->buffer->refs && !c->buffer->release;
}

/* Reads all but the last of n bytes to the caller's memory, and the bytes that follow to the buffer. */
static ssize_t take_and_read_on(struct asf_cios *c, char *p, size_t n) {
    const size_t size = (size_t)(c->buf_end - c->buf_base);
    asf__empty_windows(c);
    enum asf_use was = asf__begin_system_call(c);
    ssize_t r = c->ops->get_on(c, p, n - 1, c->buf_base, size), more = r - (ssize_t)(n - 1);
    asf__end_system_call(c, was);
    if (r > 0 && asf__knows_offset(c))
        c->offset += r;
    if (r <= 0 || more <= 0)
        return r;
    asf__set_read(c, c->buf_base, c->buf_base, c->buf_base + more);
    p[n - 1] = *c->read_ptr++;
    if ((size_t)more == size)
        asf__count_block(c);
    return (ssize_t)n;
}

size_t asf__take(struct asf_cios *c, char *p, size_t n, bool (*before)(struct asf_cios *c), int *error) {
    size_t done = 0;
    /* A read that bypasses the buffer leaves the stream in output mode, as in the C library. */
    bool past = asf__is_putting(c) && !(c->flags & ASF_NO_READS) && !(c->flags2 & ASF_READS_ON) &&
                goes_straight(c, n);
    *error = past ? asf__whole(asf__flush_output(c)) : asf__to_read(c);
    if (*error == 0 && (asf__avail(c) == 0 || !c->buffer)) {
        *error = asf__attach(c);
        if (!asf__module_fills(c))
            asf__allocate(c);
    }
    while (*error == 0 && done < n) {
        size_t have = asf__avail(c), left = n - done;
        if (have > 0) {
            size_t want = have < left ? have : left;
            asf__note_passing(c, left);
            done += take_window(c, p + done, want, want == left, error);
            continue;
        }
        asf__free_backup(c);
        if (asf__avail(c) > 0)
            continue;
        bool on = reads_on(c, left), straight = on || goes_straight(c, left);
        bool ended = straight && c->flags2 & ASF_READS_ON && asf__has_ended(c);
        if ((on || !(straight || passes_own_buffer(c, left))) && c->orientation == 0)
            c->orientation = -1; /* the buffer holds bytes now */
        ssize_t r = ended      ? 0
                    : on       ? take_and_read_on(c, p + done, left)
                    : straight ? take_straight(c, p + done, left)
                               : asf__fill(c, 1, before);
        if (r < 0)
            *error = (int)r;
        if (r <= 0)
            break;
        done += straight ? (size_t)r : 0;
    }
    return done;
}
