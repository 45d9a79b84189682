/* SPDX-License-Identifier: MIT
 *
 * buffer.c - the buffering that most modules share: a current buffer filled
 * by `get` or drained by `put`, and the size it may have.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include "streams/buffer.h"

#include <errno.h>
#include <sys/resource.h>

#include "lib/sys/clock.h"
#include "lib/sys/costs.h"
#include "lib/sys/fault.h"
#include "lib/sys/options.h"
#include "streams/descriptor_calls.h"

/* An output buffer that fills within this time may grow: nobody watching the
 * other end could tell. */
enum { FAST_NS = 1000000, AHEAD = 64 << 10 };

/* --- input -------------------------------------------------------------------- */

/* How far into its buffer the first of `have` unread bytes goes, so that the
 * next ones lie there as they do in the file: the kernel copies a fifth faster
 * between places that are aligned alike. */
static size_t lie(const struct asf_cios *c, size_t have) {
    return c->own && c->regular && c->offset > 0 ? (size_t)(c->offset - (off64_t)have) % ASF_ALIGNMENT : 0;
}

static bool enlarge(struct asf_cios *c, size_t size) {
    size_t front = asf__avail(c);
    struct asf_buffer *b = NULL;
    if (c->in && front > 0 && !(c->flags & ASF_IN_BACKUP))
        b = asf__buffer_enlarge(c->in, size, &c->read_ptr);
    if (b) {
        c->in = b;
        c->read_end = c->read_ptr + front;
    }
    return b != NULL;
}

/* A buffer of `size` bytes at least that no region points into, with the
 * unread bytes (pushed-back ones too) at its front. */
static int make_input_buffer(struct asf_cios *c, size_t size) {
    size_t have = asf__unread(c), front = asf__avail(c), skip = lie(c, have);
    struct asf_buffer *b = c->in, *old = c->in;
    size += c->own ? ASF_ALIGNMENT : 0;
    bool fits = b && !b->refs && b->watch < 0 && b->size >= size && !(c->flags & ASF_IN_BACKUP);
    if (!fits && enlarge(c, size)) {
        b = old = c->in;
    } else if (!fits) {
        b = asf__buffer_first(c, size);
        if (!b)
            return -ENOMEM;
    }
    if (front) /* else there may be no window at all */
        memmove(b->base + skip, c->read_ptr, front);
    if (c->flags & ASF_IN_BACKUP) {
        memmove(b->base + skip + front, c->save_base, have - front);
        asf__free_backup(c);
    }
    if (old && b != old)
        asf__buffer_retire(c, old);
    c->in = b;
    c->buf_base = c->read_base = c->read_ptr = b->base + skip;
    c->read_end = c->read_ptr + have;
    c->buf_end = b->base + b->size;
    return 0;
}

/* The first buffer was not filled: the file ends there. */
static bool has_ended(const struct asf_cios *c) {
    return c->in == &c->first && c->read_end < c->buf_end;
}

/* A stream of the ASI.  A new page takes the kernel as long as 30 KB to copy: a larger buffer, from which
 * they come a tenth faster, is for files in which that is won back. */
static size_t own_ahead(const struct asf_cios *c) {
    enum { SHORT = 1 << 20, LONG = 16 << 20 };
    if (!c->regular || !asf__is_sequential(c) || c->stats.in < SHORT)
        return AHEAD;
    return c->stats.in < LONG ? 2 * AHEAD : 4 * AHEAD;
}

static size_t ahead(const struct asf_cios *c) {
    if (c->own)
        return own_ahead(c);
    bool further = c->regular && !c->shared && !c->loose && !c->astray && asf__is_sequential(c) &&
                   c->block >= 128 && !has_ended(c);
    return further && c->block < AHEAD ? AHEAD : c->block;
}

static size_t get_size(const struct asf_cios *c, size_t have, size_t want) {
    size_t n = c->exactly ? c->exactly : ahead(c);
    if (want > 1 && have < want && want - have > n)
        n = want - have; /* a region asked for: as much as is missing */
    return n;
}

/* Something moved the offset past the stream: libc's buffer would be filled
 * from where it stands now. */
void asf__relearn_offset(struct asf_cios *c) {
    if (c->offset >= 0 || !c->regular)
        return;
    c->offset = asf__sys.lseek(c->fd, 0, SEEK_CUR);
    c->stats.syscalls++;
    asf__libc_empty_at(c, c->offset);
}

