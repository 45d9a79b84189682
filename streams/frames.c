/* SPDX-License-Identifier: MIT
 *
 * frames.c - find where the frames of a compressed file begin.  Its decoder measures frames without decoding
 * them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include <asf/decode.h>

#include "lib/sys/syscalls.h"
#include "streams/streams.h"

/* LOOK: the bytes that a decoder is shown.  NEAR: bytes to read at once while searching for a frame.
 * A_LITTLE: the same where a frame is known to begin. */
enum { LOOK = 64, A_LITTLE = 4 << 10, NEAR = 256 << 10 };

struct asf_frames {
    int fd;
    int64_t size;
    const struct asf_decoder *decoder;
    size_t step;   /* bytes to read at once */
    int64_t asked; /* the kernel was asked to read ahead up to this offset */
    int64_t from;  /* the offset of `bytes`, of which there are n */
    size_t n;
    unsigned char bytes[NEAR];
};

struct asf_frames *asf__frames_of(int fd, int64_t size, const struct asf_decoder *decoder) {
    const bool measures = decoder->size == sizeof *decoder && decoder->frame; /* version 0.2 had no `frame` */
    struct asf_frames *w = measures ? malloc(sizeof *w) : NULL;
    if (w) {
        w->fd = fd;
        w->size = size;
        w->decoder = decoder;
        w->step = A_LITTLE;
        w->asked = 0;
        w->from = 0;
        w->n = 0;
    }
    return w;
}

/* Asks the kernel to read ahead.  Headers of blocks are some ten pages apart: waiting for each of these
 * pages takes a disk as long as reading the whole file.  The streams on the parts read all of it next. */
static void ask_ahead(struct asf_frames *w, int64_t at) {
    enum { PIECE = 128 << 10, STEP = 1 << 20, DEPTH = 4 << 20 };
    if (w->asked < at)
        w->asked = at;
    for (; w->asked < at + DEPTH && w->asked < w->size; w->asked += STEP)
        for (int64_t p = 0; p < STEP && asf__sys.unasked(w->fd, w->asked + p); p += PIECE)
            asf__sys.advise(w->fd, w->asked + p, PIECE, POSIX_FADV_WILLNEED);
}

static int read_at(struct asf_frames *w, int64_t at) {
    const int64_t left = w->size - at;
    ssize_t r;
    if (w->step == A_LITTLE)
        ask_ahead(w, at);
    do
        r = asf__sys.pread(w->fd, w->bytes, left < (int64_t)w->step ? (size_t)left : w->step, at);
    while (r == -EINTR);
    w->from = at;
    w->n = r < 0 ? 0 : (size_t)r;
    return r < 0 ? (int)r : 0;
}

/* Measures with the bytes at an offset of the file. */
static int measure_at(struct asf_frames *w, struct asf_frame *f, int64_t at) {
    const int64_t end = w->size - at < LOOK ? w->size : at + LOOK;
    int rc = at < w->from || end > w->from + (int64_t)w->n ? read_at(w, at) : 0;
    if (rc < 0)
        return rc;
    const size_t before = (size_t)(at - w->from), left = w->n - before;
    return w->decoder->frame(f, w->bytes + before, left < LOOK ? left : LOOK);
}

int asf__measure_frame(struct asf_frames *w, int64_t begin, struct asf_frame *f) {
    *f = (struct asf_frame){.length = 0};
    for (;;) {
        const int64_t before = f->length;
        int rc = measure_at(w, f, begin + before);
        if (rc < 0)
            return rc;
        if (f->length > w->size - begin || f->length < before + (rc == 0))
            return -EBADMSG;
        if (rc > 0)
            return f->length > 0 ? 0 : -EBADMSG;
    }
}

/* Whether frames follow one another from `at` through more than `most` bytes.  A frame may contain the
 * stored bytes of other frames, but such a chain is no longer than the frame, which has at most `most`
 * bytes. */
static bool is_chain(struct asf_frames *w, int64_t at, int64_t most) {
    struct asf_frame f;
    for (const int64_t end = at + most; at <= end && at < w->size; at += f.length)
        if (asf__measure_frame(w, at, &f) < 0 || f.most == 0)
            return false;
    return true;
}

int64_t asf__find_frame(struct asf_frames *w, int64_t near, int64_t most) {
    int64_t at = near, last = most < w->size - near ? near + most : w->size - 1;
    w->step = NEAR;
    while (at <= last && !is_chain(w, at, most))
        at++;
    w->step = A_LITTLE;
    return at <= last ? at : 0;
}
