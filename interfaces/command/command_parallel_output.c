/* SPDX-License-Identifier: MIT
 *
 * command_parallel_output.c - prints the output of the pieces in order.
 *
 * The first unfinished piece prints to standard output.  The output of later pieces is held in pipes, which
 * splice fills without a copy.  The number of pipes is limited: a run without a pipe waits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_parallel.h"

/* A pipe with output in it. */
struct held {
    int read, write;
    size_t bytes;
    bool full;
    struct held *next;
};

enum { CANCELLED = -1, NOWHERE = -2 };

/* --- moving ---------------------------------------------------------------------------------- */

/* returns  false, with errno, on failure */
static bool write_all(int to, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t written = write(to, bytes, n);
        if (written > 0)
            bytes += written, n -= (size_t)written;
        else if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = to, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR)
            return false;
    }
    return true;
}

/* For terminals and files in append mode, which refuse splice.  Returns what splice returns. */
static ssize_t copy_some(int from, int to, size_t most) {
    char block[64 * KB];
    ssize_t n = read(from, block, most < sizeof block ? most : sizeof block);
    return n <= 0 || write_all(to, block, (size_t)n) ? n : -1;
}

/* Copy available bytes to standard output.  Returns their number, 0 at the end, or -1 with errno. */
static ssize_t print_some(int from, size_t most) {
    for (;;) {
        ssize_t n = splice(from, NULL, STDOUT_FILENO, NULL, most, 0);
        if (n < 0 && errno == EINVAL)
            n = copy_some(from, STDOUT_FILENO, most);
        if (n < 0 && errno == EAGAIN) /* standard output is non-blocking */
            poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
        else if (n >= 0 || errno != EINTR)
            return n;
    }
}

/* --- pipes that hold output --------------------------------------------------------------------- */

static struct held *take_pipe(struct output *o) {
    struct held *h = o->free;
    int ends[2];
    if (h) {
        o->free = h->next;
    } else if (o->made < o->most) {
        asf__make_pipe("parallel", ends);
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); /* if that fails, a smaller pipe does */
        h = malloc(sizeof *h);
        if (!h)
            asf__fail("parallel: malloc: %s; give asf more memory", strerror(errno));
        h->read = ends[0];
        h->write = ends[1];
        o->made++;
    }
    if (h)
        h->next = NULL, h->bytes = 0, h->full = false;
    return h;
}

static struct held *last_held(const struct piece *p) {
    struct held *h = p->held;
    while (h && h->next)
        h = h->next;
    return h;
}

/* returns  NULL: no pipe is free */
static struct held *pipe_with_room(struct output *o, struct piece *p) {
    struct held *last = last_held(p), *h = last;
    if (!last || last->full) {
        h = take_pipe(o);
        if (h && last)
            last->next = h;
        else if (h)
            p->held = h;
    }
    return h;
}

static void give_back(struct output *o, struct held *h) {
    pthread_mutex_lock(&o->lock);
    h->next = o->free;
    o->free = h;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
}

/* Only the thread that prints calls it. */
static bool print_held(struct output *o, struct piece *p) {
    for (struct held *h; (h = p->held);) {
        while (h->bytes > 0) {
            ssize_t n = print_some(h->read, h->bytes);
            if (n <= 0) {
                o->error = errno;
                return false;
            }
            h->bytes -= (size_t)n;
        }
        p->held = h->next;
        give_back(o, h);
    }
    return true;
}

/* --- order ------------------------------------------------------------------------------------------ */

bool asf__output_is_cancelled(struct output *o, const struct piece *p) {
    return p->index > __atomic_load_n(&o->last_good, __ATOMIC_RELAXED);
}

