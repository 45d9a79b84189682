/* SPDX-License-Identifier: MIT
 *
 * regions.c - the ASI's regions that the current buffer cannot serve (the slow
 * side of the paper's Figure 4), and those that threads of one stream read for
 * themselves.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/parts.h"

#include <errno.h>

#include "lib/sys/syscalls.h"

/* What a thread reads for itself at least. */
enum { PIECE_LEAST = 64 << 10 };

static void *grant(struct asf_cios *c, struct asf_buffer *b, char **ptr, size_t n, ssize_t *length) {
    char *p = *ptr;
    b->refs++;
    *ptr += n;
    asf__note_region(c, p, n);
    *length = (ssize_t)n;
    return p;
}

void *asf__u_salloc_slow(struct asf_cios *c, ssize_t *length, bool some) {
    c->stats.calls++;
    c->stats.slow++;
    if (*length <= 0)
        return asf__no_region(length, -EINVAL);
    size_t want = (size_t)*length;
    int rc = c->failed;
    c->failed = 0;
    if (rc < 0)
        return asf__no_region(length, rc);
    if (asf__is_putting(c) || c->flags & ASF_NO_READS) {
        rc = asf__drain(c, want);
        return rc < 0 ? asf__no_region(length, rc) : grant(c, c->out, &c->write_ptr, want, length);
    }
    if (c->flags & ASF_IN_BACKUP && asf__avail(c) == 0)
        asf__free_backup(c);
    ssize_t n = asf__fill(c, some && !(c->flags & ASF_IN_BACKUP) ? 1 : want);
    if (n <= 0)
        return asf__no_region(length, n);
    return grant(c, c->in, &c->read_ptr, (size_t)n < want ? (size_t)n : want, length);
}

/* --- pieces, which their threads read themselves ------------------------------ */

static bool may_take(const struct asf_cios *c, size_t want) {
    return !__libc_single_threaded && c->own && c->chosen && c->ops->get_at && want >= PIECE_LEAST &&
           !asf__is_putting(c) && !(c->flags & (ASF_IN_BACKUP | ASF_NO_READS)) && asf__avail(c) == 0 &&
           c->offset >= 0 && !c->failed;
}

/* The piece is the whole current buffer, and no byte before its end
 * can be sought back to: they are still to come. */
static void show_piece(struct asf_cios *c, struct asf_buffer *b, size_t n) {
    if (c->in)
        asf__buffer_retire(c, c->in);
    b->refs = 1;
    c->in = b;
    c->buf_end = b->base + b->size;
    c->buf_base = c->read_base = c->read_ptr = c->read_end = b->base + n;
    asf__note_region(c, b->base, n);
}

bool asf__take_piece(struct asf_cios *c, size_t want, struct asf_piece *piece) {
    if (!may_take(c, want))
        return false;
    size_t n = asf__file_has(c, want < ASF__PIECE ? want : ASF__PIECE);
    struct asf_buffer *b = n > 0 ? asf__buffer_spare(c) : NULL;
    if (!b)
        return false;
    *piece = (struct asf_piece){b->base, n, c->offset};
    c->offset += (off64_t)n;
    c->ops->seek(c, c->offset, SEEK_SET);
    show_piece(c, b, n);
    c->stats.calls++;
    c->stats.slow++;
    c->stats.syscalls++;
    c->stats.in += n;
    return true;
}

/* Nothing has been taken since: the stream goes on behind the bytes there are. */
static bool go_back(struct asf_cios *c, const struct asf_piece *piece, size_t got) {
    const char *end = piece->p + piece->n;
    off64_t at = piece->at + (off64_t)got;
    if (asf__is_putting(c) || c->flags & ASF_IN_BACKUP || !c->in || c->in->base != piece->p ||
        c->read_ptr != end || c->read_end != end || c->offset != piece->at + (off64_t)piece->n ||
        c->ops->seek(c, at, SEEK_SET) < 0)
        return false;
    c->offset = at;
    c->buf_base = c->read_base = c->read_ptr = c->read_end = piece->p + got;
    if (c->last == piece->p)
        c->last_len = got;
    return true;
}

/* `n` bytes, none or an error, have followed the first of the piece. */
static void fall_short(struct asf_cios *c, const struct asf_piece *piece, size_t got, ssize_t n) {
    asf__lock(&c->lk);
    c->size = 0;
    c->stats.in -= piece->n - got;
    bool back = go_back(c, piece, got);
    if (got == 0)
        asf__u_sfree(c, piece->p);
    else if (!back && n < 0)
        c->failed = (int)n; /* the bytes are passed over, and the next call says so */
    asf__unlock(&c->lk);
}

void *asf__read_piece(struct asf_cios *c, const struct asf_piece *piece, ssize_t *length) {
    size_t got = 0;
    ssize_t n;
    do {
        n = c->ops->get_at(c, piece->p + got, piece->n - got, piece->at + (off64_t)got);
        got += n > 0 ? (size_t)n : 0;
    } while (n > 0 && got < piece->n);
    if (got < piece->n)
        fall_short(c, piece, got, n);
    *length = got > 0 ? (ssize_t)got : n;
    return got > 0 ? piece->p : NULL;
}

/* --- given back ---------------------------------------------------------------- */

static int sfree_queued(struct asf_cios *c, char *p) {
    for (struct asf_buffer *b = c->queue; b; b = b->next) {
        if (asf__within(b, p) && b->refs > 0) {
            if (--b->refs > 0)
                return 0;
            int rc = asf__put_queue(c);
            return rc == -EBUSY ? 0 : rc;
        }
    }
    return -EINVAL;
}

/* Whether the part of the file under a region is gone.  Of a region so old that
 * its length is forgotten the worst is believed. */
static bool region_torn(const struct asf_cios *c, const struct asf_buffer *b, const char *p) {
    struct stat64 st;
    if (asf__likely(!b->torn))
        return false;
    off64_t valid = asf__sys.fstat(c->fd, &st) == 0 ? st.st_size - b->at : 0;
    for (unsigned i = c->regions, n = 0; n < 32; n++) {
        i--;
        if (c->recent[i % 32].p == p)
            return p + c->recent[i % 32].n - b->base > valid;
    }
    return true;
}

static int sfree_retired(struct asf_cios *c, char *p) {
    for (struct asf_buffer *b = c->retired; b; b = b->next) {
        if (asf__within(b, p) && b->refs > 0) {
            int rc = region_torn(c, b, p) ? -EIO : 0;
            asf__buffer_release(c, b);
            return rc;
        }
    }
    return -EINVAL;
}

int asf__u_sfree_slow(struct asf_cios *c, char *p) {
    if (asf__within(c->in, p) && c->in->refs > 0) {
        c->in->refs--;
        return region_torn(c, c->in, p) ? -EIO : 0;
    }
    if (asf__within(c->out, p) && c->out->refs > 0) {
        c->out->refs--;
        /* What a person or a peer waits for must not stay behind. */
        if (c->out->refs == 0 && c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED))
            return asf__flush_output(c);
        return 0;
    }
    int rc = sfree_queued(c, p);
    return rc == -EINVAL ? sfree_retired(c, p) : rc;
}
