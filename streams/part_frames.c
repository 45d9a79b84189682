/* SPDX-License-Identifier: MIT
 *
 * part_frames.c - the decoded lines or records of some frames of a compressed file.
 *
 * Frames do not end where lines end.  So the stream begins after the first delimiter in its frames, unless
 * they are the file's first, and continues after its frames through the next delimiter: each line is in
 * exactly one part.  Of records, the caller gives the number of bytes to skip and to add.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include <asf/decode.h>
#include <asf/parts.h>

#include "lib/sys/syscalls.h"
#include "streams/modules.h"

enum { BLOCK = 128 << 10 };

struct part_frames {
    int fd;
    bool own;
    const int *stop;
    struct asf_part part;
    const struct asf_decoder *decoder;
    void *state;
    int64_t at,
        limit; /* file offsets: of the next read, and where to stop: at the part's end, then at the file's */
    const char *in; /* points into `block`, to the bytes that the decoder has not taken */
    size_t in_size;
    bool between; /* the decoder is between two frames */
    bool pending; /* the decoder filled its room and may have more to give */
    bool skips;   /* lines: no delimiter has been found yet */
    bool beyond;  /* reading after the part's frames */
    bool ended;
    int failed;
    char block[];
};

/* --- decoding ------------------------------------------------------------------------------- */

static int read_some(struct asf_cios *c, struct part_frames *s) {
    const int64_t left = s->limit - s->at;
    ssize_t r = asf__sys.pread(s->fd, s->block, left < BLOCK ? (size_t)left : BLOCK, s->at);
    c->stats.syscalls++;
    if (r <= 0)
        return r < 0 ? (int)r : -EIO; /* the file was truncated */
    s->at += r;
    s->in = s->block;
    s->in_size = (size_t)r;
    return 0;
}

/* Checks the state at the limit: within a frame it is an error.  Before the file's end, the measured end
 * of a frame was wrong; at its end, the file is incomplete. */
static int check_end(const struct part_frames *s) {
    if (s->between)
        return 0;
    return s->limit < s->part.size ? -EBADMSG : -EIO;
}

/* Calls the decoder once.  Returns the number of bytes stored at `buf`, or an error if there are none. */
static ssize_t decode_once(struct part_frames *s, char *buf, size_t n) {
    struct asf_decoding d = {.in = s->in, .in_size = s->in_size, .out = buf, .out_size = n};
    int rc = s->decoder->decode(s->state, &d);
    const bool stuck = s->in_size > 0 && d.in_size == s->in_size && d.out_size == n;
    s->in = d.in;
    s->in_size = d.in_size;
    s->between = rc > 0;
    s->pending = d.out_size == 0;
    s->failed = rc < 0 ? rc : stuck ? -EBADMSG : 0;
    return d.out_size < n ? (ssize_t)(n - d.out_size) : s->failed;
}

/* Returns the number of decoded bytes, 0 at the limit, or an error. */
static ssize_t decode(struct asf_cios *c, struct part_frames *s, char *buf, size_t n) {
    while (!s->failed) {
        if (s->in_size == 0 && !s->pending && s->at == s->limit)
            return s->failed = check_end(s);
        int rc = s->in_size > 0 || s->pending ? 0 : read_some(c, s);
        if (rc < 0)
            return rc;
        ssize_t made = decode_once(s, buf, n);
        if (made != 0)
            return made;
    }
    return s->failed;
}

/* --- which bytes belong to the part ---------------------------------------------------------------- */

/* Returns how many of the first bytes belong to the previous part. */
static size_t skip(struct part_frames *s, const char *bytes, size_t n) {
    if (s->part.before > 0) {
        n = s->part.before < (int64_t)n ? (size_t)s->part.before : n;
        s->part.before -= (int64_t)n;
        return n;
    }
    if (!s->skips)
        return 0;
    const char *found = memchr(bytes, s->part.delimiter, n);
    s->skips = !found;
    return found ? (size_t)(found + 1 - bytes) : n;
}

/* Returns how many of n bytes that follow the part's frames belong to the part. */
static size_t end_within(struct part_frames *s, const char *bytes, size_t n) {
    if (s->part.delimiter < 0) {
        n = s->part.after < (int64_t)n ? (size_t)s->part.after : n;
        s->part.after -= (int64_t)n;
        s->ended = s->part.after == 0;
        return n;
    }
    const char *found = memchr(bytes, s->part.delimiter, n);
    s->ended = found;
    return found ? (size_t)(found + 1 - bytes) : n;
}

/* Continues after the part's frames, unless the part has ended.  A line that spans all of its frames
 * belongs to an earlier part. */
static void go_beyond(struct part_frames *s) {
    const bool whole = s->part.delimiter < 0 && s->part.after == 0;
    s->ended = s->beyond || s->skips || whole;
    s->beyond = true;
    s->limit = s->part.size;
}

/* --- the module ------------------------------------------------------------------------------- */

static ssize_t part_frames_get(struct asf_cios *c, void *to, size_t n) {
    struct part_frames *s = c->data;
    char *buf = to;
    while (!s->ended) {
        if (s->stop && __atomic_load_n(s->stop, __ATOMIC_RELAXED) != 0)
            return -ECANCELED;
        ssize_t made = decode(c, s, buf, n);
        if (made < 0)
            return made;
        if (made == 0) {
            go_beyond(s);
            continue;
        }
        const size_t from = skip(s, buf, (size_t)made), have = (size_t)made - from;
        const size_t mine = s->beyond ? end_within(s, buf + from, have) : have;
        c->stats.in += mine;
        if (from > 0)
            memmove(buf, buf + from, mine);
        if (mine > 0)
            return (ssize_t)mine;
    }
    return 0;
}

static int part_frames_close(struct asf_cios *c) {
    struct part_frames *s = c->data;
    int rc = s->own ? asf__close(s->fd) : 0;
    s->decoder->end(s->state);
    free(s);
    return rc;
}

struct asf_cios *asf__open_frames(int fd, bool own, const struct asf_part *part,
                                  const struct asf_decoder *decoder, const int *stop) {
    static const struct asf_module module = {
        .name = "part", .get = part_frames_get, .close = part_frames_close};
    struct part_frames *s = malloc(sizeof *s + BLOCK);
    void *state = s ? decoder->begin() : NULL;
    struct asf_cios *c = state ? asf__open_module(&module, s, O_RDONLY) : NULL;
    if (!c) {
        if (state)
            decoder->end(state);
        free(s);
        return NULL;
    }
    *s = (struct part_frames){.fd = fd,
                              .own = own,
                              .stop = stop,
                              .part = *part,
                              .decoder = decoder,
                              .state = state,
                              .at = part->begin,
                              .limit = part->end,
                              .between = true};
    s->skips = part->delimiter >= 0 && part->begin > 0;
    c->why = decoder->name;
    c->block = BLOCK;
    return c;
}