void asf__output_cancel(struct output *o, int64_t last_good) {
    pthread_mutex_lock(&o->lock);
    if (last_good < o->last_good)
        __atomic_store_n(&o->last_good, last_good, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
}

void asf__output_add(struct output *o, struct piece *p) {
    pthread_mutex_lock(&o->lock);
    struct piece **end = &o->first;
    while (*end)
        end = &(*end)->next;
    *end = p;
    pthread_mutex_unlock(&o->lock);
}

/* Make the piece the next to be printed. */
static void move_forward(struct output *o, struct piece *p) {
    struct piece **at = &o->first;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    at = o->busy ? &o->first->next : &o->first;
    p->next = *at;
    *at = p;
}

/* Where the piece's output goes now: standard output, a pipe's descriptor, NOWHERE or CANCELLED. */
static int place_now(struct output *o, struct piece *p) {
    if (asf__output_is_cancelled(o, p))
        return CANCELLED;
    if (o->first == p && !o->busy)
        p->prints = o->busy = true;
    if (p->prints)
        return STDOUT_FILENO;
    struct held *h = pipe_with_room(o, p);
    if (!h && o->unordered && o->first != p) {
        move_forward(o, p);
        return place_now(o, p);
    }
    return h ? h->write : NOWHERE;
}

static int place_for(struct output *o, struct piece *p) {
    int place;
    pthread_mutex_lock(&o->lock);
    while ((place = place_now(o, p)) == NOWHERE)
        pthread_cond_wait(&o->changed, &o->lock);
    pthread_mutex_unlock(&o->lock);
    return place;
}

/* Returns false if printing failed.  `from` has bytes, so a pipe that takes none is full. */
static bool move_some(struct output *o, struct piece *p, int from, int to) {
    if (to == STDOUT_FILENO) {
        if (!print_held(o, p))
            return false;
        ssize_t n = print_some(from, PIPE_SIZE);
        o->error = n < 0 ? errno : o->error;
        return n >= 0;
    }
    struct held *h = last_held(p);
    ssize_t n = splice(from, NULL, to, NULL, PIPE_SIZE, SPLICE_F_NONBLOCK);
    if (n > 0)
        h->bytes += (size_t)n;
    else
        h->full = true;
    return true;
}

/* returns  false: no byte is left */
static bool wait_for_bytes(int from) {
    struct pollfd p = {.fd = from, .events = POLLIN};
    if (asf__bytes_in_pipe(from) < PIPE_SIZE / 4)
        asf__let_move();
    while (poll(&p, 1, -1) < 0)
        continue; /* EINTR */
    return p.revents & POLLIN;
}

/* Skip the header that every run prints; the caller sets `to_skip` for all pieces but the first. */
static bool skip_lines(struct output *o, struct piece *p, int from) {
    char block[4 * KB]; /* fits into an empty pipe */
    while (p->to_skip > 0) {
        ssize_t n = read(from, block, sizeof block);
        const char *at = block, *end = block + n;
        if (n <= 0)
            return true;
        while (p->to_skip > 0 && at < end) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            p->to_skip -= newline != NULL;
            at = newline ? newline + 1 : end;
        }
        int to = at < end ? place_for(o, p) : CANCELLED;
        if (to == CANCELLED)
            continue;
        if (!write_all(to, at, (size_t)(end - at))) {
            o->error = errno;
            return false;
        }
        if (to != STDOUT_FILENO)
            last_held(p)->bytes += (size_t)(end - at);
    }
    return true;
}

bool asf__output_copy(struct output *o, struct piece *p, int from) {
    if (!skip_lines(o, p, from))
        return false;
    while (wait_for_bytes(from)) {
        int to = place_for(o, p);
        if (to == CANCELLED || !move_some(o, p, from, to))
            return false;
    }
    return true;
}

bool asf__output_finish(struct output *o, struct piece *p) {
    bool printed = true;
    pthread_mutex_lock(&o->lock);
    p->finished = true;
    o->busy = o->busy && !p->prints;
    if (o->unordered)
        move_forward(o, p);
    for (struct piece *q;
         printed && !o->busy && (q = o->first) && q->finished && !asf__output_is_cancelled(o, q);) {
        o->busy = true;
        pthread_mutex_unlock(&o->lock);
        printed = print_held(o, q);
        pthread_mutex_lock(&o->lock);
        o->busy = false;
        o->first = q->next;
        free(q);
    }
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    return printed;
}
