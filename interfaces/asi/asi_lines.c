/* SPDX-License-Identifier: MIT
 *
 * asi_lines.c - lines, their fields, and records of a stream in place.
 *
 * salloc_until searches the unread bytes for the delimiter before it allocates a region.  asf_lines
 * allocates all unread bytes, and gives back the incomplete last line before it reads more.  So both wait
 * only for input that they need, and each line is contiguous.
 */
#define _GNU_SOURCE
#include <asf/lines.h>

#include <errno.h>

#include "backplane/backplane.h"
#include "backplane/regions.h"
#include "backplane/window.h"
#include "lib/sys/export.h"
#include "lib/text/scan_kernels.h"

_Static_assert(sizeof((struct asf_lines *)0)->places == ASF_SCAN_PLACES * sizeof(uint16_t), "<asf/lines.h>");

/* Replaces a plain buffer by one with room for the unread bytes and a whole block.  With less room
 * reading takes more calls, from a pipe twice as many.  asf__fill does not do this: it makes room for the
 * wanted bytes only, here one. */
static int enlarge_buffer(struct asf_cios *c, size_t have) {
    const struct asf_buffer *b = c->buffer;
    size_t usual = have > c->block ? have : c->block;
    if (!b || have == 0 || b->release || c->flags & ASF_IN_BACKUP || b->size >= have + c->block)
        return 0;
    return asf__enlarge_buffer(c, 2 * usual);
}

/* Reads more: from a regular file, which never waits, doubles the unread bytes; otherwise one read's
 * result. */
static ssize_t fill_more(struct asf_cios *c, size_t have) {
    if (c->kind == ASF_REGULAR)
        return asf__fill(c, have ? 2 * have : 1, NULL);
    int rc = enlarge_buffer(c, have);
    return rc < 0 ? rc : asf__fill(c, have + 1, NULL);
}

/* Makes all unread bytes in memory contiguous without a system call, by copying pushed-back bytes to the
 * front of the buffer.
 * returns  the number of unread bytes; or an error, which may be an earlier call's. */
static ssize_t gather_unread(struct asf_cios *c) {
    int rc = c->failed ? c->failed : asf__to_bytes(c);
    c->failed = 0;
    if (rc == 0 && asf__is_putting(c))
        rc = -EBADF;
    if (rc < 0)
        return rc;
    size_t have = asf__avail(c);
    return c->flags & ASF_IN_BACKUP && have > 0 ? asf__fill_buffer(c, have) : (ssize_t)have;
}

static size_t line_limit(ssize_t longest) {
    return (size_t)(longest ? longest : ASF_LONGEST_LINE);
}

/* Inline in both exported forms: a call of an exported function goes through the procedure linkage table. */
static inline void *allocate_line(struct asf_cios *c, int delimiter, ssize_t *length) {
    if (*length < 0)
        return asf__no_region(length, -EINVAL);
    size_t longest = line_limit(*length), seen = 0;
    ssize_t have = gather_unread(c);
    while (have >= 0) {
        size_t n = (size_t)have < longest ? (size_t)have : longest;
        const char *from = c->read_ptr + seen;
        const char *found = n > seen ? asf__scan()->find(from, delimiter, n - seen) : NULL;
        if (found) {
            *length = found + 1 - c->read_ptr;
            return asf_u_salloc(c, length);
        }
        if ((size_t)have > longest)
            return asf__no_region(length, -EMSGSIZE);
        seen = n;
        have = fill_more(c, seen);
        if (have >= 0 && (size_t)have <= seen)
            break;
    }
    *length = have;
    return have > 0 ? asf_u_salloc(c, length) : NULL;
}

void *asf_u_salloc_until(struct asf_cios *c, int delimiter, ssize_t *length) {
    return allocate_line(c, delimiter, length);
}

void *asf_salloc_until(struct asf_cios *c, int delimiter, ssize_t *length) {
    asf__begin_call(c);
    void *region = allocate_line(c, delimiter, length);
    asf__end_call(c);
    return region;
}

/* Shortens the region to the bytes before `used`, and gives it back: the stream continues at `used`. */
static int give_back_rest(struct asf_cios *c, char *region, const char *used) {
    ssize_t n = used - region;
    if (!region)
        return 0;
    const char *kept = asf_u_srealloc(c, region, &n);
    int rc = asf_u_sfree(c, region);
    return kept ? rc : (int)n;
}

/* Gives the region back and allocates a new one, which begins at `used` and has more bytes.  An iterator
 * without a region is refused while another iterator holds the unread bytes: it would continue after them.
 *   least   bytes wanted; the region has fewer at the end of the file, or before an error
 *   length  out: the bytes in the new region: all that the window has
 * returns  the new region, or NULL as salloc; -EBUSY: another iterator holds a region. */
