/* SPDX-License-Identifier: MIT
 *
 * window.h - the current buffer, inline: its unread bytes, its room, and moving its windows; and the
 * beginning and end of a call.  Lock: held, or the process has one thread; asf__begin_call takes it.
 */
#ifndef ASF_BACKPLANE_WINDOW_H
#define ASF_BACKPLANE_WINDOW_H

#include "backplane/cios.h"

#pragma GCC visibility push(hidden)

/* asf__check: assert the invariants of a stream on entry and exit of public calls, in builds without NDEBUG
 * (check.c). */
#ifdef NDEBUG
static inline void asf__check(const struct asf_cios *c) {
    (void)c;
}
#else
void asf__check(const struct asf_cios *c);
#endif

static inline __attribute__((always_inline)) bool asf__is_putting(const struct asf_cios *c) {
    return (c->flags & ASF_PUTTING) != 0;
}

/* Whether getc and its kin return the end of the file without trying, as C requires once it was met.
 * clearerr, ungetc, fseek and a positional call clear the flag; asf__seek does not.  A stream with
 * ASF_FOLLOWS tries again.  salloc tries again, and so does fread of a whole buffer, except with
 * ASF_READS_ON. */
static inline bool asf__has_ended(const struct asf_cios *c) {
    return c->flags & ASF_EOF && !(c->flags2 & ASF_FOLLOWS);
}

/* Whether the module fills the read window, or makes room in the write window, in memory of its own or in its
 * own way; else the engine does, by `get` and `put`. */
static inline bool asf__module_fills(const struct asf_cios *c) {
    return c->ops->fill != NULL;
}
static inline bool asf__module_drains(const struct asf_cios *c) {
    return c->ops->drain != NULL;
}

/* Returns the number of unread bytes in the read window. */
static inline size_t asf__avail(const struct asf_cios *c) {
    return c->read_end > c->read_ptr ? (size_t)(c->read_end - c->read_ptr) : 0;
}

/* The same; while the read window is the backup, the unread bytes saved in save_base..save_end count,
 * too. */
static inline size_t asf__unread(const struct asf_cios *c) {
    return asf__avail(c) + (c->flags & ASF_IN_BACKUP ? (size_t)(c->save_end - c->save_base) : 0);
}

/* Returns the room in the write window: 0 where each byte must be checked (line buffered, unbuffered,
 * wide), and on a new stream. */
static inline size_t asf__room(const struct asf_cios *c) {
    return c->write_end > c->write_ptr ? (size_t)(c->write_end - c->write_ptr) : 0;
}

/* Returns the room in the current buffer after the write pointer. */
static inline size_t asf__room_in_buffer(const struct asf_cios *c) {
    return asf__is_putting(c) && c->write_ptr ? (size_t)(c->buf_end - c->write_ptr) : 0;
}

static inline __attribute__((always_inline)) size_t asf__pending(const struct asf_cios *c) {
    return (size_t)(c->write_ptr - c->write_base);
}

static inline void asf__set_read(struct asf_cios *c, char *base, char *p, char *end) {
    c->read_base = base;
    c->read_ptr = p;
    c->read_end = end;
}

/* Empties the write window: the next byte goes to asf__overflow. */
static inline void asf__set_write(struct asf_cios *c, char *p) {
    c->write_base = c->write_ptr = c->write_end = p;
}

/* Makes both windows empty, at the beginning of the current buffer. */
static inline void asf__empty_windows(struct asf_cios *c) {
    asf__set_read(c, c->buf_base, c->buf_base, c->buf_base);
    asf__set_write(c, c->buf_base);
}

/* Sets the write window to the room after the write pointer, if bytes may be stored without a check.  The
 * window of a bulk stream, whose buffer is empty, ends after one block. */
static inline void asf__show_room(struct asf_cios *c) {
    bool hidden = c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED) || c->orientation > 0;
    c->write_end = hidden                                     ? c->write_ptr
                   : asf__unlikely(c->bulk.state == ASF_BULK) ? c->buf_base + c->block
                                                              : c->buf_end;
}

/* If a positional call has moved the stream, sets the window and the descriptor to its offset.  After an
 * error the caller must not read or write. */
