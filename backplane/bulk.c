/* SPDX-License-Identifier: MIT
 *
 * bulk.c - bulk streams: when a stream becomes bulk, its large buffer, and the cut.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/sys/cleanup.h"
#include "lib/sys/syscalls.h"

#ifndef ASF_BULK_AFTER
#define ASF_BULK_AFTER 64 /* whole blocks in a row; tests set fewer */
#endif

enum {
    LEAST = 4096,       /* smaller blocks count as fractions of one, so that a run has at least 256 KB */
    SLOW = 50,          /* milliseconds: a run that takes longer does not make the stream bulk */
    MEMORY = 128 << 10, /* five commands wrote files 1.17 times as fast with 64 KB, 1.26 with 128 KB */
    BUFFERS = 4,
};

unsigned asf__bulk_streams;

/* The large buffers: static, so that their memory costs nothing before first use, and taking one needs no
 * system call.  A stream that finds all of them in use does not become bulk. */
static char memory[BUFFERS][MEMORY] __attribute__((aligned(4096)));
static struct large {
    struct asf_buffer buffer;
    bool used;
    struct asf_cios *stream; /* the bulk stream, or NULL; the members below describe that stream */
    int fd;
    bool is_output;
    dev_t device;
    ino_t inode;
} larges[BUFFERS];
static struct asf_lock larges_lock = {
    .biasable = false}; /* rank: after a stream's; its holder only tries streams' locks */

/* The coarse clock costs 5 ns. */
static int64_t milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* --- forks without a handler ---------------------------------------------------------- */

/* *process: a number that differs from the parent process's; not the process id.  The kernel zeroes it in a
 * child (MADV_WIPEONFORK), and the child takes the next number.  last_process: the number given last. */
static unsigned last_process = 1, *process = &last_process;

void asf__bulk_start(void) {
    static char pages[2 * ASF_PAGE_MOST];
    char *page = pages + (-(uintptr_t)pages & (asf__page() - 1));
    if (asf__raw_syscall(SYS_madvise, (long)page, (long)asf__page(), MADV_WIPEONFORK, 0) == 0)
        process = (unsigned *)(void *)page;
    *process = last_process;
}

void asf__bulk_in_child(void) {
    asf__lock_reset(&larges_lock);
    *process = ++last_process;
}

/* In a child made by _Fork or clone: drops the output that the parent's own buffer would have put before
 * the fork.  The parent puts it. */
static void drop_parents_output(struct asf_cios *c) {
    if (asf__likely(c->bulk.process == *process))
        return;
    if (*process == 0)
        *process = ++last_process;
    c->bulk.process = *process;
    c->write_base = c->write_end - c->block;
    asf__set_read(c, c->write_base, c->write_base, c->write_base);
    c->offset = -1;
}

/* --- the large buffer ------------------------------------------------------------------- */

static void free_large(struct asf_cios *c, struct asf_buffer *b) {
    (void)c;
    asf__lock(&larges_lock);
    ((struct large *)(void *)b)->used = false;
    asf__unlock(&larges_lock);
}

static struct asf_buffer *find_large(struct asf_cios *c) {
    struct large *l = larges;
    asf__lock(&larges_lock);
    while (l < larges + BUFFERS && l->used)
        l++;
    if (l == larges + BUFFERS) {
        asf__unlock(&larges_lock);
        return NULL;
    }
    l->buffer = (struct asf_buffer){.base = memory[l - larges],
                                    .size = MEMORY,
                                    .whole = MEMORY,
                                    .release = free_large,
                                    .is_static = true};
    l->used = true;
    l->stream = c;
    l->fd = c->fd;
    l->is_output = asf__is_putting(c);
    l->device = c->device;
    l->inode = c->inode;
    __atomic_fetch_add(&asf__bulk_streams, 1, __ATOMIC_RELAXED);
    asf__unlock(&larges_lock);
    return &l->buffer;
}

/* Empties the large buffer for the next blocks.  Each put ends at a multiple of MEMORY: in a file written
 * from its beginning, the page cache then takes the next put as one large folio; unaligned puts cost 1.2
 * times as much. */
static void begin_large(struct asf_cios *c) {
    size_t n = asf__is_putting(c) ? MEMORY - c->stats.out % MEMORY : MEMORY;
    n = (n >= 2 * c->block ? n : MEMORY) / c->block * c->block;
    c->buffer->size = n;
    c->buf_base = c->buffer->base;
    c->buf_end = c->buf_base + n;
    asf__empty_windows(c);
    c->bulk.seen = c->bulk.passed = NULL;
    if (asf__is_putting(c)) {
        c->write_end = c->buf_base + c->block;
        c->bulk.since = -1;
    }
}

