/* SPDX-License-Identifier: MIT
 *
 * descriptors.c - the table of descriptors: how they become private, and how they are
 * published.
 * Layer: interfaces.  May include: streams/streams.h, backplane, lib.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include "backplane/report.h"
#include "lib/sys/fault.h"
#include "streams/streams.h"

struct asf_fd asf__fds[ASF_FDS];

/* Nothing becomes private while somebody has it: a fork.  Rank: behind the streams'. */
static struct asf_lock forks = {.biasable = false};
static int highest; /* descriptor that was ever more than the kernel's */
#ifdef ASF_STATIC
static bool never = true; /* a static program has ways to libc that pass us by */
#else
static bool never;
#endif

/* A descriptor gains a point by each read that is served, and pays some for each window;
 * what it can save up ends, so that it is left soon when it is read otherwise. */
enum { CREDIT = 64, BEFORE_IT_PAYS = 8, READS_TO_COME = 64 };

bool asf__move_on(struct asf_fd *d, enum asf_fd_state from, enum asf_fd_state to) {
    uint8_t state = (uint8_t)from;
    return __atomic_compare_exchange_n(&d->state, &state, (uint8_t)to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static void set_state(struct asf_fd *d, enum asf_fd_state state) {
    __atomic_store_n(&d->state, (uint8_t)state, __ATOMIC_RELEASE);
}

void asf__note_fd(int fd) {
    if (fd > __atomic_load_n(&highest, __ATOMIC_RELAXED))
        __atomic_store_n(&highest, fd, __ATOMIC_RELAXED);
}

/* --- opened ------------------------------------------------------------------------ */

int asf__opened(int fd, int flags) {
    const int harmless = O_ACCMODE | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CREAT | O_EXCL |
                         O_NOATIME | O_TRUNC | 0100000; /* which is O_LARGEFILE */
    struct asf_fd *d = (unsigned)fd < ASF_FDS ? &asf__fds[fd] : NULL;
    if (fd >= 0 && asf__rings())
        asf__pipe_opened(fd);
    if (!d || never || flags & ~harmless || d->state != ASF_FD_KERNELS)
        return fd;
    if ((flags & O_ACCMODE) == O_WRONLY && !asf__options()->coalesce)
        return fd;
    d->flags = flags;
    d->failed = d->reads = 0;
    d->held = d->moving = false;
    d->regular = false;
    asf__note_fd(fd);
    set_state(d, ASF_FD_NEW);
    return fd;
}

struct asf_cios *asf__ready(struct asf_fd *d) {
    struct asf_cios *c = __atomic_load_n(&d->stream, __ATOMIC_ACQUIRE), *none = NULL;
    if (asf__likely(c != NULL) || !(c = asf__cios_new(&asf__for_asi, -1, O_RDONLY)))
        return c;
    if (__atomic_compare_exchange_n(&d->stream, &none, c, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return c;
    asf__cios_free(c); /* another thread was first */
    return none;
}

/* --- private ----------------------------------------------------------------------- */

/* Whether no other private descriptor is on the file: one would not see what the other
 * coalesces. */
static bool is_only_one(struct asf_fd *d, const struct stat64 *st) {
    d->device = st->st_dev;
    d->inode = st->st_ino;
    for (int fd = 0; asf__options()->coalesce && fd <= highest; fd++) {
        const struct asf_fd *e = &asf__fds[fd];
        if (e != d && (e->state == ASF_FD_READS || e->state == ASF_FD_COALESCES) && e->inode == d->inode &&
            e->device == d->device)
            return false;
    }
    return true;
}

/* The stream that is to serve the descriptor; false: nothing is to. */
static bool set_up(struct asf_fd *d, int fd, int access, off64_t at) {
    struct asf_cios *c = d->stream;
    asf__cios_reset(c); /* a handler may have left it as it was */
    asf__cios_set_up(c, &asf__for_asi, fd, access);
    c->exclusive = true;
    c->offset = at;
    asf__attach(c);
    return access != O_RDONLY || c->ops->lost; /* which only a mapped file needs */
}

/* A hole of tmpfs that is mapped becomes memory, and what is zero is read by the kernel. */
static bool is_worth_reading(const struct stat64 *st, off64_t at, size_t rest) {
    return st->st_size - at >= (off64_t)rest && st->st_blocks >= st->st_size / 512;
}

/* From NEW to `state`, if the file is suitable and nobody forks meanwhile. */
static void begin(struct asf_fd *d, int fd, enum asf_fd_state state, size_t rest) {
    struct stat64 st;
    int access = state == ASF_FD_READS ? O_RDONLY : O_WRONLY;
    off64_t at = asf__fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? asf__lseek(fd, 0, SEEK_CUR) : -1;
    if (!asf__trylock(&forks))
        return;
    asf__heed_forks();
    bool suitable = at >= 0 && !never && (access == O_WRONLY || is_worth_reading(&st, at, rest)) &&
                    is_only_one(d, &st) && set_up(d, fd, access, at);
    d->at = at;
    d->beyond = 0;
    d->proof = NULL;
    d->credit = CREDIT;
    d->most = ASF_SMALL_READ;
    d->judged = false;
    d->failed = 0;
    if (!asf__move_on(d, ASF_FD_NEW, suitable ? state : ASF_FD_KERNELS) || !suitable)
        asf__cios_reset(d->stream);
    else if (state == ASF_FD_COALESCES)
        __atomic_add_fetch(&asf__coalescing, 1, __ATOMIC_RELAXED);
    asf__unlock(&forks);
}

void asf__begin_reads(struct asf_fd *d, int fd, size_t n) {
    bool forced = asf__options()->module[0] == 'm';
    if (d->state != ASF_FD_NEW || n - 1 >= ASF_LARGEST_READ || (!forced && ++d->reads < BEFORE_IT_PAYS))
        return;
    if ((d->flags & O_ACCMODE) != O_WRONLY)
        begin(d, fd, ASF_FD_READS, forced ? 1 : n * READS_TO_COME);
}

void asf__leave_reads(struct asf_fd *d, int fd, bool nested) {
    d->inside = asf__offset(d);
    asf__lseek(fd, d->inside, SEEK_SET);
    set_state(d, ASF_FD_KERNELS);
    if (nested) /* the call goes on with the memory that it has */
        return;
    asf__report(d->stream);
    asf__cios_reset(d->stream);
}

/* --- coalesced ------------------------------------------------------------------------ */

int asf__coalescing;

static void flush(struct asf_fd *d) {
    if (asf__pending(d->stream) == 0)
        return;
    d->moving = true;
    int rc = asf__flush_output(d->stream);
    d->moving = false;
    if (rc < 0)
        d->failed = rc;
}

/* Of a descriptor that is open or about to be closed: what is told may have failed before. */
int asf__flush_coalesced(int fd) {
    struct asf_fd *d = (unsigned)fd < ASF_FDS ? &asf__fds[fd] : NULL;
    if (!d || (d->state != ASF_FD_COALESCES && !d->failed))
        return 0;
    unsigned how = asf__hold(d);
    if (d->state == ASF_FD_COALESCES && !(how & ASF_NESTED))
        flush(d);
    int failed = d->failed;
    d->failed = 0;
    asf__let_go(d, how);
    return failed;
}

void asf__flush_all_coalesced(void) {
    for (int fd = 0; fd <= highest; fd++) {
        struct asf_fd *d = &asf__fds[fd];
        if (__atomic_load_n(&d->state, __ATOMIC_ACQUIRE) != ASF_FD_COALESCES)
            continue;
        unsigned how = asf__hold(d);
        if (d->state == ASF_FD_COALESCES && !(how & ASF_NESTED))
            flush(d);
        asf__let_go(d, how);
    }
}

void asf__share_by_map(int fd) {
    struct stat64 st;
    const struct asf_fd *own = asf__fd(fd);
    if (own && own->state == ASF_FD_NEW)
        asf__publish(fd);
    if (__atomic_load_n(&asf__coalescing, __ATOMIC_RELAXED) == 0 || asf__fstat(fd, &st) < 0)
        return;
    for (int e = 0; e <= highest; e++)
        if (asf__fds[e].state == ASF_FD_COALESCES && asf__fds[e].inode == st.st_ino &&
            asf__fds[e].device == st.st_dev)
            asf__publish(e);
}

static ssize_t append(struct asf_fd *d, int fd, const char *p, size_t n) {
    enum { BUFFER = 64 << 10 };
    int error = 0, failed = d->failed;
    if (d->state == ASF_FD_NEW && (d->flags & O_ACCMODE) != O_RDONLY) {
        begin(d, fd, ASF_FD_COALESCES, 0);
        d->stream->block = BUFFER;
    }
    if (d->state != ASF_FD_COALESCES)
        return ASF_NOT_OURS;
    d->failed = 0;
    d->moving = n > asf__room(d->stream); /* it is written in the midst of it */
    if (failed == 0)
        asf__append(d->stream, p, n, &error);
    d->moving = false;
    return failed ? failed : error ? error : (ssize_t)n;
}

ssize_t asf__coalesce(struct asf_fd *d, int fd, const char *p, size_t n) {
    if (n - 1 >= ASF_SMALL_WRITE || !asf__ready(d))
        return ASF_NOT_OURS;
    unsigned how = asf__hold(d);
    ssize_t r = how & ASF_NESTED ? ASF_NOT_OURS : append(d, fd, p, n);
    asf__let_go(d, how);
    return r;
}

/* --- published ------------------------------------------------------------------------ */

/* In the midst of a write what it has not added yet comes behind. */
static void leave_coalescing(struct asf_fd *d, int fd, bool nested) {
    struct asf_cios *c = d->stream;
    if (nested && !d->moving && asf__pending(c) > 0)
        asf__raw(SYS_write, fd, (long)c->write_base, (long)asf__pending(c), 0);
    if (nested)
        return;
    flush(d);
    set_state(d, ASF_FD_KERNELS);
    __atomic_sub_fetch(&asf__coalescing, 1, __ATOMIC_RELAXED);
    asf__report(c);
    asf__cios_reset(c);
}

/* `ending`: nothing is done after it but to end the process. */
static void publish(int fd, bool ending) {
    struct asf_fd *d = asf__fd(fd);
    if (asf__likely(!d))
        return;
    if (d->state == ASF_FD_JOINED) {
        asf__joined_release(d->joined);
    } else if (!d->stream) { /* nobody has used it */
        asf__move_on(d, ASF_FD_NEW, ASF_FD_KERNELS);
    } else {
        unsigned how = asf__hold(d);
        if (d->state == ASF_FD_READS)
            asf__leave_reads(d, fd, how & ASF_NESTED);
        else if (d->state == ASF_FD_COALESCES && (ending || !(how & ASF_NESTED)))
            leave_coalescing(d, fd, how & ASF_NESTED);
        else
            asf__move_on(d, ASF_FD_NEW, ASF_FD_KERNELS);
        asf__let_go(d, how);
    }
}

void asf__publish(int fd) {
    if (asf__rings())
        asf__pipe_leave(fd);
    publish(fd, false);
}

static void publish_every(bool ending) {
    for (int fd = 0; fd <= highest; fd++)
        publish(fd, ending);
}

void asf__end_unix(void) {
    publish_every(true);
}

void asf__publish_all(void) {
    if (asf__rings())
        asf__pipe_share();
    publish_every(false);
}

void asf__never_private(void) {
    __atomic_store_n(&never, true, __ATOMIC_RELAXED);
    publish_every(false);
}

int asf__lose(int fd) {
    if (asf__rings())
        asf__pipe_lose(fd);
    int failed = asf__flush_coalesced(fd);
    publish(fd, false);
    return failed;
}

/* --- forks, and the end ----------------------------------------------------------------- */

static bool has_forks;

/* The handler of a signal may have interrupted who has the lock. */
static void before_fork(void) {
    int tries = 0;
    while (!(has_forks = asf__trylock(&forks)) && asf__patient(tries++, ASF_WHILE))
        ;
    asf__publish_all();
}

static void after_fork(void) {
    if (has_forks)
        asf__unlock(&forks);
}

/* The threads that held locks are not there. */
static void in_child(void) {
    for (int fd = 0; fd <= highest; fd++)
        if (asf__fds[fd].stream)
            asf__lock_inherit(&asf__fds[fd].stream->lk, true);
    asf__lock_reset(&forks);
    forks.biasable = false;
}

extern int __register_atfork(void (*before)(void), void (*after)(void), void (*child)(void), void *object);

void asf__heed_forks(void) {
    static bool heeded;
    if (!__atomic_exchange_n(&heeded, true, __ATOMIC_RELAXED))
        __register_atfork(before_fork, after_fork, in_child, NULL);
}

__attribute__((destructor)) static void end(void) {
    asf__never_private();
}
