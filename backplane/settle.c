/* SPDX-License-Identifier: MIT
 *
 * settle.c - nobody can tell.  Our buffers are larger than libc's; before
 * anything through which that could show, a stream is brought to the state
 * that libc's would be in: output that libc would have written is written, and
 * the descriptor's offset is put where libc's read-ahead would have left it.
 *
 * Output is settled in place (only write_base moves), and input by trimming
 * read_end, so that a signal handler that comes by a raw write(), _exit() or
 * fork() may do it in the middle of a fast path; and so may another thread, when
 * the program calls the likes of putc_unlocked in this one.  A thread is not cancelled
 * in what is done here on streams that are none of its call's.
 * Layer: backplane.  May include: backplane, lib.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#include "backplane/backplane.h"
#include "backplane/descriptor.h"
#include "backplane/gather.h"
#include "backplane/pipe_ring.h"
#include "lib/sys/cleanup.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"

int asf__unsettled_count;
int asf__holding_count;
static int ahead_count;

/* Sets a flag and counts it; returns whether it changed.  The exchange is atomic because a
 * signal handler may set the same flag in the meantime. */
static bool mark(bool *what, bool on, int *count) {
    if (*what == on || __atomic_exchange_n(what, on, __ATOMIC_RELAXED) == on)
        return false;
    __atomic_add_fetch(&asf__unsettled_count, on ? 1 : -1, __ATOMIC_RELAXED);
    __atomic_add_fetch(count, on ? 1 : -1, __ATOMIC_RELAXED);
    return true;
}

/* The first few streams that may hold back output: as a rule stdout alone, which is then
 * found without a walk of the list.  Read only while the process has one thread. */
enum { HOLDERS = 4 };
static struct asf_cios *holders[HOLDERS];

static void replace_holder(struct asf_cios *from, struct asf_cios *to, bool all) {
    bool done = false;
    for (int i = 0; i < HOLDERS && (all || !done); i++) {
        struct asf_cios *expected = from;
        done = __atomic_compare_exchange_n(&holders[i], &expected, to, false, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED);
    }
}

/* A stream is counted before it is listed in `holders` and removed before it is uncounted, so
 * `holders` never has more than the count says. */
void asf__mark_grown(struct asf_cios *c, bool grown) {
    if (!grown && c->grown)
        replace_holder(c, NULL, true);
    if (mark(&c->grown, grown, &asf__holding_count) && grown)
        replace_holder(NULL, c, false);
}

/* A loose stream (cios.h) is read as libc reads it, and so is never ahead. */
void asf__mark_ahead(struct asf_cios *c, bool ahead) {
    mark(&c->ahead, ahead && !c->loose, &ahead_count);
}

/* Bytes that libc would still hold in its buffer.  After n bytes since the
 * last flush it has written (n - 1) / B * B of them; but a large write that
 * ended on a multiple of B left nothing behind. */
static size_t libc_keeps(const struct asf_cios *c, size_t pending) {
    if (c->orientation > 0) /* libc writes what it has converted at once */
        return 0;
    uint64_t n = c->written + pending;
    size_t rest = asf__in_block(c, n);
    if (rest == 0 && n > 0 && n != c->exact)
        rest = c->block;
    return n > c->indent && rest > n - c->indent ? n - c->indent : rest;
}

size_t asf__libc_pending(const struct asf_cios *c) {
    return libc_keeps(c, asf__pending(c));
}

/* Read without the lock: another thread's fast path may be adding to it. */
ASF_RACY static size_t pending_now(const struct asf_cios *c) {
    return (size_t)(c->write_ptr - c->write_base);
}

static void settle_out(struct asf_cios *c) {
    if (!c->grown || c->queue || !c->out || c->out->refs)
        return;
    size_t pending = pending_now(c), keep = libc_keeps(c, pending);
    if (pending <= keep)
        return;
    size_t due = pending - keep;
    int rc = asf__go_to_output(c);
    if (rc < 0) {
        c->failed = rc;
        return;
    }
    while (due > 0) {
        ssize_t n = c->ops->put(c, c->write_base, due);
        if (n <= 0) {
            c->failed = n < 0 ? (int)n : -EIO;
            c->write_base += due; /* lost, as libc's write loses it */
            return;
        }
        c->write_base += n;
        c->written += (uint64_t)n;
        due -= (size_t)n;
    }
}

