/* SPDX-License-Identifier: MIT
 *
 * command_parallel_output.c - prints the output of the chunks in order.
 *
 * The first unfinished chunk prints to standard output.  The output of later chunks is held in pipes, which
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
struct held_pipe {
    int read, write;
    size_t bytes;
    bool full;
    struct held_pipe *next;
};

enum { CANCELLED = -1, NO_PIPE = -2 };

/* --- moving ---------------------------------------------------------------------------------- */

/* returns  false, with errno, on failure */
static bool write_fully(int to, const char *bytes, size_t n) {
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
static ssize_t copy_by_read(int from, int to, size_t most) {
    char block[64 * KB];
    ssize_t n = read(from, block, most < sizeof block ? most : sizeof block);
    return n <= 0 || write_fully(to, block, (size_t)n) ? n : -1;
}

/* Copy available bytes to standard output.  Returns their number, 0 at the end, or -1 with errno. */
static ssize_t print_some(int from, size_t most) {
    for (;;) {
        ssize_t n = splice(from, NULL, STDOUT_FILENO, NULL, most, 0);
        if (n < 0 && errno == EINVAL)
            n = copy_by_read(from, STDOUT_FILENO, most);
        if (n < 0 && errno == EAGAIN) /* standard output is non-blocking */
            poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
        else if (n >= 0 || errno != EINTR)
            return n;
    }
}

/* --- pipes that hold output --------------------------------------------------------------------- */

static struct held_pipe *acquire_pipe(struct output *o) {
    struct held_pipe *h = o->free;
    int ends[2];
    if (h) {
        o->free = h->next;
    } else if (o->pipe_count < o->max_pipes) {
        asf__make_pipe("parallel", ends);
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); /* if that fails, the smaller pipe is used */
        h = malloc(sizeof *h);
        if (!h)
            asf__fail("parallel: malloc: %s; give asf more memory", strerror(errno));
        h->read = ends[0];
        h->write = ends[1];
        o->pipe_count++;
    }
    if (h)
        h->next = NULL, h->bytes = 0, h->full = false;
    return h;
}

static struct held_pipe *last_held_pipe(const struct chunk *p) {
    struct held_pipe *h = p->held;
    while (h && h->next)
        h = h->next;
    return h;
}

/* returns  NULL: no pipe is free */
static struct held_pipe *pipe_with_room(struct output *o, struct chunk *p) {
    struct held_pipe *last = last_held_pipe(p), *h = last;
    if (!last || last->full) {
        h = acquire_pipe(o);
        if (h && last)
            last->next = h;
        else if (h)
            p->held = h;
    }
    return h;
}

static void release_pipe(struct output *o, struct held_pipe *h) {
    pthread_mutex_lock(&o->lock);
    h->next = o->free;
    o->free = h;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
}

/* Only the thread that prints calls it. */
static bool print_held(struct output *o, struct chunk *p) {
    for (struct held_pipe *h; (h = p->held);) {
        while (h->bytes > 0) {
            ssize_t n = print_some(h->read, h->bytes);
            if (n <= 0) {
                o->error = errno;
                return false;
            }
            h->bytes -= (size_t)n;
        }
        p->held = h->next;
        release_pipe(o, h);
    }
    return true;
}

/* --- order ------------------------------------------------------------------------------------------ */

bool asf__output_is_cancelled(struct output *o, const struct chunk *p) {
    return p->index > __atomic_load_n(&o->last_good, __ATOMIC_RELAXED);
}

void asf__output_cancel(struct output *o, int64_t last_good) {
    pthread_mutex_lock(&o->lock);
    if (last_good < o->last_good)
        __atomic_store_n(&o->last_good, last_good, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
}

void asf__output_add(struct output *o, struct chunk *p) {
    pthread_mutex_lock(&o->lock);
    struct chunk **end = &o->first;
    while (*end)
        end = &(*end)->next;
    *end = p;
    pthread_mutex_unlock(&o->lock);
}

/* Make the chunk the next to be printed. */
static void make_first(struct output *o, struct chunk *p) {
    struct chunk **at = &o->first;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    at = o->printing ? &o->first->next : &o->first;
    p->next = *at;
    *at = p;
}

/* Where the chunk's output goes now: standard output, a pipe's descriptor, NO_PIPE or CANCELLED. */
static int current_destination(struct output *o, struct chunk *p) {
    if (asf__output_is_cancelled(o, p))
        return CANCELLED;
    if (o->first == p && !o->printing)
        p->is_printing = o->printing = true;
    if (p->is_printing)
        return STDOUT_FILENO;
    struct held_pipe *h = pipe_with_room(o, p);
    if (!h && o->unordered && o->first != p) {
        make_first(o, p);
        return current_destination(o, p);
    }
    return h ? h->write : NO_PIPE;
}

static int wait_for_destination(struct output *o, struct chunk *p) {
    int destination;
    pthread_mutex_lock(&o->lock);
    while ((destination = current_destination(o, p)) == NO_PIPE)
        pthread_cond_wait(&o->changed, &o->lock);
    pthread_mutex_unlock(&o->lock);
    return destination;
}

/* Returns false if printing failed.  `from` has bytes, so a pipe that takes none is full. */
static bool transfer_some(struct output *o, struct chunk *p, int from, int to) {
    if (to == STDOUT_FILENO) {
        if (!print_held(o, p))
            return false;
        ssize_t n = print_some(from, PIPE_SIZE);
        o->error = n < 0 ? errno : o->error;
        return n >= 0;
    }
    struct held_pipe *h = last_held_pipe(p);
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
        asf__sleep_millisecond();
    while (poll(&p, 1, -1) < 0)
        continue; /* EINTR */
    return p.revents & POLLIN;
}

/* Skip the header that every run prints; the caller sets `to_skip` for all chunks but the first. */
static bool skip_lines(struct output *o, struct chunk *p, int from) {
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
        int to = at < end ? wait_for_destination(o, p) : CANCELLED;
        if (to == CANCELLED)
            continue;
        if (!write_fully(to, at, (size_t)(end - at))) {
            o->error = errno;
            return false;
        }
        if (to != STDOUT_FILENO)
            last_held_pipe(p)->bytes += (size_t)(end - at);
    }
    return true;
}

bool asf__output_copy(struct output *o, struct chunk *p, int from) {
    if (!skip_lines(o, p, from))
        return false;
    while (wait_for_bytes(from)) {
        int to = wait_for_destination(o, p);
        if (to == CANCELLED || !transfer_some(o, p, from, to))
            return false;
    }
    return true;
}

bool asf__output_finish(struct output *o, struct chunk *p) {
    bool printed = true;
    pthread_mutex_lock(&o->lock);
    p->finished = true;
    o->printing = o->printing && !p->is_printing;
    if (o->unordered)
        make_first(o, p);
    for (struct chunk *q;
         printed && !o->printing && (q = o->first) && q->finished && !asf__output_is_cancelled(o, q);) {
        o->printing = true;
        pthread_mutex_unlock(&o->lock);
        printed = print_held(o, q);
        pthread_mutex_lock(&o->lock);
        o->printing = false;
        o->first = q->next;
        free(q);
    }
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    return printed;
}