static inline int asf__arrive(struct asf_cios *c) {
    return asf__unlikely(c->gate & ASF_MOVED) ? c->ops->arrive(c) : 0;
}

/* Whether attach may call fstat.  The C library calls it when it makes a buffer; where it makes none, a
 * seccomp filter may forbid the call.  With ASF_LOOKS_LATE, attach waits until MUCH input was read, for which
 * the stream may become bulk. */
static inline bool asf__may_look_below(const struct asf_cios *c) {
    enum { MUCH = 64 << 10 };
    if (c->flags2 & ASF_LOOKS_LATE)
        return c->stats.in >= MUCH && c->buffer != &c->single;
    bool makes_buffer = !c->buffer && (!(c->flags & ASF_UNBUFFERED) || c->orientation > 0);
    return makes_buffer || (c->flags2 & (ASF_NOT_LOOKED_AT | ASF_FOLLOWS)) != ASF_NOT_LOOKED_AT;
}

/* At the stream's first use, finds the kind of its file and chooses the module. */
static inline void asf__look_below(struct asf_cios *c) {
    if (asf__unlikely(c->kind == ASF_UNKNOWN) && c->ops->attach && asf__may_look_below(c))
        c->ops->attach(c);
}

/* Calls asf__look_below and asf__arrive before a transfer of bytes. */
static inline int asf__attach(struct asf_cios *c) {
    asf__look_below(c);
    return asf__arrive(c);
}

/* Whether the offset of read_end is known.  In /proc/PID/mem an offset is an address, which may be
 * negative. */
static inline bool asf__knows_offset(const struct asf_cios *c) {
    return !asf__failed(c->offset);
}

/* asf__is_exclusive: whether no other process or stream can have moved the descriptor's offset.  lock: none.
 * asf__share_offset: another process or stream may move it from now on.  lock: none. */
static inline bool asf__is_exclusive(const struct asf_cios *c) {
    return __atomic_load_n(&c->exclusive, __ATOMIC_RELAXED);
}
static inline void asf__share_offset(struct asf_cios *c) {
    if (asf__is_exclusive(c))
        __atomic_store_n(&c->exclusive, false, __ATOMIC_RELAXED);
}

/* Begin and end a call that locks the stream.  If the thread is cancelled in between, asf__cancelled
 * unlocks the stream, unless the program itself had locked it. */
static inline void asf__begin_call(struct asf_cios *c) {
    asf__lock(&c->lk);
    asf__check(c);
    c->use = ASF_LOCKED;
}

static inline void asf__end_call(struct asf_cios *c) {
    asf__check(c);
    c->use = ASF_OUTSIDE; /* a longjmp out of an earlier call has skipped this */
    asf__unlock(&c->lk);
}

/* asf__bulk_streams: the number of bulk streams; atomic.
 * asf__publish_others: before a transfer or a seek, end bulk mode of other streams on the same descriptor. On
 * the same file, it ends that of a stream of stdio only if one of the two streams writes.  Before a put to
 * standard error, it ends that of all output.  It skips a stream on which a call is in progress (bulk.c). */
extern unsigned asf__bulk_streams;
void asf__publish_others_slow(const struct asf_cios *c);
static inline void asf__publish_others(const struct asf_cios *c) {
    if (asf__unlikely(__atomic_load_n(&asf__bulk_streams, __ATOMIC_RELAXED) > 0))
        asf__publish_others_slow(c);
}

/* Enclose `get`, `put`, `get_on` and `put_on`, which may wait; a module's `fill` or `drain` encloses its
 * own system calls, or none.  They record whether asf__cancelled must unlock the stream if the thread is
 * cancelled in the call.  Exit in another thread does not touch the stream meanwhile. */
static inline enum asf_use asf__begin_system_call(struct asf_cios *c) {
    enum asf_use was = c->use;
    c->left = was;
    c->use = ASF_IN_SYSTEM_CALL;
    asf__publish_others(c);
    return was;
}

static inline void asf__end_system_call(struct asf_cios *c, enum asf_use was) {
    c->use = was;
}

#pragma GCC visibility pop

#endif
