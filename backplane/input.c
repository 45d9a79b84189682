/* SPDX-License-Identifier: MIT
 *
 * input.c - what is taken: data moved from the current buffer, or from below it, to the
 * caller's memory; and input that was read ahead given back.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/parts.h"

#include <errno.h>

#include "lib/sys/cleanup.h"
#include "lib/sys/syscalls.h"

/* Copies shorter than this are not worth giving up the lock for. */
enum { UNLOCKED_COPY = 2048 };

bool asf__torn(struct asf_cios *c) {
    struct stat64 st;
    if (asf__likely(!c->in || !c->in->torn || c->flags & ASF_IN_BACKUP))
        return false;
    off64_t first = c->in->at, end = first + (off64_t)c->in->size;
    off64_t size = asf__sys.fstat(c->fd, &st) == 0 ? st.st_size : first;
    c->offset = size > end ? end : size > first ? size : first;
    c->read_end = c->in->base + (c->offset - first);
    asf__sys.lseek(c->fd, c->offset, SEEK_SET);
    return true;
}

static const struct asf_buffer a_copy = {.refs = 1, .copies = 1};

/* Copies that this thread is in the middle of. */
static __thread unsigned copying;

bool asf__is_copying(void) {
    return copying > 0;
}

/* Take a region under the lock, copy with it released, give it back: threads on one
 * stream copy in parallel (paper, "Interface modules"). */
static size_t take_unlocked(struct asf_cios *c, char *p, size_t n) {
    struct asf_buffer *b = c->in;
    const char *from = c->read_ptr;
    copying++;
    b->uses += a_copy.uses;
    c->read_ptr += n;
    asf__unlock(&c->lk);
    memcpy(p, from, n);
    asf__lock(&c->lk);
    b->uses -= a_copy.uses;
    asf__buffer_unused(c, b);
    copying--;
    return n;
}

/* The call's last bytes: nobody may come between these and those before them. */
static bool may_yield(const struct asf_cios *c, size_t n) {
    return n >= UNLOCKED_COPY && !__libc_single_threaded && c->yields && asf__avail(c) >= n && c->in &&
           !(c->flags & ASF_IN_BACKUP);
}

static size_t take_window(struct asf_cios *c, char *p, size_t n) {
    if (may_yield(c, n))
        return take_unlocked(c, p, n);
    size_t length = asf__avail(c) < n ? asf__avail(c) : n;
    memcpy(p, c->read_ptr, length);
    c->read_ptr += length;
    return length;
}

/* Bytes at the end of a copy that a truncation took away. */
static size_t torn_away(struct asf_cios *c, size_t taken) {
    if (asf__likely(c->read_ptr <= c->read_end) || !asf__torn(c) || c->read_ptr <= c->read_end)
        return 0;
    size_t lost = (size_t)(c->read_ptr - c->read_end);
    c->read_ptr = c->read_end;
    return lost < taken ? lost : taken;
}

/* What libc reads past its buffer: whole blocks, unless they are tiny. */
static size_t whole_blocks(const struct asf_cios *c, size_t n) {
    return c->block >= 128 ? n - n % c->block : n;
}

/* A read this large need not pass the window: its copy, or the mapping of its
 * pages, costs as much as the kernel's copy to where it is wanted. */
enum { PAST_WINDOW = 32 << 10 };

/* Behind a seek nothing is read ahead for the next reads to find. */
static inline size_t past_window(const struct asf_cios *c) {
    return c->run >= 0 && c->block < PAST_WINDOW ? PAST_WINDOW : c->block;
}

static bool reads_directly(const struct asf_cios *c, size_t n) {
    if (c->regular && !c->shared && !c->inherited && c->block >= 128)
        return n >= past_window(c) && !c->own && c->ops->get;
    bool tiny = c->regular && c->block < 128 && !c->own && c->ops->get;
    bool ended = c->fd < 0 && c->flags & ASF_EOF; /* of a callback that is sticky for any size */
    return (c->direct || tiny) && n >= c->block && !ended;
}

/* A file that has grown behind the end that was met: whole blocks of it are
 * read, nothing more. */
static bool reads_past_end(const struct asf_cios *c, size_t n) {
    return c->flags & ASF_EOF && c->regular && n >= c->block && !c->own && c->ops->get;
}

