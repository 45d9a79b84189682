/* SPDX-License-Identifier: MIT
 *
 * stdio_cios.h - shared by the files of the stdio interface: a FILE as a CIOS, and the lock around a call.
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
#include "lib/sys/copy.h"
#include "lib/sys/export.h"
#include "lib/sys/machine.h"
#include "lib/sys/race_detector.h"

/* For functions so short that their speed depends on their offset in a cache line. */
#define CACHE_LINE_ALIGNED __attribute__((aligned(64)))

/* Defines a variadic function; `call` uses the arguments after `format` as the va_list `list`, or as `ap`. */
#define ASF_VARIADIC(name, params, call)                                                                     \
    int name params;                                                                                         \
    EXPORT int name params {                                                                                 \
        va_list list;                                                                                        \
        va_start(list, format);                                                                              \
        asf__arguments ap __attribute__((unused)) = ASF_ARGUMENTS(list);                                     \
        int r = call;                                                                                        \
        va_end(list);                                                                                        \
        return r;                                                                                            \
    }

/* Whether the window may be used without the lock, because the process has one thread.  Otherwise getc and
 * putc try a restartable sequence (lib/sys/restart.h), and then lock the stream. */
static inline bool asf__alone(void) {
    return asf__likely(__libc_single_threaded && !asf__counting);
}

static inline struct asf_cios *asf__cios(FILE *f) {
    return (struct asf_cios *)(void *)f;
}

static inline FILE *asf__file(struct asf_cios *c) {
    return (FILE *)(void *)c;
}

static inline void asf__set_errno(int code) {
    if (code != -ASF_NO_ERRNO)
        errno = -code;
}

/* asf__error: set errno and the error flag.  returns  EOF.
 * asf__output_error: set errno alone, since the backplane has set the flag where a write failed.  returns
 * EOF. */
static inline int asf__output_error(int code) {
    asf__set_errno(code);
    return EOF;
}
static inline int asf__error(struct asf_cios *c, int code) {
    c->flags |= ASF_ERR;
    return asf__output_error(code);
}
#include "interfaces/stdio/libc.h"

#pragma GCC visibility push(hidden)

/* The bits of flags2 that make a stream move its bytes as libc does. */
enum {
    ASF_AS_LIBC = (ASF_LIBC(puts_whole) ? ASF_PUTS_WHOLE : 0) |
                  (ASF_LIBC(seek_asks_kernel) ? ASF_SEEKS_ANEW : 0) |
                  (ASF_LIBC(reads_on) ? ASF_READS_ON : 0) | (ASF_LIBC(cancels) ? 0 : ASF_NOT_CANCELLED)
};

/* asf__reported_error: the code that a failed call reports; -ASF_NO_ERRNO if the stream refuses the direction
 * and libc sets no errno then.  flag: ASF_NO_READS or ASF_NO_WRITES, by the direction of the call. */
static inline int asf__reported_error(const struct asf_cios *c, int code, int flag) {
    return !ASF_LIBC(refuses_aloud) && code == -EBADF && c->flags & flag ? -ASF_NO_ERRNO : code;
}

/* Whether the program does its own locking.  No other thread changes this flag during a call. */
ASF_RACY static inline bool asf__user_lock(const struct asf_cios *c) {
    return asf__unlikely(c->flags & ASF_USER_LOCK);
}

/* asf__enter, asf__leave: lock the stream around one call, unless the program does its own locking. */
static inline void asf__enter(struct asf_cios *c) {
    if (asf__user_lock(c))
        return;
    if (!asf__is_own_object(c)) {
        asf__other_lock(c);
        return;
    }
    asf__begin_call(c);
}

static inline void asf__leave(struct asf_cios *c) {
    const bool ours = asf__is_own_object(c);
    if (ours) {
        asf__check(c);
        c->use = ASF_OUTSIDE; /* longjmp out of a call leaves it set */
    }
    if (asf__user_lock(c))
        return;
    if (ours)
        asf__unlock(&c->lk);
    else
        asf__other_unlock(c);
}

/* asf__try_biased_lock: take the lock if it is biased to this thread; asf__bias_leave releases it.  The test
 * asf__ours comes first, since a FILE of libc's own has no `holder`. */
static inline bool asf__try_biased_lock(struct asf_cios *c) {
    return asf__ours(c) && !asf__counting && !asf__user_lock(c) &&
           __atomic_load_n(&c->lk.holder, __ATOMIC_RELAXED) == asf__self() && asf__bias_enter(&c->lk);
}

static inline void asf__count(struct asf_cios *c) {
    if (asf__unlikely(asf__counting) && asf__is_own_object(c))
        c->stats.calls++;
}

/* ASF_LOCKED: a call with the stream locked; `hold` takes the lock if it is biased to this thread
 * (asf__try_biased_lock, asf__try_biased_wide_lock). */
#define ASF_LOCKED(c, hold, call)                                                                            \
    (__extension__({                                                                                         \
        __typeof__(call) result_;                                                                            \
        if (hold(c)) {                                                                                       \
            (c)->use = ASF_LOCKED;                                                                           \
            result_ = call;                                                                                  \
            (c)->use = ASF_OUTSIDE;                                                                          \
            asf__bias_leave(&(c)->lk);                                                                       \
        } else {                                                                                             \
            asf__enter(c);                                                                                   \
            asf__count(c);                                                                                   \
            result_ = call;                                                                                  \
            asf__leave(c);                                                                                   \
        }                                                                                                    \
        result_;                                                                                             \
    }))