static void trim(struct asf_cios *c, off64_t to) {
    if (asf__catch_up(c) < 0)
        return;
    ptrdiff_t surplus = (ptrdiff_t)(c->offset - to);
    /* Relative: the program may have moved the offset behind our back. */
    if (surplus <= 0 || asf__sys.lseek(c->fd, -surplus, SEEK_CUR) < 0)
        return;
    c->stats.syscalls++;
    if (c->flags & ASF_IN_BACKUP)
        c->save_end -= surplus;
    else
        c->read_end -= surplus;
    c->offset = to;
}

static void settle_in(struct asf_cios *c) {
    asf__libc_orient(c);
    if (!c->ahead || c->offset < 0 || asf__is_putting(c))
        return;
    trim(c, asf__libc_offset(c));
    asf__mark_ahead(c, false);
}

void asf__settle_stream(struct asf_cios *c) {
    if (c->grown)
        settle_out(c);
    settle_in(c);
}

void asf__stop_growing(struct asf_cios *c) {
    settle_out(c);
    if (c->grown && asf__is_putting(c) && c->out && !c->out->refs) {
        size_t room = c->block - asf__libc_pending(c);
        if (asf__pending(c) <= c->block && (size_t)(c->buf_end - c->write_ptr) > room) {
            c->buf_end = c->write_ptr + room;
            c->write_end = c->orientation > 0 ? c->write_base : c->buf_end;
        }
    }
    c->limit = c->block;
    c->may_grow = false;
    asf__mark_grown(c, false);
}

/* Gives back the regions from which other threads were copying when the process forked; the
 * program's own regions stay. */
static void give_back(struct asf_buffer *b) {
    b->refs -= b->copies < b->refs ? b->copies : b->refs;
    b->copies = 0;
}

static void give_back_copies(struct asf_cios *c) {
    if (asf__is_copying()) /* this thread goes on copying, and which regions are its is not recorded */
        return;
    if (c->in)
        give_back(c->in);
    for (struct asf_buffer *b = c->retired; b; b = b->next)
        give_back(b);
}

/* In the child of a fork: a call that another thread was in never ends here, so what it
 * holds back is the parent's to write, and is dropped. */
void asf__leave_to_parent(struct asf_cios *c) {
    bool own = asf__lock_is_own(&c->lk);
    give_back_copies(c);
    c->pins = asf__walk_is_at(c); /* pins of threads that the child does not have are gone */
    if (own && c->held)
        return;
    if (!own)
        c->settles = 0;
    size_t pending = asf__pending(c), keep = c->held ? 0 : libc_keeps(c, pending);
    if (c->grown && c->out && !c->out->refs && pending > keep) {
        c->write_base += pending - keep;
        c->written += pending - keep;
    }
    c->held = false;
    if (c->ahead && !own) {
        if (!(c->flags & ASF_IN_BACKUP))
            c->read_end = c->read_ptr;
        c->offset = -1; /* the descriptor stands where the parent has read to */
        c->deferred = false;
    }
    asf__mark_ahead(c, c->deferred);
}

struct settling {
    bool output, input, last;
    uint64_t round;
    struct asf_cios *found;
    int patience; /* how long to wait for streams that other threads are using */
};

static bool holds_back(const struct asf_cios *c) {
    size_t pending = c->grown ? pending_now(c) : 0;
    return pending > 0 && pending > libc_keeps(c, pending);
}

static bool is_unsettled(const struct settling *s, const struct asf_cios *c) {
    return (s->output && holds_back(c)) || (s->input && c->ahead);
}