/* Nothing is unread and no region points into the buffer: it is used again. */
static inline bool is_free(const struct asf_cios *c, size_t size) {
    const struct asf_buffer *b = c->in;
    return c->read_ptr == c->read_end && b && !b->refs && b->watch < 0 && b->size >= size &&
           !(c->flags & ASF_IN_BACKUP);
}

/* Before it reads: what another thread writes meanwhile may be missing from it. */
static inline void mark_ahead(struct asf_cios *c) {
    if (c->regular && !c->own && c->in->size > c->block)
        asf__mark_ahead(c, true);
}

static ssize_t refill(struct asf_cios *c, size_t n) {
    char *base = c->in->base;
    c->buf_base = c->read_base = c->read_ptr = c->read_end = base;
    c->buf_end = base + c->in->size;
    mark_ahead(c);
    ssize_t r =
        asf__likely(c->ops->get == asf__fd_get) ? asf__fd_get_here(c, base, n) : c->ops->get(c, base, n);
    if (r > 0)
        c->read_end = base + r;
    return r;
}

/* Of a region that is asked for, as much as the file has: no memory is taken for the
 * rest.  A file that says it has nothing, as those of /proc do, may have something. */
static size_t within_file(struct asf_cios *c, size_t want) {
    struct stat64 st;
    if (!c->regular || c->offset < 0 || asf__sys.fstat(c->fd, &st) < 0 || st.st_size == 0)
        return want;
    c->stats.syscalls++;
    size_t rest = st.st_size > c->offset ? (size_t)(st.st_size - c->offset) : 0,
           there = asf__unread(c) + rest;
    return want < there ? want : there;
}

ssize_t asf__buffered_fill(struct asf_cios *c, size_t want) {
    enum { MUCH = 1 << 20 };
    size_t chunk = ahead(c);
    asf__relearn_offset(c);
    if (asf__unlikely(want > MUCH))
        want = within_file(c, want);
    if (!c->in && c->first.resting)
        c->in = asf__buffer_first(c, 0);
    if (asf__likely(want == 1 && is_free(c, chunk)))
        return refill(c, c->exactly ? c->exactly : chunk);
    int rc = make_input_buffer(c, want > chunk ? want : chunk);
    if (rc < 0 && chunk > c->block) /* memory is short: what libc would have */
        rc = make_input_buffer(c, want > c->block ? want : c->block);
    if (rc < 0)
        return rc;
    mark_ahead(c);
    do {
        size_t have = asf__avail(c), n = get_size(c, have, want);
        size_t room = (size_t)(c->buf_end - c->read_end);
        if (n > room)
            n = room;
        ssize_t r = c->ops->get(c, c->read_end, n);
        if (r < 0)
            return have ? (ssize_t)have : r;
        if (r == 0)
            break;
        c->read_end += r;
    } while (asf__avail(c) < want);
    return (ssize_t)asf__avail(c);
}

/* --- output --------------------------------------------------------------------- */

struct twin {
    struct asf_cios *of;
    bool found;
};

/* Another stream writing to the same object: order between the two shows. */
ASF_RACY static bool find_twin(struct asf_cios *other, void *arg) {
    struct twin *t = arg;
    if (other != t->of && other->chosen && !(other->flags & ASF_NO_WRITES) && other->fd >= 0 &&
        other->ino != 0 && other->dev == t->of->dev && other->ino == t->of->ino) {
        t->found = true;
        other->may_grow = false;
    }
    return !t->found;
}

void asf__check_twins(struct asf_cios *c) {
    struct twin t = {.of = c};
    asf__each(find_twin, &t);
    if (t.found) {
        c->may_grow = false;
        asf__settle_output();
    }
}

/* Whether libc's own messages, which pass by every stream (a broken heap,
 * syslog's LOG_PERROR), go to the same file. */
static bool takes_messages(const struct asf_cios *c) {
    struct stat64 errors;
    return c->inherited && c->regular && asf__sys.fstat(2, &errors) == 0 && errors.st_dev == c->dev &&
           errors.st_ino == c->ino;
}

/* Where a write may fail soon it fails when libc's would: no growth on a disk
 * that is nearly full, under a limit on file sizes or in a file of messages. */
