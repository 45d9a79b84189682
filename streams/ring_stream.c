/* SPDX-License-Identifier: MIT
 *
 * ring_stream.c - one end of a ring as a stream.  A view is a current buffer that is a part of the ring
 * itself: bytes that this reader has claimed, or room that the writer fills and then publishes.  The stream
 * copies regions longer than a view, and output after regions that are not yet freed.
 *
 * The two ends never deadlock.  A writer waits for at most a quarter of the ring.  A reader that waits holds
 * at most a quarter of it; if regions hold more, replace_views copies their bytes and releases the rest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/shm/ring.h"
#include "lib/sys/syscalls.h"
#include "streams/modules.h"

struct ring_stream;

/* A buffer that is a part of the ring. */
struct view {
    struct asf_buffer b;
    struct ring_stream *s;
    struct view *newer;
    uint32_t start; /* reader: the view needs no bytes before this position */
};

struct ring_stream {
    struct asf_ring *r;
    struct asf_cios *c;
    struct ring_stream *next; /* in the list of all ring streams */
    uint32_t from;            /* reader without a view: the position before which all bytes are read */
    struct view *oldest;      /* reader: list of its views, oldest first */
};

/* Returns the usual length of a view.  On two processors short views let both ends work in parallel sooner;
 * on one processor long views need fewer switches. */
static uint32_t view_length(const struct ring_stream *s) {
    return s->r->size / (s->r->alone ? 4 : 16);
}

static struct view *view_of(struct asf_buffer *b) {
    return (struct view *)(void *)b;
}

/* Releases a writer's view, or a reader's view whose bytes were copied. */
static void free_view(struct asf_cios *c, struct asf_buffer *b) {
    (void)c;
    free(b);
}

static struct view *new_view(struct ring_stream *s) {
    struct view *v = calloc(1, sizeof *v);
    if (v) {
        v->b.release = free_view;
        v->s = s;
    }
    return v;
}

/* --- reading ------------------------------------------------------------------------ */

/* Whether the ring can be used.  Otherwise *error is -EBADF in the child of a fork, where only the parent may
 * use it, or -EIO if the ring is corrupt. */
static bool is_usable(const struct ring_stream *s, int *error) {
    if (asf__likely(s->r->control && !asf__ring_corrupt(s->r)))
        return true;
    *error = s->r->control ? -EIO : -EBADF;
    return false;
}

static void release_read(const struct ring_stream *s) {
    asf__ring_release(s->r, s->oldest ? s->oldest->start : s->from);
}

static void unlink_view(struct view *v) {
    struct view **at = &v->s->oldest;
    while (*at && *at != v)
        at = &(*at)->newer;
    if (*at)
        *at = v->newer;
    v->newer = NULL;
}

static void link_view(struct view *v) {
    struct view **at = &v->s->oldest;
    while (*at)
        at = &(*at)->newer;
    *at = v;
}

/* Releases a reader's view after its last region was freed. */
static void release_view(struct asf_cios *c, struct asf_buffer *b) {
    struct ring_stream *s = view_of(b)->s;
    unlink_view(view_of(b));
    if (s->r->control)
        release_read(s);
    free_view(c, b);
}

static bool is_view(const struct asf_buffer *b) {
    return b && b->release == release_view;
}

static void copy_views(void *arg, char *copy) {
    const struct ring_stream *s = arg;
    for (const struct view *v = s->oldest; v; v = v->newer)
        memcpy(copy + (v->b.base - s->r->data), v->b.base, v->b.size);
}

/* Replaces the views by copies at the same addresses, so that regions not yet freed do not stop the writer.
 */
static int replace_views(struct ring_stream *s) {
    int rc = asf__ring_remap(s->r, copy_views, s);
    if (rc < 0)
        return rc;
    for (struct view *v = s->oldest, *next; v; v = next) {
        next = v->newer;
        v->b.release = free_view;
        v->newer = NULL;
    }
    s->oldest = NULL;
    s->from = s->r->at;
    release_read(s);
    return 0;
}

