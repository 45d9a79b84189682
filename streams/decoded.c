/* SPDX-License-Identifier: MIT
 *
 * decoded.c - a stream of the decoded bytes of another stream.
 *
 * The program's thread and a worker share a ring of input regions and a ring of decoded blocks.  The
 * program's thread reads the stream below and takes decoded blocks.  It also decodes the first 256 KB; then a
 * worker thread is started to decode.  The worker waits only for the program's thread and never reads, so
 * signals, cancellation and read errors reach the program's thread.  A decoded block becomes the stream's
 * current buffer without a copy.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backplane/regions.h"
#include "lib/sys/cleanup.h"
#include "lib/sys/syscalls.h"
#include "streams/decode.h"

/* Bytes and counts.  All blocks and regions together fit into the second-level cache. */
enum { BLOCK = 256 << 10, REGION = 64 << 10, BLOCKS = 4, REGIONS = 8, SPARE_BLOCKS = 3 };

struct decoded {
    const struct asf_decoder *decoder;
    void *state;
    struct asf_cios *below;
    bool owned; /* closing this stream closes `below`, which does not share the descriptor */

    pthread_mutex_t lock;          /* guards the members below; rank: after the streams' locks */
    pthread_cond_t to_do, is_done; /* the worker waits for to_do, the program's thread for is_done */
    struct {
        char *p;        /* the region, from salloc */
        size_t n, used; /* the length of the region, and how much of it is decoded */
    } in[REGIONS];
    unsigned in_added, in_decoded,
        in_freed; /* counts of regions; count modulo REGIONS is a region's index in `in` */
    bool ended_below;
    struct asf_buffer *out[BLOCKS]; /* blocks for the program; their bytes are from..to */
    unsigned out_ready, out_taken;
    struct asf_buffer *current; /* the block that is being filled */
    struct asf_buffer *spare;
    int spares;
    bool busy;    /* decoding, with the lock released */
    bool pending; /* the decoder filled the room it had, and may have more to give */
    bool ended;
    int failed; /* an error to report after the blocks: -errno */

    bool started, never; /* a worker was started; none can be started */
    bool stop;           /* tells the worker to end */
    pthread_t worker;
    int failed_below; /* an error of reading below, to report after the blocks: -errno */
    pid_t process;
    struct asf_buffer *rest; /* a block that is copied out in parts: from..to has not been copied */
};

/* --- blocks -------------------------------------------------------------------------------- */

extern const struct asf_module asf__decoded;

static pid_t this_process(void) {
    return (pid_t)asf__raw_syscall(SYS_getpid, 0, 0, 0, 0);
}

/* Whether this process is a child of a fork, in which the worker does not exist. */
static bool is_orphan(const struct decoded *d) {
    return d->started && d->process != this_process();
}

/* Frees a block, or keeps it as a spare.  The block may outlive the module. */
static void release_block(struct asf_cios *c, struct asf_buffer *b) {
    struct decoded *d = c->ops == &asf__decoded ? c->data : NULL;
    if (d && !is_orphan(d)) {
        pthread_mutex_lock(&d->lock);
        if (d->spares < SPARE_BLOCKS) {
            b->next = d->spare;
            d->spare = b;
            d->spares++;
            b = NULL;
        }
        pthread_mutex_unlock(&d->lock);
    }
    free(b);
}

static struct asf_buffer *empty_block(struct decoded *d) {
    struct asf_buffer *b = d->spare;
    if (b) {
        d->spare = b->next;
        d->spares--;
    } else if ((b = asf__buffer_new(BLOCK))) {
        b->release = release_block;
    }
    if (b)
        b->from = b->to = b->base;
    return b;
}

static void show_block(struct decoded *d) {
    if (d->current && d->current->to > d->current->base) {
        d->out[d->out_ready++ % BLOCKS] = d->current;
        d->current = NULL;
    }
}

/* --- decoding, by the worker or the program's thread --------------------------------------------- */

