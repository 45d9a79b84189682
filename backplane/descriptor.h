/* SPDX-License-Identifier: MIT
 *
 * descriptor.h - descriptors whose offset this process keeps itself, so that a
 * small read needs no system call.  A descriptor is left to the kernel until it is
 * found worth keeping; before anybody else could look at the kernel's offset, the
 * offset is put back there.
 *
 * Only a process of one thread keeps any.  What can come in between is then a
 * signal handler: each change of state is made with signals blocked, and what
 * is done without, the copy out of the view, ends with one instruction that
 * fails when a handler has come by.
 * Layer: backplane.  May include: lib, include/asf.
 */
#ifndef ASF_BACKPLANE_DESCRIPTOR_H
#define ASF_BACKPLANE_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/sys/lock.h"

#pragma GCC visibility push(hidden)

/* The mark of a descriptor.  0: it is left to the kernel.  Below ASF_KEPT: this process
 * has opened it to read, and the mark counts its small reads (with ASF_SMALLEST_ONLY set:
 * the smallest reads alone).  From ASF_KEPT on: it is kept, and the mark says which entry
 * of asf__descriptors is its. */
enum { ASF_MARKS = 1024, ASF_SMALLEST_ONLY = 64, ASF_KEPT = 128, ASF_DESCRIPTORS = 32 };

/* The longest reads that a view serves.  Up to ASF_SMALLEST_READ any view does; longer
 * ones only a view in large pages, since a page fault costs as much as copying some
 * kilobytes. */
enum { ASF_SMALLEST_READ = 1024, ASF_SMALL_READ = 8192 };
/* The largest view.  After ASF_ASTRAY reads out of sequence, a file that is no larger
 * than that is viewed as a whole. */
enum { ASF_LARGEST_VIEW = 2 << 20, ASF_ASTRAY = 64 };
extern uint8_t asf__marks[ASF_MARKS];

static inline unsigned asf__mark(int fd) {
    return asf__likely((unsigned)fd < ASF_MARKS) ? asf__marks[fd] : 0;
}

/* A part of the file as the page cache has it: other writers' changes show. */
struct asf_view {
    const char *base;
    off64_t at;        /* where in the file it begins */
    size_t size;       /* up to and with the proof, where there is one */
    size_t mapped;     /* pages, and a part of one */
    const char *proof; /* a byte that was not zero; it reads as zero once the file is cut before it */
    int watch;         /* its slot in the fault table (lib/sys/fault.h) */
    bool torn;         /* the file was truncated under it */
    char *end;         /* what the fault table asks for; unused */
};

struct asf_descriptor {
    uint64_t state;    /* a generation, and the offset: ASF_OFFSET_BITS */
    off64_t kernel_at; /* the kernel's own offset, or -1 */
    bool busy;         /* a copy out of the view is under way */
    bool used;
    bool in_memory; /* on tmpfs */
    size_t most;    /* larger reads are left to the kernel */
    int fd;
    off64_t size;     /* of the file, when last asked for */
    unsigned served;  /* reads out of views */
    off64_t expected; /* where the next read begins if it is in sequence */
    int run;          /* reads in sequence without a view; below 0: do not try yet */
    int astray;       /* reads out of sequence, up to ASF_ASTRAY */
    size_t reach;     /* size of the next view */
    struct asf_view view;
};

enum { ASF_OFFSET_BITS = 44 };
#define ASF_LARGEST_OFFSET (((uint64_t)1 << ASF_OFFSET_BITS) - 1)

static inline bool asf__wants_all(const struct asf_descriptor *d) {
    return d->astray >= ASF_ASTRAY && d->size <= ASF_LARGEST_VIEW;
}

extern struct asf_descriptor asf__descriptors[ASF_DESCRIPTORS];
extern int asf__kept_count;

static inline struct asf_descriptor *asf__kept(unsigned mark) {
    return &asf__descriptors[mark - ASF_KEPT];
}

static inline uint64_t asf__state(const struct asf_descriptor *d) {
    return __atomic_load_n(&d->state, __ATOMIC_RELAXED);
}

static inline off64_t asf__position(uint64_t state) {
    return (off64_t)(state & ASF_LARGEST_OFFSET);
}