static bool use_large(struct asf_cios *c) {
    struct asf_buffer *b = find_large(c), *own = c->buffer;
    if (!b)
        return false;
    c->buffer = NULL;
    asf__use_buffer(c, b);
    c->bulk.own = own;
    c->bulk.process = *process;
    begin_large(c);
    return true;
}

/* Makes the stream's own buffer current again, with the bytes from..end at its beginning and empty
 * windows. */
static void use_own(struct asf_cios *c, const char *from, const char *end) {
    struct asf_buffer *b = c->bulk.own;
    memcpy(b->base, from, (size_t)(end - from));
    c->bulk.own = NULL;
    asf__use_buffer(c, b);
}

void asf__drop_large(struct asf_cios *c) {
    struct asf_buffer *b = c->bulk.own;
    asf__leave_bulk(c);
    c->bulk.own = NULL;
    if (b)
        asf__retire_buffer(c, b);
}

/* --- bulk or not ------------------------------------------------------------------ */

static bool may_begin(const struct asf_cios *c) {
    return !(c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED | ASF_APPENDING)) && c->orientation <= 0 &&
           c->buffer != &c->single && c->buffer->size >= c->block && c->block <= MEMORY / 2;
}

/* Whether the call in progress uses the stream without its lock: `use` is ASF_UNLOCKED in an _unlocked
 * function, and ASF_OUTSIDE in any call on a stream with ASF_USER_LOCK. */
static bool is_unlocked(const struct asf_cios *c) {
    return c->use != ASF_LOCKED;
}

static void begin_bulk(struct asf_cios *c) {
    if (!may_begin(c)) {
        c->bulk.state = ASF_BULK_NEVER;
        return;
    }
    if (c->bulk.own || c->buffer->refs || (asf__is_putting(c) && !use_large(c)))
        return;
    c->bulk.state = ASF_BULK;
    c->bulk.unlocked = is_unlocked(c);
    if (!c->stats.bulk) {
        c->stats.bulk = c->stats.in + c->stats.out;
        asf__tell_user(c, "bulk from here on");
    }
}

void asf__count_block_slow(struct asf_cios *c) {
    struct asf_bulk *k = &c->bulk;
    unsigned run = c->block < LEAST ? ASF_BULK_AFTER * LEAST / (unsigned)c->block : ASF_BULK_AFTER;
    if (k->run++ == 0)
        k->since = milliseconds();
    if (k->run % run != 0)
        return;
    int64_t now = milliseconds();
    if (now - k->since < SLOW)
        begin_bulk(c);
    k->since = now;
}

void asf__leave_bulk(struct asf_cios *c) {
    c->bulk.run = 0;
    if (c->bulk.state != ASF_BULK)
        return;
    c->bulk.state = ASF_BULK_MAYBE;
    if (!c->bulk.own)
        return;
    asf__lock(&larges_lock);
    for (struct large *l = larges; l < larges + BUFFERS; l++)
        if (l->stream == c) {
            l->stream = NULL;
            __atomic_fetch_sub(&asf__bulk_streams, 1, __ATOMIC_RELAXED);
        }
    asf__unlock(&larges_lock);
}

/* In a multithreaded process a stream that is used without its lock cannot be bulk: a thread that forks
 * would change the stream's windows during another thread's call (cut_idle). */
bool asf__stays_bulk(struct asf_cios *c) {
    struct asf_bulk *k = &c->bulk;
    int64_t now = milliseconds();
    bool is_slow = k->since >= 0 && now - k->since >= SLOW;
    if (asf__is_putting(c))
        drop_parents_output(c);
    if (k->since < 0 || !asf__is_putting(c))
        k->since = now;
    k->unlocked = is_unlocked(c);
    if (is_slow || (k->unlocked && !__libc_single_threaded))
        asf__leave_bulk(c);
    return c->bulk.state == ASF_BULK;
}

/* --- input ------------------------------------------------------------------------------ */

void asf__choose_buffer(struct asf_cios *c) {
    struct asf_bulk *k = &c->bulk;
    bool large = k->state == ASF_BULK && !c->buffer->refs && asf__stays_bulk(c);
    if (large && k->own)
        begin_large(c);
    else if (!large || !use_large(c))
        asf__leave_bulk(c);
    if (k->state != ASF_BULK && k->own)
        use_own(c, c->read_ptr, c->read_ptr);
}

