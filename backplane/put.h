/* SPDX-License-Identifier: MIT
 *
 * put.h - put bytes by the module's `put`, inline: after a system call each return from a function costs some
 * 7 ns.  The engine's own header, as engine.h.
 */
#ifndef ASF_BACKPLANE_PUT_H
#define ASF_BACKPLANE_PUT_H

#include <errno.h>

#include "backplane/engine.h"

#pragma GCC visibility push(hidden)

/* Puts p[0..n) and more[0..size), in as many calls as the module needs; returns how many bytes were put. */
static inline __attribute__((always_inline)) size_t asf__put_both(struct asf_cios *c, const char *p, size_t n,
                                                                  const char *more, size_t size, int *error) {
    size_t done = 0;
    if (asf__unlikely(c->flags2 & ASF_LINES_AT_FIRST)) {
        c->flags2 &= ~ASF_LINES_AT_FIRST;
        c->flags &= ~ASF_LINE_BUF;
    }
    *error = asf__go_to_output(c);
    while (*error == 0 && done < n + size) {
        enum asf_use was = asf__begin_system_call(c);
        ssize_t r = size == 0  ? c->ops->put(c, p + done, n - done)
                    : done < n ? c->ops->put_on(c, p + done, n - done, more, size)
                               : c->ops->put(c, more + (done - n), n + size - done);
        asf__end_system_call(c, was);
        if (r > 0)
            done += (size_t)r;
        else
            *error = r < 0 ? (int)r : -EIO;
        if (r <= 0)
            c->flags |= ASF_ERR;
    }
    if (asf__knows_offset(c))
        c->offset += (off64_t)done;
    return done;
}

static inline __attribute__((always_inline)) size_t asf__put_to_module(struct asf_cios *c, const char *p,
                                                                       size_t n, int *error) {
    return asf__put_both(c, p, n, NULL, 0, error);
}

/* Records that the output before `from` has been put. */
static inline void asf__note_put_up_to(struct asf_cios *c, char *from) {
    c->write_base = from;
    asf__set_read(c, from, from, from);
}

/* Whether asf__go_to_output has failed to move the descriptor. */
static inline bool asf__is_stuck(const struct asf_cios *c) {
    return c->read_end != c->write_base && !(c->flags & ASF_APPENDING);
}

/* Moves the descriptor past n bytes that could not be put to a file, so that the next bytes are not put
 * in their place.  The streams that stdio opens have no put_at: there the next bytes take their place, which
 * POSIX allows. */
bool asf__pass_over(struct asf_cios *c, size_t n);

/* Puts n bytes.  Bytes that fail are dropped, which POSIX allows, and the program gets the error once.
 * They stay pending if the descriptor cannot be moved to their offset or past it.  Returns how many bytes
 * are put or dropped. */
static inline __attribute__((always_inline)) size_t asf__put_or_lose(struct asf_cios *c, const char *p,
                                                                     size_t n, int *error) {
    size_t done = asf__put_to_module(c, p, n, error);
    bool stays = *error && ((done == 0 && asf__is_stuck(c)) || !asf__pass_over(c, n - done));
    return stays ? done : n;
}

#pragma GCC visibility pop

#endif