/* asf__exchange: *word becomes `to` if it still is `from`.  One instruction, so a signal
 * handler runs before or after it; no lock prefix, since there are no other threads. */
static inline bool asf__exchange(uint64_t *word, uint64_t from, uint64_t to) {
#ifdef __x86_64__
    bool done;
    __asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(done), "+m"(*word), "+a"(from) : "r"(to) : "memory");
    return done;
#else
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#endif
}

static inline bool asf__move(struct asf_descriptor *d, uint64_t from, uint64_t to) {
    return asf__exchange(&d->state, from, to);
}

static inline bool asf__blocks(uint64_t mask, int sig) {
    return mask >> (sig - 1) & 1;
}

/* asf__mark_descriptor: the descriptor was just opened to read, and may be kept later. */
void asf__mark_descriptor(int fd);
extern int asf__patience; /* so many small reads, by its mark, make a descriptor worth keeping */
/* asf__keep: from now on this process keeps the offset.  The caller holds signals, and
 * has checked that the descriptor can be kept.  NULL: all entries are taken. */
struct asf_descriptor *asf__keep(int fd, off64_t at);
/* asf__next_state: the state for a position, of a new generation. */
uint64_t asf__next_state(off64_t at);

/* asf__put_all_back: set the kernel's offsets to where the program thinks they are. */
void asf__put_all_back(void);
/* asf__before_open: offsets are put back, for the path may lead to where they can be
 * seen (/proc/self/fdinfo). */
void asf__before_open(const char *path);
/* Counts the calls by which a descriptor may have come to stand for another file;
 * ASF_FD_UNKNOWN once they cannot be counted any more, as with several threads. */
#define ASF_FD_UNKNOWN UINT32_MAX
extern uint32_t asf__fd_changes;

/* When two threads are here at once, one change may be counted: that is enough. */
static inline void asf__fd_changed(void) {
    uint32_t n = __atomic_load_n(&asf__fd_changes, __ATOMIC_RELAXED);
    if (n != ASF_FD_UNKNOWN)
        __atomic_store_n(&asf__fd_changes, n + 1, __ATOMIC_RELAXED);
}

/* asf__unkeep: put the offset back and leave the descriptor to the kernel; `for_good`:
 * never keep it again, since another process or descriptor may share its offset.
 * asf__unkeep_all: all of them, for good. */
void asf__unkeep(int fd, bool for_good);
void asf__unkeep_all(void);
/* asf__drop_views: a file is about to become shorter.  The next read of each descriptor
 * asks the kernel, and may make a new view. */
void asf__drop_views(void);
/* Numbers of pages, plus one, into which the kernel has copied: a read() into them does
 * not fail with EFAULT. */
enum { ASF_WRITABLE = 16 };
extern uintptr_t asf__writable[ASF_WRITABLE];
/* asf__forget_writable: memory is about to be unmapped or protected. */
void asf__forget_writable(void);
/* asf__stop_keeping: as asf__unkeep_all, and none is kept from now on. */
void asf__stop_keeping(void);
/* asf__forget_descriptor: the descriptor is closed, so its offset is not put back. */
void asf__forget_descriptor(int fd);
/* asf__before_shared_memory: a vfork is next, whose child has this process's memory but
 * descriptors of its own.  asf__after_shared_memory: this process is not such a child. */
void asf__before_shared_memory(void);
void asf__after_shared_memory(void);
/* asf__has_others_memory: whether this process is the child of such a vfork. */
bool asf__has_others_memory(void);

/* In the streams layer (streams/view.c).  asf__keep_if_worth: keep a descriptor on which
 * reads of n bytes are made, if that pays and nobody can tell the difference; else clear
 * its mark and return NULL.
 * asf__next_view: a view from `at` on, `further` when it is in sequence with the
 * last one; the state is a new one afterwards, and the offset the same. */
struct asf_descriptor *asf__keep_if_worth(int fd, size_t n);
bool asf__next_view(struct asf_descriptor *d, int fd, uint64_t state, off64_t at, size_t n, bool further);
/* asf__drop_view: a view that is being copied from is left mapped. */
void asf__drop_view(struct asf_descriptor *d);

#pragma GCC visibility pop

#endif