size_t asf__file_has(struct asf_cios *c, size_t n) {
    struct stat64 st;
    if (c->size < c->offset + (off64_t)n) {
        c->stats.syscalls++;
        c->size = asf__sys.fstat(c->fd, &st) == 0 ? st.st_size : 0;
    }
    off64_t left = c->size - c->offset;
    return left <= 0 ? 0 : left < (off64_t)n ? (size_t)left : n;
}

static int test_cancel(void) {
    pthread_testcancel();
    return 0;
}

/* Moves the file's offset on by this thread's part, all of which the file has: beyond its end
 * the offset is not to be seen.  Returns whether it could: it may be another file's by now. */
static bool move_on(struct asf_cios *c, size_t n) {
    const off64_t to = c->offset + (off64_t)n;
    (void)ASF_CLEANUP(asf__cancelled, c, test_cancel());
    c->stats.syscalls++;
    if (asf__sys.lseek(c->fd, to, SEEK_SET) != to) {
        c->size = 0;
        return false;
    }
    c->offset = to;
    c->deferred = false;
    return true;
}

/* The part before the offset is read with the stream unlocked, and is not cancelled;
 * where the file was cut since its size was asked for the offset comes back. */
static ssize_t read_apart(struct asf_cios *c, char *p, size_t n) {
    const off64_t at = c->offset - (off64_t)n;
    asf__unlock(&c->lk);
    ssize_t r = c->ops->get_at(c, p, n, at);
    asf__lock(&c->lk);
    c->stats.syscalls++;
    c->stats.in += r > 0 ? (uint64_t)r : 0;
    if (r == (ssize_t)n)
        return r;
    off64_t end = at + (r > 0 ? r : 0);
    c->size = 0;
    if (c->offset > end)
        c->offset = asf__sys.lseek(c->fd, end, SEEK_SET);
    return r;
}

ssize_t asf__get(struct asf_cios *c, char *p, size_t n) {
    c->read_ptr = c->read_end = c->read_base;
    c->held = true;
    ssize_t r = c->ops->get(c, p, n);
    c->held = false;
    return r;
}

static ssize_t read_directly(struct asf_cios *c, char *p, size_t n) {
    asf__empty_window(c);
    const bool last = whole_blocks(c, n) == n;
    n = whole_blocks(c, n);
    /* A stream biased to this thread is no other's: one system call does. */
    bool others = !__libc_single_threaded && c->yields && !asf__bias_held(&c->lk);
    bool apart =
        last && n >= PAST_WINDOW && others && c->regular && !c->shared && !c->astray && c->offset >= 0;
    if (apart && c->ops->get_at && asf__file_has(c, n) == n && move_on(c, n))
        return read_apart(c, p, n);
    ssize_t r = asf__get(c, p, n);
    asf__count_run(c);
    if (c->offset >= 0)
        asf__libc_empty_at(c, c->offset);
    c->indent = 0;
    return r;
}

void asf__at_end(struct asf_cios *c) {
    c->read_base = c->read_end;
    asf__catch_up(c);
    asf__forget_place(c);
    c->offset = -1; /* another handle may become the active one now */
}

/* End of file is sticky for what goes through libc's buffer (C99). */
static ssize_t fill_unless_ended(struct asf_cios *c, size_t want) {
    bool buffered = (want < c->block || c->fd < 0) && !c->own && !c->resident;
    if (buffered && c->orientation == 0)
        c->orientation = -1; /* as glibc: by its buffer; whole blocks go past it */
    if (buffered && c->flags & ASF_EOF && c->chosen && !c->follows)
        return 0;
    ssize_t n = asf__fill(c, 1);
    if (n == 0 && buffered)
        asf__at_end(c);
    return n;
}

static size_t take_by_turns(struct asf_cios *c, char *p, size_t n, int *error) {
    size_t done = 0;
    while (*error == 0 && done < n) {
        if (asf__avail(c) > 0) {
            size_t taken = take_window(c, p + done, n - done);
            size_t lost = torn_away(c, taken);
            done += taken - lost;
            if (lost)
                break;
            continue;
        }
        if (c->flags & ASF_IN_BACKUP) {
            asf__free_backup(c);
            continue;
        }
        ssize_t r;
        if (reads_directly(c, n - done) || reads_past_end(c, n - done)) {
            r = read_directly(c, p + done, n - done);
            done += r > 0 ? (size_t)r : 0;
        } else {
            r = fill_unless_ended(c, n - done);
        }
        if (r < 0)
            *error = (int)r;
        if (r <= 0)
            break;
    }
    return done;
}

