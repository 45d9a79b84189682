/* SPDX-License-Identifier: MIT
 *
 * stdio_cios.h - what the files of the stdio interface share: a FILE seen as a
 * CIOS, the jump table that libc's inside calls, and the lock around a call.
 *
 * A FILE that libc made itself (setmntent, a wide stream, fopen with ccs=) has
 * another table: it is served through its window and that table, as libc's own
 * code would.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#ifndef ASF_INTERFACES_STDIO_CIOS_H
#define ASF_INTERFACES_STDIO_CIOS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <features.h>
#undef __USE_EXTERN_INLINES /* these files define the functions themselves */
#undef __USE_FORTIFY_LEVEL
#define __USE_FORTIFY_LEVEL 0
#include <errno.h>
#include <stdio.h>

#include "backplane/backplane.h"

#define EXPORT      __attribute__((visibility("default")))
#define ALIAS(name) __attribute__((visibility("default"), alias(#name), copy(name)))

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
    int (*showmanyc)(struct asf_cios *);
    void (*imbue)(struct asf_cios *, void *);
};

extern void _IO_flockfile(FILE *);
extern void _IO_funlockfile(FILE *);

#pragma GCC visibility push(hidden)

extern const struct asf_jumps asf__jumps;

static inline struct asf_cios *asf__cios(FILE *f) {
    return (struct asf_cios *)(void *)f;
}

static inline FILE *asf__file(struct asf_cios *c) {
    return (FILE *)(void *)c;
}

static inline bool asf__ours(const struct asf_cios *c) {
    return asf__likely(c->vtable == &asf__jumps);
}

static inline const struct asf_jumps *asf__jump(const struct asf_cios *c) {
    return c->vtable;
}

/* The lock of one call; none when the program does its own locking. */
static inline void asf__enter(struct asf_cios *c) {
    if (asf__unlikely(c->flags & ASF_USER_LOCK))
        return;
    if (asf__likely(c->flags2 & ASF_OURS))
        asf__lock(&c->lk);
    else
        _IO_flockfile(asf__file(c));
}

static inline void asf__leave(struct asf_cios *c) {
    if (asf__unlikely(c->flags & ASF_USER_LOCK))
        return;
    if (asf__likely(c->flags2 & ASF_OURS))
        asf__unlock(&c->lk);
    else
        _IO_funlockfile(asf__file(c));
}

/* asf__hold: take the lock if it is biased to this thread; leave by
 * asf__bias_leave.  A FILE of libc's own is never biased: its bytes where ours
 * has the holder are not looked at. */
static inline bool asf__hold(struct asf_cios *c) {
    return asf__ours(c) && !asf__counting && !(c->flags & ASF_USER_LOCK) &&
           __atomic_load_n(&c->lk.holder, __ATOMIC_RELAXED) == asf__self() && asf__bias_enter(&c->lk);
}

static inline void asf__count(struct asf_cios *c) {
    if (asf__unlikely(asf__counting) && c->flags2 & ASF_OURS)
        c->stats.calls++;
}

/* Make the stream a byte stream; false when it is a wide one. */
static inline bool asf__bytes(struct asf_cios *c) {
    if (c->orientation == 0)
        c->orientation = -1;
    return c->orientation < 0;
}

/* asf__stdio_start: link the three standard streams and the sentinel; called
 * by the constructor and by whoever comes earlier. */
extern bool asf__stdio_started;
void asf__stdio_start(void);

/* A callback of the program failed and said nothing in errno: nor do we. */
enum { ASF_NO_ERRNO = 4095 };

static inline void asf__set_errno(int code) {
    if (code != -ASF_NO_ERRNO)
        errno = -code;
}

/* asf__error: set errno and the error flag; returns EOF. */
int asf__error(struct asf_cios *c, int code);
/* asf__underflow: make the read window non-empty; EOF when it cannot be. */
int asf__underflow(struct asf_cios *c);
int asf__uflow(struct asf_cios *c);
int asf__overflow(struct asf_cios *c, int ch);
int asf__pushback(struct asf_cios *c, int ch);
/* asf__put_bytes: n bytes with the buffering mode obeyed; returns how many. */
size_t asf__put_bytes(struct asf_cios *c, const void *p, size_t n);
size_t asf__get_bytes(struct asf_cios *c, void *p, size_t n);
/* asf__flush_stream: fflush() of one stream; asf__set_buffer: setvbuf's part. */
int asf__flush_stream(struct asf_cios *c);
int asf__set_buffer(struct asf_cios *c, size_t size);
/* asf__close_stream: fclose() of a stream of ours; the object is gone. */
int asf__close_stream(struct asf_cios *c);
int asf__pclose_child(pid_t child);
int asf__vfprintf(struct asf_cios *c, const char *format, va_list ap, int fortify);
/* asf__flush_all: fflush(NULL): ours, each with its lock, then what libc has
 * on its chain. */
int asf__flush_all(void);
bool asf__is_standard(const struct asf_cios *c);

/* 1 to 64 bytes, which a call of memcpy would make twice as dear. */
static inline __attribute__((always_inline)) void asf__copy_short(char *to, const char *from, size_t n) {
    typedef unsigned long long word8 __attribute__((aligned(1), may_alias));
    typedef unsigned int word4 __attribute__((aligned(1), may_alias));
    typedef unsigned short word2 __attribute__((aligned(1), may_alias));
    typedef long long word16 __attribute__((vector_size(16), aligned(1), may_alias));
    if (n <= 16) {
        if (n >= 8) {
            word8 a = *(const word8 *)from, b = *(const word8 *)(from + n - 8);
            *(word8 *)to = a;
            *(word8 *)(to + n - 8) = b;
        } else if (n >= 4) {
            word4 a = *(const word4 *)from, b = *(const word4 *)(from + n - 4);
            *(word4 *)to = a;
            *(word4 *)(to + n - 4) = b;
        } else if (n >= 2) {
            word2 a = *(const word2 *)from, b = *(const word2 *)(from + n - 2);
            *(word2 *)to = a;
            *(word2 *)(to + n - 2) = b;
        } else {
            *to = *from;
        }
    } else if (n <= 32) {
        word16 a = *(const word16 *)from, b = *(const word16 *)(from + n - 16);
        *(word16 *)to = a;
        *(word16 *)(to + n - 16) = b;
    } else {
        word16 a = *(const word16 *)from, b = *(const word16 *)(from + 16);
        word16 y = *(const word16 *)(from + n - 32), z = *(const word16 *)(from + n - 16);
        *(word16 *)to = a;
        *(word16 *)(to + 16) = b;
        *(word16 *)(to + n - 32) = y;
        *(word16 *)(to + n - 16) = z;
    }
}

static inline void asf__copy(char *to, const char *from, size_t n) {
    if (n - 1 < 64)
        asf__copy_short(to, from, n);
    else if (n > 0) /* no bytes may come with no memory, which memcpy must not see */
        memcpy(to, from, n);
}

#pragma GCC visibility pop

#endif