/* ASF_UNLOCKED: a call of an _unlocked function, for which the program holds the lock. */
#define ASF_UNLOCKED(c, call)                                                                                \
    (__extension__({                                                                                         \
        const enum asf_use was_ = asf__is_own_object(c) ? (c)->use : ASF_UNLOCKED;                           \
        if (was_ == ASF_OUTSIDE)                                                                             \
            (c)->use = ASF_UNLOCKED;                                                                         \
        __typeof__(call) result_ = call;                                                                     \
        if (asf__is_own_object(c))                                                                           \
            (c)->use = was_;                                                                                 \
        result_;                                                                                             \
    }))

/* asf__orient_to_bytes: make an unoriented stream a byte stream; returns false if the stream is wide. */
static inline bool asf__orient_to_bytes(struct asf_cios *c) {
    if (c->orientation == 0)
        c->orientation = -1;
    return c->orientation < 0;
}

/* asf__stdio_start: link the three standard streams and the sentinel, once.  The library's constructor calls
 * it.  Constructors that run earlier may use stdio, too: a standard stream calls it when it is attached, at
 * its first transfer, and the functions that open or reopen a stream call it. */
void asf__stdio_start(void);

/* asf__forget_error: clear the error flag; returns its old value.
 * asf__has_failed: whether an error occurred since asf__forget_error; sets the flag again if `old` has it. */
static inline int asf__forget_error(struct asf_cios *c) {
    int old = c->flags & ASF_ERR;
    c->flags &= ~ASF_ERR;
    return old;
}

static inline bool asf__has_failed(struct asf_cios *c, int old) {
    bool failed = c->flags & ASF_ERR;
    c->flags |= old;
    return failed;
}

/* asf__underflow: fill an empty read window; returns 0, or EOF: there are no bytes, or an error.
 * asf__uflow: fill the window, and take and return its first byte; EOF as above.
 * asf__before_input: `before` of asf__fill: on glibc, flushes a line-buffered stdout for a stream that is
 * line buffered or unbuffered.  returns  whether to read: getc and its kin return EOF without trying once
 * they met the end of the file. */
int asf__underflow(struct asf_cios *c);
static inline int asf__uflow(struct asf_cios *c) {
    return asf__underflow(c) == EOF ? EOF : (unsigned char)*c->read_ptr++;
}
bool asf__before_input(struct asf_cios *c);
/* asf__flush_stdout_before: on glibc, flush a line-buffered stdout, before `reader` gets input that is
 * line buffered (a terminal) or unbuffered. */
void asf__flush_stdout_before(struct asf_cios *reader);
/* asf__put_char: put a byte for which the window has no room; EOF: flush. */
int asf__put_char(struct asf_cios *c, int ch);
int asf__unget(struct asf_cios *c, int ch);
/* asf__put_bytes: put n bytes by the stream's buffering mode; returns how many; after an error libc's
 * count, or (size_t)EOF, for which fwrite returns its whole count.  fwrite calls it only if the write
 * window has no room for the bytes. */
size_t asf__put_bytes(struct asf_cios *c, const void *p, size_t n);
size_t asf__get_bytes(struct asf_cios *c, void *p, size_t n);
/* asf__flush_stream: fflush() of one stream; fails with EBUSY while regions hold output back.
 * asf__replace_buffer: make p[0..size) the buffer; p NULL: make the stream unbuffered.  Returns false on
 * failure. */
int asf__flush_stream(struct asf_cios *c);
bool asf__replace_buffer(struct asf_cios *c, char *p, size_t size);
/* asf__purge: discard buffered input and output (__fpurge). */
void asf__purge(struct asf_cios *c);
/* asf__open_on_pipe: fdopen() of a descriptor of ours, whose mode is known. */
FILE *asf__open_on_pipe(int fd, int access);
/* asf__set_libc_buffering: give a new stream libc's buffer size: BUFSIZ, or the file's st_blksize if `attach`
 * finds that smaller.  Unless an option asks for more, the stream examines its descriptor's file only when
 * libc would. */
void asf__set_libc_buffering(struct asf_cios *c);
/* asf__tell_file: asf__tell, with libc's error for a device without an offset. */
off64_t asf__tell_file(struct asf_cios *c);
int asf__pclose_child(pid_t child);
/* asf__area_close: fmemopen's close callback, which also identifies a stream of fmemopen. */
int asf__area_close(void *cookie);
/* asf__flush_all: fflush(NULL): flush our streams, each with its lock, then libc's chain; puts what regions
 * do not hold back, and returns 0.
 * asf__flush_at_exit: flush all streams, newest first; glibc flushes its standard streams itself, after all
 * others.  It waits a tenth of a second for a lock, then goes on without it.  It skips a stream on which
 * another thread is in a system call.  Returns 0 or EOF.
 * asf__finish_all: abandon the output regions in use, and put the rest.  Set the offset of each descriptor
 * that libc would set to where the program has read, even if other processes share it.  Report the
 * statistics. */
int asf__flush_all(void);
int asf__flush_at_exit(void);
void asf__finish_all(void);
/* asf__is_standard: whether c is one of the three standard streams. */
extern struct asf_cios asf__stdin ASF_STANDARD_VISIBILITY, asf__stdout ASF_STANDARD_VISIBILITY,
    asf__stderr ASF_STANDARD_VISIBILITY;
static inline bool asf__is_standard(const struct asf_cios *c) {
    return c == &asf__stdin || c == &asf__stdout || c == &asf__stderr;
}

#pragma GCC visibility pop

#endif