/* Each stream is settled once in a round, even if other threads add to it meanwhile. */
ASF_RACY static bool may_be_unsettled(const struct settling *s, const struct asf_cios *c) {
    return ((s->output && c->grown) || (s->input && c->ahead)) && c->settled < s->round;
}

/* --- beside calls that take no lock ---------------------------------------- */

enum { BEGUN = 0x10000, NOW = 0xffff }; /* of `settles` */

/* Tries to lock the stream; one that another thread is using is passed over.  In the child of
 * a vfork all are, if the parent has more threads: they share this memory, but the child may
 * lack their descriptors. */
static bool begin(struct asf_cios *c) {
    if (asf__unlikely(!__libc_single_threaded && asf__has_others_memory()))
        return false;
    __atomic_add_fetch(&c->settles, BEGUN + 1, __ATOMIC_SEQ_CST);
    if (asf__trylock(&c->lk)) {
        __atomic_store_n(&c->passed_over, 0, __ATOMIC_RELAXED);
        return true;
    }
    __atomic_add_fetch(&c->passed_over, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&c->settles, 1, __ATOMIC_SEQ_CST);
    return false;
}

/* How often to try again for a stream that may be unsettled and that another thread is using:
 * the program may know what that thread has written, and expect to see it.
 *  - `held`: in a system call.  A write to a file ends soon, and then its thread may be
 *    waiting for this one; so it is worth waiting longest.
 *  - `inside`: in a call that will be left in a moment.
 *  - otherwise the program holds the lock, perhaps for long: one that looks often must not
 *    wait for it each time. */
ASF_RACY static int patience_with(const struct asf_cios *c) {
    enum { GLANCE = 8 };
    if (!c->regular || !(c->grown || c->ahead))
        return 0;
    if (c->held)
        return ASF_WHILE;
    return c->passed_over < (c->inside ? ASF_MOMENT : GLANCE) ? ASF_MOMENT : 0;
}

ASF_RACY static void be_patient_with(const struct asf_cios *c, int *patience) {
    int own = patience_with(c);
    if (own > *patience)
        *patience = own;
}

static void end(struct asf_cios *c) {
    asf__unlock(&c->lk);
    __atomic_sub_fetch(&c->settles, 1, __ATOMIC_SEQ_CST);
}

/* In a signal handler: refuses a stream that the interrupted code was using.  Setting `held`
 * keeps a handler that interrupts this one out, too. */
static bool hold(struct asf_cios *c, bool last) {
    if (c->held || (c->inside && !last))
        return false;
    c->held = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static void let_go(struct asf_cios *c) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c->held = false;
    end(c);
}

static void nap(void) {
    struct timespec a_little = {0, 20000};
    asf__raw_syscall(SYS_nanosleep, (long)&a_little, 0, 0, 0);
}

/* For the *_unlocked calls: waits for threads that are settling this stream, and takes the
 * lock to keep further ones out.  If the lock is taken though nobody settles, another thread
 * has it for a call of its own, and the program answers for calling beside that: false. */
bool asf__exclude_settling_now(struct asf_cios *c) {
    if (asf__lock_is_own(&c->lk))
        return false;
    c->loose = true;
    for (;;) {
        unsigned before = __atomic_load_n(&c->settles, __ATOMIC_SEQ_CST);
        if (asf__trylock(&c->lk))
            return true;
        if ((before & NOW) == 0 && __atomic_load_n(&c->settles, __ATOMIC_SEQ_CST) == before)
            return false;
        nap();
    }
}

void asf__be_loose(struct asf_cios *c) {
    if (c->loose && !c->may_grow)
        return;
    bool excluded = asf__exclude_settling_now(c);
    int cancellation = asf__forbid_cancellation();
    asf__stop_growing(c);
    settle_in(c);
    asf__permit_cancellation(cancellation);
    if (excluded)
        asf__unlock(&c->lk);
}

/* --- all streams, some streams ----------------------------------------------- */