static bool has_input(const struct decoded *d) {
    return d->in_decoded != d->in_added;
}

static bool can_decode(const struct decoded *d) {
    return !d->failed && !d->ended && d->out_ready - d->out_taken < BLOCKS &&
           (has_input(d) || d->pending || d->ended_below);
}

/* Sets `pending` and `ended` after a call of the decoder.  was, now: the call's arguments before and
 * after it.  Returns 0 or an error. */
static int judge(struct decoded *d, const struct asf_decoding *now, const struct asf_decoding *was, int rc) {
    d->pending = now->out_size == 0;
    if (rc < 0)
        return rc;
    if (was->last && !d->pending) {
        d->ended = rc > 0;
        return rc > 0 ? 0 : -EIO; /* the input ends within a frame */
    }
    bool stuck = was->in_size > 0 && now->in_size == was->in_size && now->out_size == was->out_size;
    return stuck ? -EBADMSG : 0;
}

/* Calls the decoder once.  Lock: held, and released meanwhile. */
static void decode_once(struct decoded *d) {
    unsigned i = d->in_decoded % REGIONS;
    if (!d->current && !(d->current = empty_block(d))) {
        d->failed = -ENOMEM;
        return;
    }
    const struct asf_buffer *b = d->current;
    struct asf_decoding was = {.in = "", .out = b->to, .out_size = (size_t)(b->base + b->size - b->to)};
    if (has_input(d)) {
        was.in = d->in[i].p + d->in[i].used;
        was.in_size = d->in[i].n - d->in[i].used;
    }
    was.last = was.in_size == 0 && d->ended_below;
    struct asf_decoding now = was;
    d->busy = true;
    pthread_mutex_unlock(&d->lock);
    int rc = d->decoder->decode(d->state, &now);
    pthread_mutex_lock(&d->lock);
    d->busy = false;
    d->current->to = now.out;
    if (was.in_size > 0) {
        d->in[i].used += was.in_size - now.in_size;
        d->in_decoded += now.in_size == 0;
    }
    d->failed = judge(d, &now, &was, rc);
    /* Pass on a block that is not full if no further input is at hand to fill it. */
    if (d->failed || d->ended || d->pending || !has_input(d))
        show_block(d);
}