/* Returns the end of the block that the stream would have in its own buffer; *begin: its beginning. */
static char *end_of_block(const struct asf_cios *c, char **begin) {
    bool backup = c->flags & ASF_IN_BACKUP;
    char *p = backup ? c->save_base : c->read_ptr, *end = backup ? c->save_end : c->read_end;
    if (c->bulk.seen > p && c->bulk.seen <= end)
        p = c->bulk.seen;
    if (p == c->bulk.passed)
        return *begin = p;
    char *first = c->bulk.passed ? c->bulk.passed : c->buf_base;
    size_t taken = (size_t)(p - first);
    *begin = first + (taken > 0 ? (taken - 1) / c->block * c->block : 0);
    return end - *begin > (ptrdiff_t)c->block ? *begin + c->block : end;
}

char *asf__own_end(const struct asf_cios *c) {
    char *begin;
    return end_of_block(c, &begin);
}

char *asf__own_begin(const struct asf_cios *c) {
    char *begin;
    end_of_block(c, &begin);
    return begin;
}

void asf__note_passing_slow(struct asf_cios *c, size_t n) {
    if (c->flags & ASF_IN_BACKUP || n > asf__avail(c))
        return;
    bool empty = c->read_ptr == c->buf_base && c->bulk.seen <= c->read_ptr;
    char *begin, *end = end_of_block(c, &begin);
    size_t own = empty ? 0 : (size_t)(end - c->read_ptr);
    if (c->flags2 & ASF_READS_ON)
        c->bulk.passed = n > own ? c->read_ptr + n - 1 : begin;
    else if (n > own && (n - own) % c->block == 0)
        c->bulk.passed = c->read_ptr + n;
}

/* Makes the stream's own buffer current again, with the block begin..end in it. */
static void keep_block(struct asf_cios *c, char *begin, char *end) {
    bool backup = c->flags & ASF_IN_BACKUP;
    char *proper = backup ? c->save_base : c->read_ptr;
    use_own(c, begin, end);
    char *at = c->buf_base + (proper - begin), *stop = c->buf_base + (end - begin);
    if (at < stop && c->orientation == 0)
        c->orientation = -1; /* its own buffer holds bytes now */
    if (backup)
        c->save_base = at, c->save_end = stop;
    else
        asf__set_read(c, c->buf_base, at, stop);
}

/* Input read ahead from a pipe stays in memory, and the stream is never bulk again: its descriptor's
 * number may become a file's.  The program reads nothing after exit: if the descriptor is not in place,
 * bytes read ahead are dropped. */
static void cut_input(struct asf_cios *c, bool exits) {
    char **last = c->flags & ASF_IN_BACKUP ? &c->save_end : &c->read_end, *begin;
    char *end = end_of_block(c, &begin);
    off64_t ahead = *last - end;
    if (c->kind != ASF_REGULAR)
        c->bulk.state = ASF_BULK_NEVER;
    if (ahead > 0 && c->kind != ASF_REGULAR)
        return;
    if (ahead > 0) {
        bool in_place = c->ops->in_place(c, !exits);
        off64_t at = in_place ? c->ops->seek(c, -ahead, SEEK_CUR) : -1;
        if (at < 0 && !exits)
            return;
        c->stats.spared -= 1 + (ahead + (off64_t)c->block - 1) / (off64_t)c->block;
        if (asf__knows_offset(c)) /* the program may have moved the descriptor before bulk mode */
            c->offset = at < 0 ? -1 : c->offset - ahead;
        *last = end;
    }
    keep_block(c, begin, end);
}

/* --- output ------------------------------------------------------------------------------ */

/* Moves pending output to the stream's own buffer if it fits.  Otherwise hides the room of the large
 * buffer, so that each call puts the pending output before it adds bytes. */
static void leave_large(struct asf_cios *c) {
    const char *from = c->write_base;
    size_t n = asf__pending(c);
    asf__leave_bulk(c);
    if (n > c->bulk.own->size || c->buffer->refs) {
        c->buf_end = c->write_end = c->write_ptr;
        return;
    }
    use_own(c, from, from + n);
    c->write_ptr += n;
    asf__show_room(c);
}

static void advance_output(struct asf_cios *c, size_t n) {
    c->write_base += n;
    asf__set_read(c, c->write_base, c->write_base, c->write_base);
}