static bool find_unsettled(struct asf_cios *c, void *arg) {
    struct settling *s = arg;
    if (!may_be_unsettled(s, c) || (__libc_single_threaded && !is_unsettled(s, c)))
        return true;
    if (!begin(c)) {
        be_patient_with(c, &s->patience);
        return true;
    }
    if (is_unsettled(s, c) && hold(c, s->last))
        s->found = c;
    else
        end(c);
    return !s->found;
}

static struct asf_cios *next_unsettled(struct settling *s) {
    for (int tries = 0;;) {
        s->found = NULL;
        s->patience = 0;
        asf__each_soon(find_unsettled, s);
        if (s->found || !asf__patient(tries++, s->patience))
            return s->found;
    }
}

/* One stream at a time with the list unlocked: the write may wait for a reader
 * who needs the list. */
static void settle_streams(struct settling s) {
    static uint64_t rounds;
    struct asf_cios *c;
    int cancellation = asf__forbid_cancellation();
    s.round = __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
    while ((c = next_unsettled(&s))) {
        if (s.output)
            settle_out(c);
        if (s.input)
            settle_in(c);
        c->settled = s.round;
        let_go(c);
    }
    asf__permit_cancellation(cancellation);
}

/* Whether no stream holds back anything; asked before each message on stderr, by which stdout,
 * usually the only holder, was settled the last time. */
static bool nothing_is_held(void) {
    int holding = __atomic_load_n(&asf__holding_count, __ATOMIC_RELAXED);
    for (int i = 0; holding > 0 && i < HOLDERS && __libc_single_threaded; i++) {
        const struct asf_cios *c = __atomic_load_n(&holders[i], __ATOMIC_RELAXED);
        if (c && holds_back(c))
            return false;
        holding -= c != NULL;
    }
    return holding == 0;
}

void asf__settle_output(void) {
    asf__write_gathered();
    if (!nothing_is_held())
        settle_streams((struct settling){.output = true});
}

/* Whether a stream that holds back output may be writing to the file that `reader` reads;
 * yes when there are threads or more holders than `holders` has room for. */
static bool may_write_to(const struct asf_cios *reader) {
    int holding = __atomic_load_n(&asf__holding_count, __ATOMIC_RELAXED);
    if (!__libc_single_threaded)
        return true;
    for (int i = 0; i < HOLDERS; i++) {
        const struct asf_cios *c = __atomic_load_n(&holders[i], __ATOMIC_RELAXED);
        if (c && c->dev == reader->dev && c->ino == reader->ino)
            return true;
        holding -= c != NULL;
    }
    return holding != 0;
}

void asf__settle_writers_now(const struct asf_cios *reader) {
    if (may_write_to(reader))
        asf__settle_output();
}

void asf__settle_input(void) {
    if (__atomic_load_n(&ahead_count, __ATOMIC_RELAXED))
        settle_streams((struct settling){.input = true});
}

static void settle_all(bool last) {
    asf__put_all_back();
    asf__write_gathered();
    if (__atomic_load_n(&asf__unsettled_count, __ATOMIC_RELAXED))
        settle_streams((struct settling){.output = true, .input = true, .last = last});
}

void asf__settle_all(void) {
    settle_all(false);
}

/* Before the process ends; but not for good in the child of a vfork, behind which the
 * parent's calls go on in the same memory. */
void asf__settle_last(void) {
    settle_all(!asf__has_others_memory());
}

static bool holds_or_is_ahead(const struct asf_cios *c) {
    return c->grown || c->ahead;
}

/* Does `what` to the stream if it is `wanted` (NULL: always), and not if the code that a signal
 * interrupted was using it.  Returns false when another thread was using it. */
static bool do_beside(struct asf_cios *c, bool (*wanted)(const struct asf_cios *),
                      void (*what)(struct asf_cios *)) {
    if (!begin(c))
        return false;
    int cancellation = asf__forbid_cancellation();
    bool held = (!wanted || wanted(c)) && hold(c, false);
    if (held)
        what(c);
    (held ? let_go : end)(c);
    asf__permit_cancellation(cancellation);
    return true;
}

