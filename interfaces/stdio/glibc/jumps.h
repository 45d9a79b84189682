/* SPDX-License-Identifier: MIT
 *
 * jumps.h - glibc's table of a stream's functions.  A FILE that libc made has its own table, and so has a
 * wide stream of ours.
 */
#ifndef ASF_INTERFACES_STDIO_JUMPS_H
#define ASF_INTERFACES_STDIO_JUMPS_H

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* glibc's struct _IO_jump_t. */
struct asf_jumps {
    size_t unused[2];
    void (*finish)(struct asf_cios *, int);
    int (*overflow)(struct asf_cios *, int);
    int (*underflow)(struct asf_cios *);
    int (*uflow)(struct asf_cios *);
    int (*pbackfail)(struct asf_cios *, int);
    size_t (*xsputn)(struct asf_cios *, const void *, size_t);
    size_t (*xsgetn)(struct asf_cios *, void *, size_t);
    off64_t (*seekoff)(struct asf_cios *, off64_t, int, int);
    off64_t (*seekpos)(struct asf_cios *, off64_t, int);
    struct asf_cios *(*setbuf)(struct asf_cios *, char *, ssize_t);
    int (*sync)(struct asf_cios *);
    int (*doallocate)(struct asf_cios *);
    ssize_t (*read)(struct asf_cios *, void *, ssize_t);
    ssize_t (*write)(struct asf_cios *, const void *, ssize_t);
    off64_t (*seek)(struct asf_cios *, off64_t, int);
    int (*close)(struct asf_cios *);
    int (*stat)(struct asf_cios *, void *);
    void *unused_by_c[2]; /* for C++ streams on a FILE, which libstdc++ has not had since GCC 3 */
};

/* Our tables, of byte streams and of wide streams. */
extern const struct asf_jumps asf__jumps, asf__wide_jumps;

static inline const struct asf_jumps *asf__jump(const struct asf_cios *c) {
    return c->vtable;
}

/* libc's own code has locked the stream, without regard to the lock's bias.  If the lock is biased to another
 * thread, remove the bias. */
static inline void asf__remove_foreign_bias(struct asf_cios *c) {
    if (asf__unlikely(c->lk.holder && c->lk.holder != asf__self()))
        asf__unbias(&c->lk);
}

/* ASF_JUMP: a call by the jump table: from inside libc, which has locked the stream and unlocks it; or from
 * our own code. */
#define ASF_JUMP(c, call)                                                                                    \
    (__extension__({                                                                                         \
        __typeof__(call) made_;                                                                              \
        asf__remove_foreign_bias(c);                                                                         \
        asf__count(c);                                                                                       \
        asf__tell_acquired(&(c)->lk);                                                                        \
        made_ = ASF_UNLOCKED(c, call);                                                                       \
        asf__tell_released(&(c)->lk);                                                                        \
        made_;                                                                                               \
    }))

/* A function's result for libc: r; or -1, with errno, if r is -errno. */
static inline off64_t asf__jump_result(off64_t r) {
    if (!asf__failed(r))
        return r;
    asf__set_errno((int)r);
    return -1;
}

/* The functions that are in both tables. */
int asf__jump_doallocate(struct asf_cios *c);
ssize_t asf__jump_read(struct asf_cios *c, void *p, ssize_t n);
ssize_t asf__jump_write(struct asf_cios *c, const void *p, ssize_t n);
off64_t asf__jump_seek(struct asf_cios *c, off64_t offset, int whence);
int asf__jump_close(struct asf_cios *c);
int asf__jump_stat(struct asf_cios *c, void *st);

#define ASF_COMMON_JUMPS                                                                                     \
    .doallocate = asf__jump_doallocate, .read = asf__jump_read, .write = asf__jump_write,                    \
    .seek = asf__jump_seek, .close = asf__jump_close, .stat = asf__jump_stat

#pragma GCC visibility pop

#endif
