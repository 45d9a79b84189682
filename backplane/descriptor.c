/* SPDX-License-Identifier: MIT
 *
 * descriptor.c - descriptors whose offset this process keeps: the table, and
 * putting the offset back before anybody looks.
 * Layer: backplane.  May include: backplane, lib.
 */
#define _GNU_SOURCE
#include "backplane/descriptor.h"

#include <unistd.h>

#include "backplane/backplane.h"
#include "backplane/gather.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"

/* Small reads in a row before a descriptor is kept, which costs as much as
 * some ten of them: more when views were not worth it, fewer when they were. */
enum { PATIENCE = 32, LEAST_PATIENCE = 8, MOST_PATIENCE = 60, WORTH_IT = 32 };

uint8_t asf__marks[ASF_MARKS];
struct asf_descriptor asf__descriptors[ASF_DESCRIPTORS];
int asf__kept_count;
int asf__patience = PATIENCE;
static uint64_t generation;
static bool stopped;
static bool some_marked;
static int before_vfork; /* the process that called vfork, until it is known to be back */

uint32_t asf__fd_changes;

void asf__before_shared_memory(void) {
    before_vfork = (int)asf__raw_syscall(SYS_getpid, 0, 0, 0, 0);
}

void asf__after_shared_memory(void) {
    before_vfork = 0;
}

/* Other threads may be back while the child of one still runs. */
bool asf__has_others_memory(void) {
    if (asf__likely(!before_vfork))
        return false;
    if (asf__raw_syscall(SYS_getpid, 0, 0, 0, 0) != before_vfork)
        return true;
    if (__libc_single_threaded)
        before_vfork = 0;
    return false;
}

void asf__mark_descriptor(int fd) {
    if ((unsigned)fd >= ASF_MARKS || stopped || asf__options()->unix_io == ASF_UNIX_OFF ||
        !__libc_single_threaded || asf__fd_stream(fd))
        return;
    if (asf__has_others_memory())
        return;
    some_marked = true;
    asf__marks[fd] = 1;
}

uint64_t asf__next_state(off64_t at) {
    return ++generation << ASF_OFFSET_BITS | (uint64_t)at;
}

struct asf_descriptor *asf__keep(int fd, off64_t at) {
    for (unsigned i = 0; i < ASF_DESCRIPTORS; i++) {
        struct asf_descriptor *d = &asf__descriptors[i];
        if (d->used || d->busy) /* a handler may have left a copy for good by siglongjmp */
            continue;
        *d = (struct asf_descriptor){
            .fd = fd, .used = true, .kernel_at = at, .expected = at, .most = ASF_SMALLEST_READ};
        d->state = asf__next_state(at);
        asf__kept_count++;
        asf__marks[fd] = (uint8_t)(ASF_KEPT + i);
        return d;
    }
    return NULL;
}

/* With signals held. */
static void put_back(struct asf_descriptor *d) {
    off64_t at = asf__position(asf__state(d));
    if (d->kernel_at != at && asf__lseek(d->fd, at, SEEK_SET) == at)
        d->kernel_at = at;
}

static void release(struct asf_descriptor *d) {
    d->state = asf__next_state(0);
    asf__drop_view(d);
    if (asf__options()->unix_io == ASF_UNIX_AUTO) {
        int patience = d->served < WORTH_IT ? asf__patience * 2 : asf__patience / 2;
        asf__patience = patience > MOST_PATIENCE    ? MOST_PATIENCE
                        : patience < LEAST_PATIENCE ? LEAST_PATIENCE
                                                    : patience;
    }
    d->used = false;
    asf__kept_count--;
}

static void put_back_and_release(struct asf_descriptor *d) {
    put_back(d);
    release(d);
}

/* With signals held. */
static void each_kept(void (*act)(struct asf_descriptor *)) {
    for (int i = 0; i < ASF_DESCRIPTORS; i++)
        if (asf__descriptors[i].used)
            act(&asf__descriptors[i]);
}

void asf__put_all_back(void) {
    if (asf__likely(asf__kept_count == 0))
        return;
    uint64_t mask = asf__hold_signals();
    each_kept(put_back);
    asf__release_signals(mask);
}

static void unkeep(int fd, bool for_good) {
    uint64_t mask = asf__hold_signals();
    unsigned mark = asf__marks[fd];
    if (mark >= ASF_KEPT)
        put_back_and_release(asf__kept(mark));
    if (mark)
        asf__marks[fd] = for_good ? 0 : 1;
    asf__release_signals(mask);
}

/* What is not kept has nothing to put back, unless a handler keeps it just now. */
static bool unmark(int fd, uint8_t mark, bool for_good) {
    return mark < ASF_KEPT && __atomic_compare_exchange_n(&asf__marks[fd], &mark, for_good ? 0 : 1, false,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void asf__unkeep(int fd, bool for_good) {
    asf__fd_changed();
    unsigned mark = some_marked ? asf__mark(fd) : 0;
    if (asf__unlikely(mark != 0) && !unmark(fd, (uint8_t)mark, for_good))
        unkeep(fd, for_good);
}

uintptr_t asf__writable[ASF_WRITABLE];

void asf__forget_writable(void) {
    for (int i = 0; i < ASF_WRITABLE; i++) /* no call: a sanitizer may not be ready for any */
        __atomic_store_n(&asf__writable[i], 0, __ATOMIC_RELAXED);
}

void asf__drop_views(void) {
    asf__forget_writable(); /* memory that was read into may be a map of the file */
    if (!some_marked)
        return;
    uint64_t mask = asf__hold_signals();
    each_kept(asf__drop_view);
    asf__release_signals(mask);
}

void asf__unkeep_all(void) {
    asf__fd_changed();
    if (!some_marked)
        return;
    uint64_t mask = asf__hold_signals();
    each_kept(put_back_and_release);
    memset(asf__marks, 0, sizeof asf__marks);
    some_marked = false;
    asf__release_signals(mask);
}

void asf__stop_keeping(void) {
    __atomic_store_n(&asf__fd_changes, ASF_FD_UNKNOWN, __ATOMIC_RELAXED);
    asf__unkeep_all();
    asf__stop_gathering();
    __atomic_store_n(&stopped, true, __ATOMIC_RELAXED);
}

void asf__forget_descriptor(int fd) {
    asf__fd_changed();
    unsigned mark = asf__mark(fd);
    if (mark >= ASF_KEPT) {
        uint64_t mask = asf__hold_signals();
        if ((mark = asf__marks[fd]) >= ASF_KEPT)
            release(asf__kept(mark));
        asf__marks[fd] = 0;
        asf__release_signals(mask);
    } else if (mark) {
        asf__marks[fd] = 0;
    }
}

void asf__before_open(const char *path) {
    bool kept = asf__kept_count > 0;
    if (asf__likely(!kept && !asf__some_ahead()))
        return;
    if (kept)
        asf__put_all_back();
    if (!path || !strstr(path, "fdinfo"))
        return;
    asf__settle_input();
    asf__share_all(); /* it may be read again and again */
    asf__stop_keeping();
}