static void *run_worker(void *arg) {
    struct decoded *d = arg;
    pthread_mutex_lock(&d->lock);
    while (!d->stop) {
        if (can_decode(d))
            decode_once(d);
        else
            pthread_cond_wait(&d->to_do, &d->lock);
        if (!can_decode(d) || d->out_ready != d->out_taken)
            pthread_cond_signal(&d->is_done);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* Creates the worker.  If that fails, or there is one processor, the program's thread continues to
 * decode. */
static void start_worker(struct decoded *d) {
    uint64_t mask = asf__hold_signals();
    d->never = asf__processors() == 1 || pthread_create(&d->worker, NULL, run_worker, d) != 0;
    d->started = !d->never;
    asf__release_signals(mask);
}

/* --- calls of the program's thread ----------------------------------------------------------- */

static ssize_t region_of(struct asf_cios *below, char **p) {
    ssize_t n = REGION;
    asf__begin_call(below);
    size_t there = asf__avail(below);
    if (there > 0 && there < (size_t)n)
        n = (ssize_t)there;
    *p = asf__u_salloc(below, &n, true);
    asf__end_call(below);
    return n;
}

static bool is_readable(const struct asf_cios *c) {
    struct pollfd ready = {.fd = c->fd, .events = POLLIN};
    const struct timespec now = {0, 0};
    return c->fd >= 0 && asf__raw_syscall(SYS_ppoll, (long)&ready, 1, (long)&now, 0) > 0;
}

/* Whether to read the stream below now.  Without a worker, only if no decoded bytes and no input are
 * left.  With a worker also if the stream below is a regular file, as far ahead as there is room, or if a
 * read would not wait. */
static bool may_read(struct decoded *d) {
    if (d->ended_below || d->failed_below || d->failed || d->in_added - d->in_freed == REGIONS)
        return false;
    bool idle = !has_input(d) && !d->busy && !d->pending && d->out_ready == d->out_taken;
    if (!d->started || idle)
        return idle;
    return d->below->kind == ASF_REGULAR || asf__avail(d->below) > 0 || is_readable(d->below);
}

/* Frees the input regions that are decoded.  If the file was truncated under one, the stream fails after
 * the bytes decoded so far. */
static void free_regions(struct decoded *d) {
    for (; d->in_freed != d->in_decoded; d->in_freed++) {
        asf__lock(&d->below->lk);
        int rc = asf__u_sfree(d->below, d->in[d->in_freed % REGIONS].p);
        asf__unlock(&d->below->lk);
        if (rc == -EIO && !d->failed)
            d->failed = rc;
    }
}

/* Reads a region of the stream below.  Lock: held, and released meanwhile; the thread may be cancelled
 * then. */
static void read_on(struct asf_cios *c, struct decoded *d) {
    char *p = NULL;
    pthread_mutex_unlock(&d->lock);
    ssize_t n = asf__likely(__libc_single_threaded) ? region_of(d->below, &p)
                                                    : ASF_CLEANUP(asf__cancelled, c, region_of(d->below, &p));
    pthread_mutex_lock(&d->lock);
    if (n > 0) {
        d->in[d->in_added % REGIONS].p = p;
        d->in[d->in_added % REGIONS].n = (size_t)n;
        d->in[d->in_added++ % REGIONS].used = 0;
    } else if (n == 0) {
        d->ended_below = true;
    } else {
        d->failed_below = (int)n;
    }
}

/* Waits for the worker.  This is not a cancellation point. */
static void wait_for_worker(struct decoded *d) {
    int before = asf__forbid_cancellation();
    pthread_cond_signal(&d->to_do);
    pthread_cond_wait(&d->is_done, &d->lock);
    asf__permit_cancellation(before);
}

/* Takes the next decoded block.  Returns its length, 0 at the end, or an error.  Lock: held. */
static ssize_t take_block(struct asf_cios *c, struct decoded *d, struct asf_buffer **b) {
    for (;;) {
        free_regions(d);
        while (may_read(d))
            read_on(c, d);
        if (d->out_ready != d->out_taken) {
            *b = d->out[d->out_taken++ % BLOCKS];
            if (d->started)
                pthread_cond_signal(&d->to_do);
            return (*b)->to - (*b)->from;
        }
        if (d->failed || d->ended)
            return d->failed;
        if (!d->busy && !can_decode(d)) { /* the error is returned once: the program may retry */
            int rc = d->failed_below;
            d->failed_below = 0;
            return rc;
        }
        if (!d->started && !d->never && c->stats.in >= BLOCK)
            start_worker(d);
        if (d->started)
            wait_for_worker(d);
        else
            decode_once(d);
    }
}

/* Adapts the state in the child of a fork, which has everything but the worker.  Without a worker the
 * child continues to decode, and releases the lock of the stream below, which a thread of its parent may
 * have held. */
static int follow_fork(struct decoded *d) {
    pid_t now = this_process();
    if (d->process == now)
        return 0;
    if (d->started)
        return -ECANCELED;
    d->process = now;
    asf__lock_inherit(&d->below->lk, false);
    return 0;
}

/* Makes `rest` the next decoded block, unless one is left.  Returns its unread bytes; 0 at the end; or an
 * error. */
static ssize_t next_rest(struct asf_cios *c, struct decoded *d) {
    if (d->rest)
        return d->rest->to - d->rest->from;
    int rc = follow_fork(d);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&d->lock);
    ssize_t n = take_block(c, d, &d->rest);
    pthread_mutex_unlock(&d->lock);
    if (n > 0)
        c->stats.in += (uint64_t)n;
    c->stats.syscalls = d->below->stats.syscalls;
    return n;
}

/* --- the module ---------------------------------------------------------------------------- */

static ssize_t decoded_get(struct asf_cios *c, void *buf, size_t n) {
    struct decoded *d = c->data;
    ssize_t there = next_rest(c, d);
    if (there <= 0)
        return there;
    struct asf_buffer *b = d->rest;
    n = n < (size_t)there ? n : (size_t)there;
    memcpy(buf, b->from, n);
    b->from += n;
    if (b->from == b->to) {
        d->rest = NULL;
        release_block(c, b);
    }
    return (ssize_t)n;
}

/* Fills by a decoded block in place.  If a region spans two blocks, asf__fill_buffer copies both parts
 * into a buffer. */
static ssize_t decoded_fill(struct asf_cios *c, size_t want) {
    struct decoded *d = c->data;
    if (asf__avail(c) > 0)
        return asf__fill_buffer(c, want);
    ssize_t there = next_rest(c, d);
    if (there <= 0)
        return there;
    if ((size_t)there < want)
        return asf__fill_buffer(c, want);
    struct asf_buffer *b = d->rest;
    d->rest = NULL;
    asf__use_buffer(c, b);
    asf__set_read(c, b->from, b->from, b->to);
    return there;
}

static void stop_worker(struct decoded *d) {
    int before = asf__forbid_cancellation();
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_signal(&d->to_do);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->worker, NULL);
    asf__permit_cancellation(before);
}

