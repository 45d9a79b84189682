/* SPDX-License-Identifier: MIT
 *
 * libc_buffer.c - where libc's input buffer would lie in the file.  Ours is
 * larger; but the offset that others see, what a seek reads anew and where in
 * its buffer output begins follow from libc's, and so all that is told of
 * these.  Calls that move libc's buffer by more than reading on note it in
 * `libc`; reading on is not noted, but worked out when it matters.
 * Layer: backplane.  May include: backplane, lib.
 */
#define _GNU_SOURCE
#include "backplane/backplane.h"

void asf__libc_loaded(struct asf_cios *c, off64_t base) {
    off64_t end = base + (off64_t)c->block;
    c->libc = (struct asf_libc_buffer){base, base, end < c->offset ? end : c->offset};
}

void asf__libc_begins_here(struct asf_cios *c) {
    asf__libc_orient(c);
    c->libc = asf__libc_buffer(c);
    c->libc.first = asf__read_position(c);
}

bool asf__step_back_slow(struct asf_cios *c) {
    bool known = !(c->flags & ASF_IN_BACKUP) && c->offset >= 0;
    if (known && asf__read_position(c) == c->libc.first)
        return false;
    c->read_ptr--;
    if (known)
        asf__looked_ahead(c);
    return true;
}

void asf__libc_purged(struct asf_cios *c) {
    asf__libc_orient(c);
    struct asf_libc_buffer b = asf__libc_buffer(c);
    off64_t dropped = b.end - asf__read_position(c);
    c->libc = (struct asf_libc_buffer){b.base + dropped, b.first + dropped, b.end};
}

void asf__libc_moved(struct asf_cios *c, off64_t distance) {
    c->libc.base += distance;
    c->libc.first += distance;
    c->libc.end += distance;
}

/* Whole blocks go past libc's buffer, and were noted when they were read. */
void asf__libc_orient(struct asf_cios *c) {
    if (c->orientation == 0 && c->regular && !c->own && c->offset >= 0 && !asf__is_putting(c) &&
        asf__read_position(c) > c->libc.end)
        c->orientation = -1;
}

bool asf__libc_is_empty(const struct asf_cios *c) {
    if (asf__is_putting(c) || c->offset < 0 || c->flags & ASF_IN_BACKUP)
        return c->read_base == c->read_end && !asf__pending(c);
    struct asf_libc_buffer libc = asf__libc_buffer(c);
    return libc.first == libc.end;
}

off64_t asf__libc_offset(const struct asf_cios *c) {
    return asf__libc_buffer(c).end;
}

size_t asf__libc_into(const struct asf_cios *c) {
    if (c->offset < 0 && c->flags & ASF_IN_BACKUP)
        return 0;
    if (c->offset < 0)
        return asf__in_block(c, (uint64_t)(c->read_ptr - c->read_base));
    off64_t into = asf__read_position(c) - asf__libc_buffer(c).base;
    return into > 0 && into != (off64_t)c->block ? (size_t)into : 0;
}

off64_t asf__libc_direct_end(const struct asf_cios *c, size_t n) {
    size_t pushed = c->flags & ASF_IN_BACKUP ? asf__avail(c) : 0;
    if (!c->regular || c->own || c->offset < 0 || n < c->block + pushed)
        return 0;
    n -= pushed;
    off64_t from = asf__libc_offset(c);
    size_t have = (size_t)(from - asf__read_position(c));
    if (n < have || n - have < c->block)
        return 0;
    return from + (off64_t)(n - have - (c->block >= 128 ? asf__in_block(c, n - have) : 0));
}

void asf__libc_read_directly(struct asf_cios *c, off64_t end) {
    if (end != 0 && c->offset >= 0 && asf__read_position(c) >= end)
        asf__libc_empty_at(c, end);
}

bool asf__libc_takes_blocks(struct asf_cios *c, size_t n) {
    off64_t past = asf__libc_direct_end(c, n);
    if (c->orientation == 0 && past != asf__read_position(c) + (off64_t)n)
        return false;
    if (past)
        asf__libc_empty_at(c, past);
    return true;
}