static uint32_t bytes_kept(const struct ring_stream *s) {
    return ((s->r->at - (s->oldest ? s->oldest->start : s->from)) & ASF_RING_MASK);
}

/* Waits until the ring has `need` bytes, and returns how many it has.  If fewer, the writer has closed
 * (*error is 0), or it died or the wait was interrupted (*error is negative). */
static uint32_t await_bytes(struct ring_stream *s, uint32_t need, int *error) {
    uint32_t n = asf__ring_avail(s->r, asf__ring_state(s->r));
    *error = 0;
    if (asf__likely(n >= need))
        return n;
    if (!asf__ring_spin(s->r, need))
        *error = asf__ring_wait(s->r, need);
    n = asf__ring_avail(s->r, asf__ring_state(s->r));
    return is_usable(s, error) ? n : 0;
}

static ssize_t ring_get(struct asf_cios *c, void *buf, size_t n) {
    struct ring_stream *s = c->data;
    int error;
    if (!is_usable(s, &error))
        return error;
    if (bytes_kept(s) > s->r->size / 4 && asf__ring_avail(s->r, asf__ring_state(s->r)) == 0 &&
        (error = replace_views(s)) < 0)
        return error;
    uint32_t there = await_bytes(s, 1, &error);
    if (there == 0)
        return error;
    if (n > there)
        n = there;
    memcpy(buf, asf__ring_at(s->r, s->r->at), n);
    asf__ring_claim(s->r, (uint32_t)n);
    s->from = s->r->at;
    if (is_view(c->buffer) && c->buffer->refs == 0 && asf__avail(c) == 0)
        view_of(c->buffer)->start = s->r->at;
    release_read(s);
    c->stats.in += n;
    return is_usable(s, &error) ? (ssize_t)n : error;
}

/* Returns the view for the next read window: the current one, or a new one if regions point into it. */
static struct view *next_view(struct asf_cios *c) {
    struct ring_stream *s = c->data;
    if (is_view(c->buffer) && c->buffer->refs == 0)
        return view_of(c->buffer);
    struct view *v = new_view(s);
    if (!v)
        return NULL;
    v->b.release = release_view;
    v->start = s->from;
    link_view(v);
    if (is_view(c->buffer))
        c->buffer->size -= asf__avail(c); /* the new view contains the unread bytes */
    return v;
}

/* Releases the bytes before position `from`, which are read, unless a region points to them. */
static void finish_read_part(struct asf_cios *c, uint32_t from) {
    struct ring_stream *s = c->data;
    s->from = from;
    if (is_view(c->buffer) && c->buffer->refs == 0)
        view_of(c->buffer)->start = from;
    release_read(s);
}

static ssize_t ring_fill(struct asf_cios *c, size_t want) {
    struct ring_stream *s = c->data;
    size_t have = asf__avail(c);
    int error;
    if (!is_usable(s, &error))
        return error;
    if (want > s->r->size / 2 || (have > 0 && !is_view(c->buffer)))
        return asf__fill_buffer(c, want);
    uint32_t from = s->r->at - (uint32_t)have, need = (uint32_t)(want - have), most = view_length(s);
    finish_read_part(c, from);
    if (bytes_kept(s) > s->r->size / 4 + have && asf__ring_avail(s->r, asf__ring_state(s->r)) < need) {
        error = replace_views(s);
        return error < 0 ? error : asf__fill_buffer(c, want);
    }
    uint32_t there = await_bytes(s, need, &error);
    if (there == 0 || (there < need && error == -EINTR))
        return have > 0 && error != -EINTR ? (ssize_t)have : error;
    struct view *v = next_view(c);
    if (!v)
        return -ENOMEM;
    uint32_t n = there < need ? there : need > most ? need : there < most ? there : most;
    asf__ring_claim(s->r, n);
    c->stats.in += n;
    v->b.base = asf__ring_at(s->r, from);
    v->b.size = have + n;
    asf__use_buffer(c, &v->b);
    asf__set_read(c, v->b.base, v->b.base, v->b.base + have + n);
    return (ssize_t)asf__avail(c);
}

/* --- writing ------------------------------------------------------------------------- */

