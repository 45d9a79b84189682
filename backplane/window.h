/* SPDX-License-Identifier: MIT
 *
 * window.h - the current buffer, inline: how much it has, how much room there is,
 * and moving its windows; and what is around a call.  Lock: held, unless the process has one
 * thread, but for asf__begin_call, which takes it.
 */
#ifndef ASF_BACKPLANE_WINDOW_H
#define ASF_BACKPLANE_WINDOW_H

#include "backplane/check.h"
#include "backplane/cios.h"

#pragma GCC visibility push(hidden)

static inline __attribute__((always_inline)) bool asf__is_putting(const struct asf_cios *c) {
    return (c->flags & ASF_PUTTING) != 0;
}

/* The end of the file was met, and stays met (C99). */
static inline bool asf__has_ended(const struct asf_cios *c) {
    return c->flags & ASF_EOF && !(c->flags2 & ASF_FOLLOWS);
}

/* Bytes that the read window has. */
static inline size_t asf__avail(const struct asf_cios *c) {
    return c->read_end > c->read_ptr ? (size_t)(c->read_end - c->read_ptr) : 0;
}

/* The same and, while the window is the backup, those of the window proper. */
static inline size_t asf__unread(const struct asf_cios *c) {
    return asf__avail(c) + (c->flags & ASF_IN_BACKUP ? (size_t)(c->save_end - c->save_base) : 0);
}

/* Bytes that the write window has room for; none where every byte must come by
 * (line buffered, unbuffered, wide). */
static inline size_t asf__room(const struct asf_cios *c) {
    return c->write_end > c->write_ptr ? (size_t)(c->write_end - c->write_ptr) : 0;
}

/* Bytes that the current buffer has room for after the write pointer. */
static inline size_t asf__room_in_buffer(const struct asf_cios *c) {
    return asf__is_putting(c) && c->write_ptr ? (size_t)(c->buf_end - c->write_ptr) : 0;
}

static inline __attribute__((always_inline)) size_t asf__pending(const struct asf_cios *c) {
    return (size_t)(c->write_ptr - c->write_base);
}

/* Whether the window may be used without the lock. */
static inline bool asf__alone(void) {
    return asf__likely(__libc_single_threaded && !asf__counting);
}

static inline void asf__set_read(struct asf_cios *c, char *base, char *p, char *end) {
    c->read_base = base;
    c->read_ptr = p;
    c->read_end = end;
}

/* No room: the next byte comes by asf__overflow. */
static inline void asf__set_write(struct asf_cios *c, char *p) {
    c->write_base = c->write_ptr = c->write_end = p;
}

/* Both windows empty, at the beginning of the current buffer. */
static inline void asf__empty_windows(struct asf_cios *c) {
    asf__set_read(c, c->buf_base, c->buf_base, c->buf_base);
    asf__set_write(c, c->buf_base);
}

/* Shows the room after the write pointer where bytes may be stored without a look. */
static inline void asf__show_room(struct asf_cios *c) {
    bool hidden = c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED) || c->orientation > 0;
    c->write_end = hidden ? c->write_ptr : c->buf_end;
}

/* The file may have been truncated under a mapped window, which then is left for the file as it is
 * now. */
static inline int asf__trim(struct asf_cios *c) {
    return asf__unlikely(c->buffer && c->buffer->truncated) ? c->ops->trim(c) : 0;
}

/* A positional call may have moved the stream: the window and the descriptor follow.  An error: it
 * is not there, and nothing may be read or written. */
static inline int asf__arrive(struct asf_cios *c) {
    return asf__unlikely(c->gate & ASF_MOVED) ? c->ops->arrive(c) : 0;
}

/* glibc looks at the descriptor when it makes a buffer, and where there is none to make a filter of
 * system calls may forbid to look. */
static inline bool asf__may_look_below(const struct asf_cios *c) {
    bool makes_buffer = !c->buffer && (!(c->flags & ASF_UNBUFFERED) || c->orientation > 0);
    return makes_buffer || (c->flags2 & (ASF_NOT_LOOKED_AT | ASF_FOLLOWS)) != ASF_NOT_LOOKED_AT;
}

/* What the stream is on is looked at when it is first used. */
static inline void asf__look_below(struct asf_cios *c) {
    if (asf__unlikely(c->kind == ASF_UNKNOWN) && c->ops->attach && asf__may_look_below(c))
        c->ops->attach(c);
}

/* Both, before a transfer. */
static inline int asf__attach(struct asf_cios *c) {
    asf__look_below(c);
    return asf__arrive(c);
}

/* Whether the offset of read_end is known.  It may be an address, and negative. */
static inline bool asf__knows_offset(const struct asf_cios *c) {
    return !asf__failed(c->offset);
}

/* Around a call of the program's that locks the stream: a thread that is cancelled in between gives
 * the lock back, and not one that the program took. */
static inline void asf__begin_call(struct asf_cios *c) {
    asf__lock(&c->lk);
    asf__check(c);
    c->use = ASF_LOCKED;
}

static inline void asf__end_call(struct asf_cios *c) {
    asf__check(c);
    c->use = ASF_OUTSIDE; /* a call that was left by longjmp did not say so */
    asf__unlock(&c->lk);
}

/* Around a call of a module that may wait: a thread that is cancelled in it knows whether
 * to unlock the stream, and exit leaves the stream alone. */
static inline enum asf_use asf__begin_system_call(struct asf_cios *c) {
    enum asf_use was = c->use;
    c->left = was;
    c->use = ASF_IN_SYSTEM_CALL;
    return was;
}

static inline void asf__end_system_call(struct asf_cios *c, enum asf_use was) {
    c->use = was;
}

#pragma GCC visibility pop

#endif