static char *next_region(struct asf_cios *c, char *region, const char *used, size_t least, ssize_t *length) {
    char *next = NULL;
    asf__begin_call(c);
    bool refused = c->iterated && !region;
    ssize_t n = refused ? -EBUSY : give_back_rest(c, region, used);
    if (n == 0)
        n = gather_unread(c);
    if (n >= 0 && (size_t)n < least)
        n = (size_t)n + 1 == least ? fill_more(c, (size_t)n) : asf__fill(c, least, NULL);
    *length = n;
    if (n > 0)
        next = asf_u_salloc(c, length);
    if (!refused)
        c->iterated = next;
    asf__end_call(c);
    return next;
}

/* Gives the region back.  Without a region it does not touch the stream, which may be closed already. */
static int end_region(struct asf_cios *c, char *region, const char *used) {
    if (!region)
        return 0;
    asf__begin_call(c);
    int rc = give_back_rest(c, region, used);
    c->iterated = NULL;
    asf__end_call(c);
    return rc;
}

/* --- lines ------------------------------------------------------------------------- */

static void set_region(struct asf_lines *l, char *region, size_t length) {
    l->region = region;
    l->line = l->scanned = region;
    l->end = region + length;
    l->place = l->last = l->places;
    l->bare = 0;
}

void asf_lines_begin(struct asf_lines *l, struct asf_cios *stream, int delimiter, ssize_t longest) {
    l->stream = stream;
    l->delimiter = (unsigned char)delimiter;
    l->longest = line_limit(longest);
    set_region(l, NULL, 0);
}

static const char *no_line(ssize_t *length, ssize_t code) {
    *length = code;
    return NULL;
}

/* Finds the delimiters in the next part of the region.  The part is no longer than the longest line, so only
 * its first line, which may have begun before the part, can be too long.
 * returns  false if that line is too long. */
static bool find_places(struct asf_lines *l) {
    enum { PART = 16 << 10 }; /* stays in the first-level cache until the caller uses it */
    size_t n = (size_t)(l->end - l->scanned), most = l->longest < PART ? l->longest : PART;
    if (n > most)
        n = most;
    size_t found = asf__scan()->places(l->scanned, &n, l->delimiter, l->places);
    if (found && (size_t)(l->scanned + l->places[0] - l->line) >= l->longest)
        return false;
    l->base = l->scanned;
    l->scanned += n;
    l->place = l->places;
    l->last = l->places + found;
    return true;
}

/* Replaces the region by one with more bytes.  At the end of the file or before an error there are no more,
 * and the rest becomes a line without a delimiter.
 * returns  true: there are more; false: *length is the result of asf_lines_next. */
static bool next_part(struct asf_lines *l, ssize_t *length) {
    ssize_t rest = l->end - l->line;
    char *region = next_region(l->stream, l->region, l->line, (size_t)rest + 1, length);
    set_region(l, region, region ? (size_t)*length : 0);
    if (!region)
        return false;
    if (*length > rest) {
        l->scanned += rest;
        return true;
    }
    l->bare = 1;
    l->scanned = l->line = l->end;
    return false;
}

const char *asf_lines_more(struct asf_lines *l, ssize_t *length) {
    while (l->place == l->last) {
        bool short_enough = (size_t)(l->scanned - l->line) <= l->longest;
        if (short_enough && l->scanned < l->end)
            short_enough = find_places(l);
        else if (short_enough && !next_part(l, length))
            return l->region;
        if (!short_enough)
            return no_line(length, -EMSGSIZE);
    }
    return asf_lines_next(l, length);
}

int asf_lines_end(struct asf_lines *l) {
    int rc = end_region(l->stream, l->region, l->line);
    set_region(l, NULL, 0);
    return rc;
}

/* --- records ----------------------------------------------------------------------- */

void asf_fixed_records_begin(struct asf_fixed_records *r, struct asf_cios *stream, size_t size) {
    *r = (struct asf_fixed_records){.stream = stream, .size = size ? size : SIZE_MAX};
}

const void *asf_fixed_records_more(struct asf_fixed_records *r, ssize_t *length) {
    if (r->size > SSIZE_MAX) {
        *length = -EINVAL;
        return NULL;
    }
    r->region = next_region(r->stream, r->region, r->record, r->size, length);
    r->record = r->region;
    r->end = r->region ? r->region + *length : NULL;
    if (!r->region || (size_t)*length >= r->size)
        return r->region ? asf_fixed_records_next(r, length) : NULL;
    r->record = r->end;
    return r->region;
}

int asf_fixed_records_end(struct asf_fixed_records *r) {
    int rc = end_region(r->stream, r->region, r->record);
    r->region = NULL;
    r->record = r->end = NULL;
    return rc;
}

void asf_records_begin(struct asf_fixed_records *r, struct asf_cios *stream, size_t size)
    ALIAS(asf_fixed_records_begin);
const void *asf_records_more(struct asf_fixed_records *r, ssize_t *length) ALIAS(asf_fixed_records_more);
int asf_records_end(struct asf_fixed_records *r) ALIAS(asf_fixed_records_end);

/* --- fields --------------------------------------------------------------------------- */

uint64_t asf_fields_ends(const char *text, size_t n, int separator) {
    return asf__scan()->ends(text, n, separator);
}