static int raise_sigpipe(void) {
    asf__raw_syscall(SYS_tgkill, getpid(), gettid(), SIGPIPE, 0);
    return -EPIPE;
}

static bool has_reader(struct asf_ring *r) {
    return !(asf__ring_state(r) & ASF_RING_CLOSED(ASF_RING_READER)) && asf__ring_alive(r);
}

static bool is_at_tail(const struct ring_stream *s, const char *p) {
    uint32_t size = s->r->size;
    return p >= s->r->data && p < s->r->data + 2 * (size_t)size &&
           (((size_t)(p - s->r->data) ^ s->r->at) & (size - 1)) == 0;
}

/* Makes the window begin after the n bytes just published, which end at `end` in the caller's memory. */
static void advance_window(struct asf_cios *c, uint32_t n, const char *end) {
    const struct ring_stream *s = c->data;
    struct asf_buffer *b = c->buffer;
    if (b && b->release && b->refs == 0 && !c->queue) {
        bool within = end >= b->base && end <= b->base + b->size;
        b->size = within ? (size_t)(b->base + b->size - end) : b->size < n ? 0 : b->size - n;
        b->base = asf__ring_at(s->r, s->r->at);
    }
    c->stats.out += n;
}

static ssize_t ring_put(struct asf_cios *c, const void *buf, size_t n) {
    struct ring_stream *s = c->data;
    int rc;
    if (!is_usable(s, &rc))
        return rc;
    if (!has_reader(s->r))
        return raise_sigpipe();
    if (!is_at_tail(s, buf)) {
        uint32_t need = n < s->r->size / 4 ? (uint32_t)n : s->r->size / 4;
        rc = asf__ring_wait(s->r, need);
        if (rc < 0)
            return rc == -EPIPE ? raise_sigpipe() : rc;
        uint32_t room = asf__ring_room(s->r, asf__ring_state(s->r));
        if (n > room)
            n = room;
        /* memmove: after an abandoned region `buf` may overlap the ring */
        memmove(asf__ring_at(s->r, s->r->at), buf, n);
    }
    if (!is_usable(s, &rc))
        return rc;
    asf__ring_publish(s->r, (uint32_t)n);
    advance_window(c, (uint32_t)n, (const char *)buf + n);
    return (ssize_t)n;
}

/* Whether the current buffer must be queued before it is replaced: regions point into it, or earlier output
 * is queued. */
static bool in_use(const struct asf_cios *c) {
    return c->buffer && (c->buffer->refs || c->queue);
}

/* Returns the unpublished output bytes in the ring, which wait for regions to be freed; -1 if some of that
 * output is in memory outside the ring. */
static int64_t waiting_bytes(const struct asf_cios *c) {
    int64_t n = in_use(c) ? (int64_t)asf__pending(c) : 0;
    if (n > 0 && !c->buffer->release)
        return -1;
    for (const struct asf_buffer *b = c->queue; b; b = b->next) {
        if (!b->release)
            return -1;
        n += b->to - b->from;
    }
    return n;
}

/* Waits for room for a window that begins after `ahead` unpublished bytes.  Spins until an eighth of the ring
 * is free, but sleeps only until `want` bytes are. */
static int await_room(struct ring_stream *s, uint32_t ahead, uint32_t want, uint32_t *room) {
    uint32_t good = s->r->size / 8 > want ? s->r->size / 8 : want;
    *room = asf__ring_room(s->r, asf__ring_state(s->r));
    *room = *room > ahead ? *room - ahead : 0;
    if (ahead > 0 || *room >= good)
        return 0;
    int rc = asf__ring_spin(s->r, good) ? 0 : asf__ring_wait(s->r, want);
    *room = asf__ring_room(s->r, asf__ring_state(s->r));
    return is_usable(s, &rc) && rc == -EPIPE ? raise_sigpipe() : rc;
}

/* Makes b the current output buffer.  Returns -ENOMEM, and changes nothing, if b is NULL because the caller's
 * allocation failed. */