static void free_blocks(struct decoded *d) {
    while (d->out_taken != d->out_ready)
        free(d->out[d->out_taken++ % BLOCKS]);
    for (struct asf_buffer *b = d->spare, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(d->current);
    free(d->rest);
}

static int close_below(struct decoded *d) {
    d->in_decoded = d->in_added;
    free_regions(d);
    int rc = 0;
    if (d->owned)
        asf__cios_close(d->below, &rc);
    asf__cios_free(d->below);
    return rc;
}

static int end_decoding(struct decoded *d) {
    /* In the child of a fork the worker does not exist.  The fork may have interrupted it anywhere, so
     * its memory is not freed. */
    if (is_orphan(d))
        return d->owned && d->below->fd >= 0 ? asf__close(d->below->fd) : 0;
    if (d->started)
        stop_worker(d);
    int rc = close_below(d);
    d->decoder->end(d->state);
    free_blocks(d);
    free(d);
    return rc;
}

static int decoded_close(struct asf_cios *c) {
    int rc = end_decoding(c->data), closed = asf__fd_close(c);
    c->data = NULL;
    return rc < 0 ? rc : closed;
}

const struct asf_module asf__decoded = {
    .name = "decoded", .get = decoded_get, .fill = decoded_fill, .close = decoded_close};

int asf__stack_decoder(struct asf_cios *c, const struct asf_decoder *decoder, struct asf_cios *below) {
    enum { BUFFER = 64 << 10 };
    struct decoded *d = calloc(1, sizeof *d);
    if (!d || !(d->state = decoder->begin())) {
        free(d);
        return -ENOMEM;
    }
    d->decoder = decoder;
    d->below = below;
    d->owned = c->fd < 0;
    d->process = this_process();
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->to_do, NULL);
    pthread_cond_init(&d->is_done, NULL);
    below->flags2 |= c->flags2 & ASF_NOT_CANCELLED;
    asf__look_below(below);
    c->ops = &asf__decoded;
    c->data = d;
    c->kind = ASF_PIPE;
    c->offset = c->place = -1;
    c->block = BUFFER;
    return 0;
}

struct asf_cios *asf__open_decoded(const struct asf_decoder *decoder, struct asf_cios *below) {
    struct asf_cios *c = asf__cios_new(&asf__decoded, -1, O_RDONLY);
    if (!c)
        return NULL;
    c->flags &= ~ASF_FILEBUF;
    c->orientation = -1;
    c->why = decoder->name;
    if (asf__stack_decoder(c, decoder, below) == 0)
        return c;
    asf__cios_free(c);
    return NULL;
}