/* Whether libc reads all of it past its empty buffer, or meets the end there; of
 * callbacks it never does. */
static bool passes_libc_buffer(const struct asf_cios *c, size_t n, size_t missing) {
    return c->fd >= 0 && n >= c->block && (missing == 0 ? whole_blocks(c, n) == n : missing >= c->block);
}

static size_t take(struct asf_cios *c, char *p, size_t n, int *error) {
    bool output = asf__is_putting(c) || c->outlived;
    *error = asf__to_read(c);
    if (*error && c->orientation == 0 && n < c->block)
        c->orientation = -1;
    if (*error)
        return 0;
    off64_t past = asf__libc_direct_end(c, n);
    size_t done = take_by_turns(c, p, n, error);
    asf__libc_read_directly(c, past);
    asf__libc_orient(c);
    c->outlived = output && passes_libc_buffer(c, n, n - done);
    return done;
}

/* Whether whole blocks are wanted of a file where neither libc's buffer nor
 * ours holds anything: both read them past it, with nothing to work out. */
static bool in_step(struct asf_cios *c, size_t n) {
    enum { NOT_SO = ASF_IN_BACKUP | ASF_PUTTING | ASF_NO_READS };
    size_t part = c->block - 1;
    return n >= c->block && asf__avail(c) == 0 && c->regular && c->offset >= 0 && !(c->flags & NOT_SO) &&
           part >= 127 && (n & part) == 0 && (c->block & part) == 0 && reads_directly(c, n) &&
           (__libc_single_threaded || asf__bias_held(&c->lk));
}

size_t asf__take(struct asf_cios *c, char *p, size_t n, int *error) {
    if (!in_step(c, n))
        return take(c, p, n, error);
    ssize_t r = asf__get(c, p, n);
    asf__count_run(c);
    asf__libc_empty_at(c, c->offset);
    *error = r < 0 ? (int)r : 0;
    if (r <= 0 || (size_t)r == n)
        return r > 0 ? n : 0;
    return (size_t)r + take(c, p + r, n - (size_t)r, error);
}

/* The descriptor's offset is at `at` now, and what libc has not yet taken of its
 * buffer is dropped. */
static void give_back(struct asf_cios *c, off64_t at) {
    size_t into = asf__libc_into(c);
    bool begins = c->offset >= 0 && asf__libc_buffer(c).first == asf__read_position(c);
    c->offset = c->fd < 0 ? -1 : at;
    asf__libc_empty_at(c, at);
    c->libc.base -= (off64_t)into;
    if (!begins)
        c->libc.first = c->libc.base;
}

/* As glibc: of pushed-back bytes the offset is set back over these alone, and
 * what was read before them stays to be read. */
static void give_back_pushed(struct asf_cios *c, off64_t at) {
    asf__libc_moved(c, -(off64_t)asf__avail(c));
    c->offset = c->fd < 0 ? -1 : at;
}

int asf__sync_input(struct asf_cios *c) {
    bool backup = c->flags & ASF_IN_BACKUP;
    asf__libc_orient(c);
    if (backup)
        asf__settle_stream(c);
    size_t unread = backup ? asf__avail(c) : asf__unread(c);
    if (unread == 0) {
        int rc = asf__catch_up(c);
        if (rc < 0)
            return rc;
        asf__forget_place(c);
        asf__mark_ahead(c, false);
        return 0;
    }
    off64_t at = c->ops->seek ? c->ops->seek(c, -(off64_t)unread, SEEK_CUR) : -ESPIPE;
    if (at < 0 && at != -ESPIPE)
        return (int)at;
    asf__forget_place(c);
    if (at < 0)
        return 0; /* what was read from a pipe stays with us, as in libc */
    if (backup)
        give_back_pushed(c, at);
    else
        give_back(c, at);
    c->read_end = c->read_ptr;
    asf__mark_ahead(c, false);
    return 0;
}

int asf__flush(struct asf_cios *c) {
    return asf__is_putting(c) ? asf__flush_output(c) : asf__sync_input(c);
}