static int use_output_buffer(struct asf_cios *c, struct asf_buffer *b) {
    if (!b)
        return -ENOMEM;
    if (in_use(c)) {
        c->buffer->size = (size_t)(c->write_ptr - c->buffer->base); /* the next view begins there */
        asf__queue_output(c);
    }
    asf__use_buffer(c, b);
    asf__show_room(c);
    return 0;
}

static struct asf_buffer *output_view(struct asf_cios *c, uint32_t at, uint32_t n) {
    struct ring_stream *s = c->data;
    bool again = c->buffer && c->buffer->release && !in_use(c);
    struct view *v = again ? view_of(c->buffer) : new_view(s);
    if (!v)
        return NULL;
    v->b.base = asf__ring_at(s->r, at);
    v->b.size = n;
    return &v->b;
}

static int ring_drain(struct asf_cios *c, size_t want) {
    struct ring_stream *s = c->data;
    int rc = 0;
    if (!is_usable(s, &rc))
        return rc;
    uint32_t room = 0, most = s->r->size / 4;
    if (!in_use(c) && asf__pending(c) > 0)
        rc = asf__flush_output(c);
    int64_t ahead = waiting_bytes(c);
    if (rc == 0 && ahead >= 0 && want <= most)
        rc = await_room(s, (uint32_t)ahead, (uint32_t)want, &room);
    if (rc < 0)
        return rc;
    if (room < want)
        return use_output_buffer(c, asf__buffer_new(want > most ? want : most));
    uint32_t n = want > view_length(s) ? (uint32_t)want : view_length(s);
    return use_output_buffer(c, output_view(c, s->r->at + (uint32_t)ahead, room < n ? room : n));
}

/* --- forks ----------------------------------------------------------------------------
 *
 *   The child does not own its parent's rings but shares their memory: with an inherited window it would
 *   overwrite the parent's output.  So the child empties all windows.  Then its next call reaches the module,
 *   which returns -EBADF. */

static struct ring_stream *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) {
    pthread_mutex_lock(&all_lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&all_lock);
}

static void close_windows(struct asf_cios *c) {
    c->read_end = c->read_ptr;
    c->write_end = c->write_ptr;
    c->buf_end = asf__is_putting(c) ? c->write_ptr : c->read_ptr;
}

static void in_child(void) {
    for (struct ring_stream *s = all; s; s = s->next)
        close_windows(s->c);
    pthread_mutex_unlock(&all_lock);
}

/* The C library's pthread_atfork passes the calling object's handle, so that dlclose removes the handlers.
 * This library is never unloaded, and passes none. */
extern int __register_atfork(void (*before)(void), void (*after)(void), void (*child)(void), void *object);

static void register_fork_handlers(void) {
    __register_atfork(before_fork, after_fork, in_child, NULL);
}

static void add_to_list(struct ring_stream *s) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_handlers);
    pthread_mutex_lock(&all_lock);
    s->next = all;
    all = s;
    pthread_mutex_unlock(&all_lock);
}

static void remove_from_list(struct ring_stream *s) {
    pthread_mutex_lock(&all_lock);
    struct ring_stream **at = &all;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    pthread_mutex_unlock(&all_lock);
}

static int ring_close(struct asf_cios *c) {
    struct ring_stream *s = c->data;
    remove_from_list(s);
    for (struct view *v = s->oldest; v; v = v->newer)
        v->b.release = free_view;
    int rc = asf__ring_detach(s->r);
    free(s);
    return rc;
}

static const struct asf_module shm_ring = {
    .name = "ring",
    .get = ring_get,
    .put = ring_put,
    .close = ring_close,
    .fill = ring_fill,
    .drain = ring_drain,
};

struct asf_cios *asf__open_ring(struct asf_ring *r) {
    struct ring_stream *s = calloc(1, sizeof *s);
    struct asf_cios *c =
        s ? asf__cios_new(&shm_ring, -1, r->end == ASF_RING_READER ? O_RDONLY : O_WRONLY) : NULL;
    if (!c) {
        free(s);
        return NULL;
    }
    s->r = r;
    s->c = c;
    c->data = s;
    add_to_list(s);
    c->why = "a ring in shared memory";
    c->kind = ASF_MEMORY;
    c->block = BUFSIZ;
    return c;
}