static bool roomy(struct asf_cios *c) {
    enum { PLENTY = 64 << 20 };
    struct rlimit limit;
    struct statfs64 fs;
    if (!c->regular || c->roomy)
        return true;
    c->roomy = !takes_messages(c) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
               limit.rlim_cur == RLIM_INFINITY && asf__sys.fstatfs(c->fd, &fs) == 0 &&
               (off64_t)fs.f_bavail * (off64_t)fs.f_bsize >= (off64_t)PLENTY;
    return c->roomy;
}

static void adapt_limit(struct asf_cios *c) {
    size_t cap = asf__options()->buffer / c->block * c->block;
    if (c->own) {
        if (c->regular && c->limit == asf__options()->buffer)
            c->limit = asf__tuned_buffer();
        return;
    }
    if (!c->may_grow || __atomic_load_n(&asf__growth_ended, __ATOMIC_RELAXED) || cap <= c->block) {
        c->limit = c->block;
        asf__mark_grown(c, false);
        return;
    }
    if (!c->grown && !roomy(c)) {
        c->may_grow = false;
        return;
    }
    uint64_t t = (uint64_t)asf__nanoseconds();
    bool fast = c->filled && t - c->filled < FAST_NS;
    c->limit = !fast ? c->block : c->limit * 4 < cap ? c->limit * 4 : cap;
    c->filled = t;
    if (c->limit > c->block)
        asf__last_words(asf__settle_last);
    asf__mark_grown(c, c->limit > c->block);
}

static size_t output_size(const struct asf_cios *c, size_t want) {
    return want > c->limit ? want : c->limit;
}

static struct asf_buffer *new_output_buffer(struct asf_cios *c, size_t want) {
    size_t size = output_size(c, want);
    struct asf_buffer *b = asf__buffer_first(c, size);
    if (!b && c->limit > c->block)
        asf__stop_growing(c);
    if (!b && output_size(c, want) < size)
        b = asf__buffer_first(c, output_size(c, want));
    return b;
}

static void use_buffer(struct asf_cios *c, struct asf_buffer *b) {
    if (c->out)
        asf__buffer_free(c->out);
    c->out = b;
}

static bool is_large_enough(const struct asf_cios *c, size_t want) {
    return c->out && c->out->refs == 0 && c->out->size >= output_size(c, want);
}

static int make_output_buffer(struct asf_cios *c, size_t want) {
    if (is_large_enough(c, want))
        return 0;
    struct asf_buffer *b = new_output_buffer(c, want);
    if (b)
        use_buffer(c, b);
    return b || is_large_enough(c, want) ? 0 : -ENOMEM;
}

/* Regions point into the current buffer: it is written when they are freed. */
void asf__queue_output(struct asf_cios *c) {
    struct asf_buffer **at = &c->queue, *b = c->out;
    while (*at)
        at = &(*at)->next;
    b->from = c->write_base;
    b->to = c->write_ptr;
    b->next = NULL;
    *at = b;
    c->out = NULL;
    c->write_base = c->write_ptr = c->write_end = c->buf_end = NULL;
    c->indent = 0;
}

static int put_full(struct asf_cios *c) {
    uint64_t written = c->written + asf__pending(c), exact = c->exact;
    int rc = asf__flush_output(c);
    if (rc < 0)
        return rc;
    c->written = written;
    c->exact = exact;
    if (asf__pending(c) == 0)
        adapt_limit(c);
    return 0;
}

int asf__buffered_drain(struct asf_cios *c, size_t want) {
    int rc = 0;
    bool full = c->out && asf__pending(c) > 0, apart = c->out && (c->out->refs || c->queue);
    struct asf_buffer *next = NULL;
    if (!c->limit)
        c->limit = c->block;
    /* First of all: when memory is short everything stays as it is. */
    if ((apart || (full && want > c->out->size)) && !(next = new_output_buffer(c, want)))
        return -ENOMEM;
    if (apart)
        asf__queue_output(c);
    else if (full)
        rc = put_full(c);
    if (next && rc == 0)
        use_buffer(c, next);
    else if (next)
        asf__buffer_free(next);
    if (rc == 0)
        rc = make_output_buffer(c, want);
    if (rc < 0)
        return rc;
    c->write_base = c->write_ptr = c->out->base;
    asf__expose(c);
    /* A region longer than the buffer, or than what is left of a block after a seek. */
    if ((size_t)(c->buf_end - c->write_ptr) < want) {
        c->buf_end = c->out->base + want;
        c->write_end = c->orientation > 0 ? c->write_base : c->buf_end;
    }
    return 0;
}