/* Puts the pending output before `end`. */
static int put_up_to(struct asf_cios *c, const char *end) {
    const char *begin = c->write_base;
    while (c->write_base < end) {
        enum asf_use was = asf__begin_system_call(c);
        ssize_t r = c->ops->put(c, c->write_base, (size_t)(end - c->write_base));
        asf__end_system_call(c, was);
        if (r <= 0) {
            size_t left = c->block - (size_t)(c->write_base - begin) % c->block;
            advance_output(c, left < asf__pending(c) ? left : asf__pending(c));
            leave_large(c);
            c->flags |= ASF_ERR;
            return r < 0 ? (int)r : -EIO;
        }
        c->stats.spared += r / (ssize_t)c->block - 1;
        if (asf__knows_offset(c))
            c->offset += r;
        advance_output(c, (size_t)r);
    }
    return 0;
}

int asf__put_large(struct asf_cios *c) {
    if (c->bulk.state == ASF_BULK)
        drop_parents_output(c);
    int rc = put_up_to(c, c->write_ptr);
    if (rc == 0 && c->bulk.state == ASF_BULK)
        begin_large(c);
    else if (rc == 0 && c->bulk.own)
        leave_large(c);
    return rc;
}

int asf__begin_own_buffer(struct asf_cios *c, char *p) {
    if (!asf__is_bulk_output(c)) /* a signal handler has ended bulk mode */
        return 0;
    c->write_end = p + c->block;
    return c->write_end > c->buf_end ? asf__put_large(c) : 0;
}

/* Puts full blocks to the descriptor, as the next put would, even if it refers to another file by now. */
static void cut_output(struct asf_cios *c) {
    drop_parents_output(c);
    const char *end = c->write_end - c->block;
    int rc = 0;
    if (end > c->write_base)
        rc = put_up_to(c, end);
    if (rc == 0)
        leave_large(c);
    else if (!c->failed)
        c->failed = rc;
}

/* --- the cut ------------------------------------------------------------------------------ */

/* Ends bulk mode before the first system call: that may end bulk mode of other streams, whose own system
 * calls must not find this stream. */
static void cut(struct asf_cios *c, bool exits) {
    bool putting = asf__is_putting(c);
    asf__leave_bulk(c);
    if (!c->bulk.own)
        return;
    int before = asf__forbid_cancellation();
    if (putting)
        cut_output(c);
    else
        cut_input(c, exits);
    asf__permit_cancellation(before);
}

void asf__end_bulk_slow(struct asf_cios *c) {
    cut(c, false);
}

/* Locks the stream if no call is active on it.  The lock alone does not show this: a signal handler may
 * have interrupted a call of this thread, which holds the recursive lock. */
static bool take_idle(struct asf_cios *c) {
    if (!asf__trylock(&c->lk))
        return false;
    if (c->use == ASF_OUTSIDE)
        return true;
    asf__unlock(&c->lk);
    return false;
}

/* Ends bulk input for good, since the bytes set back would otherwise be read twice after each cut. */
static void cut_idle(struct asf_cios *c, bool exits) {
    if (!take_idle(c))
        return;
    if (c->bulk.state == ASF_BULK && (__libc_single_threaded || !c->bulk.unlocked)) {
        cut(c, exits);
        if (!asf__is_putting(c))
            c->bulk.state = ASF_BULK_NEVER;
    }
    asf__unlock(&c->lk);
}

void asf__publish_streams_slow(int fd, bool exits) {
    asf__lock(&larges_lock);
    for (struct large *l = larges; l < larges + BUFFERS; l++)
        if (l->stream && (fd < 0 || l->fd == fd) && !(exits && l->is_output))
            cut_idle(l->stream, exits);
    asf__unlock(&larges_lock);
}

/* Whether the bulk stream of l must end bulk mode before c's transfer.  It must if its delayed transfers
 * come first, or if c's transfer changes bytes that the bulk stream has read. */
ASF_RACY static bool concerns(const struct large *l, const struct asf_cios *c) {
    bool putting = asf__is_putting(c);
    if (!l->stream || l->stream == c)
        return false;
    if (l->fd == c->fd || (putting && l->is_output && c->fd == STDERR_FILENO))
        return true;
    return (putting || l->is_output) && l->inode == c->inode && l->device == c->device;
}

/* The first loop takes no lock: mostly no bulk stream is concerned. */
ASF_RACY void asf__publish_others_slow(const struct asf_cios *c) {
    struct large *l = larges;
    while (l < larges + BUFFERS && !concerns(l, c))
        l++;
    if (l == larges + BUFFERS)
        return;
    asf__lock(&larges_lock);
    for (l = larges; l < larges + BUFFERS; l++)
        if (concerns(l, c))
            cut_idle(l->stream, false);
    asf__unlock(&larges_lock);
}