void asf__settle_fd(int fd) {
    int tries = 0;
    for (struct asf_cios *c = asf__fd_stream(fd); c; c = c->fd_next)
        while (!do_beside(c, holds_or_is_ahead, asf__settle_stream) &&
               asf__patient(tries++, patience_with(c)))
            ;
}

/* A file that was written to: streams that have read ahead of it may hold old bytes. */
struct written {
    dev_t dev;
    ino_t ino;
    const struct asf_cios *by;
    int patience; /* how long to wait for readers that other threads are using */
};

ASF_RACY static bool settle_reader(struct asf_cios *c, void *arg) {
    struct written *w = arg;
    if (c != w->by && c->ahead && c->ino == w->ino && c->dev == w->dev &&
        !do_beside(c, holds_or_is_ahead, settle_in))
        be_patient_with(c, &w->patience);
    return true;
}

void asf__settle_readers(dev_t dev, ino_t ino, const struct asf_cios *by) {
    struct written w = {.dev = dev, .ino = ino, .by = by};
    int tries = 0;
    if (!asf__some_ahead())
        return;
    do {
        w.patience = 0;
        asf__each_soon(settle_reader, &w);
    } while (asf__patient(tries++, w.patience));
}

/* Files that the program has mapped to write to.  They are not read ahead of; when there are
 * more than fit, no file is. */
enum { MAPPED = 16 };
static struct {
    dev_t dev;
    ino_t ino;
} by_map[MAPPED];
static int maps;

bool asf__is_written_by_map(dev_t dev, ino_t ino) {
    int n = __atomic_load_n(&maps, __ATOMIC_ACQUIRE);
    for (int i = 0; i < n && i < MAPPED; i++)
        if (by_map[i].ino == ino && by_map[i].dev == dev)
            return true;
    return n > MAPPED;
}

ASF_RACY static bool share_file(struct asf_cios *c, void *arg) {
    const struct written *w = arg;
    if (c->ino == w->ino && c->dev == w->dev && c->regular && !c->own)
        c->shared = true;
    return true;
}

void asf__write_by_map(int fd) {
    struct stat64 st;
    if (asf__sys.fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || asf__is_written_by_map(st.st_dev, st.st_ino))
        return;
    asf__list_lock();
    if (maps < MAPPED) {
        by_map[maps].dev = st.st_dev;
        by_map[maps].ino = st.st_ino;
    }
    if (maps <= MAPPED)
        __atomic_store_n(&maps, maps + 1, __ATOMIC_RELEASE);
    asf__list_unlock();
    asf__settle_readers(st.st_dev, st.st_ino, NULL);
    asf__each_soon(share_file, &(struct written){.dev = st.st_dev, .ino = st.st_ino});
}

bool asf__some_ahead(void) {
    return __atomic_load_n(&ahead_count, __ATOMIC_RELAXED) > 0;
}

ASF_RACY static bool share(struct asf_cios *c, void *arg) {
    (void)arg;
    if (c->fd >= 0 && !c->own && !c->shared) /* no needless store: after a fork each copies a page */
        c->shared = true;
    return true;
}

void asf__share_all(void) {
    asf__unkeep_all();
    asf__each_soon(share, NULL);
}

ASF_RACY static bool stop_growing(struct asf_cios *c, void *patience) {
    if (!c->own && !do_beside(c, NULL, asf__stop_growing) && c->grown)
        be_patient_with(c, patience);
    return true;
}

bool asf__growth_ended;

/* Tries again for streams that another thread is using: they may be free in a moment. */
void asf__stop_growing_all(void) {
    int patience, tries = 0;
    __atomic_store_n(&asf__growth_ended, true, __ATOMIC_RELAXED);
    asf__settle_output();
    do {
        patience = 0;
        asf__each_soon(stop_growing, &patience);
    } while (asf__patient(tries++, patience));
}

void asf__be_plain(void) {
    asf__settle_all();
    if (asf__rings())
        asf__pipe_share();
    asf__share_all();
    asf__stop_keeping();
    asf__stop_growing_all();
    asf__options_of_libc();
}
