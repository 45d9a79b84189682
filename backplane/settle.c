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
#include "lib/cleanup.h"
#include "lib/options.h"
#include "lib/startup.h"
#include "lib/syscalls.h"

ASF_EVERY_RUN_DATA int asf__unsettled_count;
ASF_EVERY_RUN_DATA int asf__holding_count;
static int ahead_count;

/* Whether that is a change.  A signal handler may come between and make it first. */
static bool mark(bool *what, bool on, int *count) {
    if (*what == on || __atomic_exchange_n(what, on, __ATOMIC_RELAXED) == on)
        return false;
    __atomic_add_fetch(&asf__unsettled_count, on ? 1 : -1, __ATOMIC_RELAXED);
    __atomic_add_fetch(count, on ? 1 : -1, __ATOMIC_RELAXED);
    return true;
}

/* The streams that may hold back output, unless there are more of them; looked at
 * only while there is one thread. */
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

/* In such an order that never more are found than are counted. */
void asf__mark_grown(struct asf_cios *c, bool grown) {
    if (!grown && c->grown)
        replace_holder(c, NULL, true);
    if (mark(&c->grown, grown, &asf__holding_count) && grown)
        replace_holder(NULL, c, false);
}

/* A loose stream reads as libc does. */
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

/* More may come by a fast path meanwhile. */
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

ASF_EVERY_RUN void asf__settle_stream(struct asf_cios *c) {
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

/* The regions of calls that other threads were in; those of the program stay. */
static void give_back(struct asf_buffer *b) {
    b->refs -= b->copies < b->refs ? b->copies : b->refs;
    b->copies = 0;
}

static void give_back_copies(struct asf_cios *c) {
    if (asf__is_copying()) /* it is not known which are this thread's, that go on */
        return;
    if (c->in)
        give_back(c->in);
    for (struct asf_buffer *b = c->retired; b; b = b->next)
        give_back(b);
}

/* A call that another thread was in has no end here: its output is dropped. */
void asf__leave_to_parent(struct asf_cios *c) {
    bool own = asf__lock_is_own(&c->lk);
    give_back_copies(c);
    c->pins = asf__walk_is_at(c); /* not by threads that are not there */
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
    int patience; /* with those that are in use elsewhere */
};

static bool holds_back(const struct asf_cios *c) {
    size_t pending = c->grown ? pending_now(c) : 0;
    return pending > 0 && pending > libc_keeps(c, pending);
}

static bool is_unsettled(const struct settling *s, const struct asf_cios *c) {
    return (s->output && holds_back(c)) || (s->input && c->ahead);
}

/* Once in a round, though other threads may hold back more meanwhile. */
ASF_RACY static bool may_be_unsettled(const struct settling *s, const struct asf_cios *c) {
    return ((s->output && c->grown) || (s->input && c->ahead)) && c->settled < s->round;
}

/* --- beside calls that take no lock ---------------------------------------- */

enum { BEGUN = 0x10000, NOW = 0xffff }; /* of `settles` */

/* A stream that is in use elsewhere is passed over; so are all when threads of the
 * parent use this memory, with descriptors that the child may not have. */
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

/* How long to try for a stream that another thread uses and that may be unsettled: what that
 * one did before may be known to this one.  A write to a file ends, of a thread that waits
 * next, for this one, it may be; a call is soon left; a lock that the program has taken is
 * not, and who looks often should not wait for it each time. */
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

/* Not one that this thread was using when the signal came whose handler this is;
 * and another such handler keeps out of what is done here. */
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

/* A lock that is taken although no thread is settling, or has begun to since, is
 * another thread's for its own calls: the program knows why it calls beside them. */
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

/* As a rule it is stdout alone, which a message on stderr has settled already. */
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

/* More of them than are known, or other threads': all are settled. */
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

/* After the child of a vfork the parent's calls go on. */
void asf__settle_last(void) {
    settle_all(!asf__has_others_memory());
}

static bool holds_or_is_ahead(const struct asf_cios *c) {
    return c->grown || c->ahead;
}

/* `what` is done to a stream of which it is `wanted` (or NULL: always), unless it is in use;
 * false when that is by another thread. */
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

/* Of one file: whoever writes to it changes what libc has not read yet. */
struct written {
    dev_t dev;
    ino_t ino;
    const struct asf_cios *by;
    int patience; /* with readers that are in use elsewhere */
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

/* Files that are mapped to be written; when there are more of them, no file is read ahead of. */
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
    if (c->fd >= 0 && !c->own && !c->shared) /* each write behind a fork copies a page */
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

/* A stream that another thread is using may be free in a moment. */
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
