/* SPDX-License-Identifier: MIT
 *
 * shm_segment.c - a stream of a segment's data.  The current buffer is the segment itself, from the stream's
 * offset to the end: input regions point into the segment, and bytes that the program stores in an output
 * region are in the segment at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/shm/segment.h"
#include "streams/modules.h"

struct shm_stream {
    char *shm;
    size_t size; /* bytes of data */
    size_t at;   /* the module's offset within the data */
};

static char *data_of(const struct shm_stream *s) {
    return s->shm + ASF_SHM_HEAD;
}

static void release_view(struct asf_cios *c, struct asf_buffer *b) {
    (void)c;
    free(b);
}

/* Makes the segment's data, from offset `at` to the end, the current buffer.  Returns 0 or -ENOMEM. */
static int show_data(struct asf_cios *c, size_t at) {
    const struct shm_stream *s = c->data;
    struct asf_buffer *b = malloc(sizeof *b);
    if (!b)
        return -ENOMEM;
    *b = (struct asf_buffer){.base = data_of(s) + at, .size = s->size - at, .release = release_view};
    asf__use_buffer(c, b);
    return 0;
}

/* Sets the module's offset.  In output mode it also makes the buffer begin there, unless regions point into
 * it. */
static void set_offset(struct asf_cios *c, size_t at) {
    struct shm_stream *s = c->data;
    s->at = at;
    if (asf__is_putting(c) && c->buffer && c->buffer->refs == 0) {
        c->buffer->base = data_of(s) + at;
        c->buffer->size = s->size - at;
    }
}

static ssize_t segment_get(struct asf_cios *c, void *buf, size_t n) {
    struct shm_stream *s = c->data;
    if (n > s->size - s->at)
        n = s->size - s->at;
    memcpy(buf, data_of(s) + s->at, n);
    set_offset(c, s->at + n);
    c->stats.in += n;
    return (ssize_t)n;
}

/* Bytes from the current buffer are already at their offset in the segment. */
static ssize_t segment_put(struct asf_cios *c, const void *buf, size_t n) {
    struct shm_stream *s = c->data;
    char *to = data_of(s) + s->at;
    if (n > s->size - s->at)
        n = s->size - s->at;
    if (n == 0)
        return -ENOSPC;
    if (buf != to)
        memmove(to, buf, n);
    set_offset(c, s->at + n);
    c->stats.out += n;
    return (ssize_t)n;
}

static int64_t segment_seek(struct asf_cios *c, int64_t offset, int whence) {
    struct shm_stream *s = c->data;
    size_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? s->at : s->size;
    if (offset < -(int64_t)base || offset > (int64_t)(s->size - base))
        return -EINVAL;
    set_offset(c, base + (size_t)offset);
    return (int64_t)s->at;
}

/* Makes the rest of the segment the read window.  If the window holds pushed-back bytes, these are not in the
 * segment; then the rest is copied after them. */
static ssize_t segment_fill(struct asf_cios *c, size_t want) {
    struct shm_stream *s = c->data;
    if (s->at == s->size)
        return (ssize_t)asf__avail(c);
    if (asf__avail(c) > 0)
        return asf__fill_buffer(c, want);
    int rc = show_data(c, 0);
    if (rc < 0)
        return rc;
    asf__set_read(c, c->buf_base, c->buf_base + s->at, c->buf_end);
    c->stats.in += s->size - s->at;
    s->at = s->size;
    c->offset = (off64_t)s->at;
    return (ssize_t)asf__avail(c);
}

/* The window already ends at the segment's end, so flushing pending output makes no room. */
static int segment_drain(struct asf_cios *c, size_t want) {
    const struct shm_stream *s = c->data;
    if (asf__pending(c) > 0 || want > s->size - s->at)
        return -ENOSPC;
    int rc = show_data(c, s->at);
    if (rc == 0)
        asf__show_room(c);
    return rc;
}

static int segment_close(struct asf_cios *c) {
    struct shm_stream *s = c->data;
    int rc = asf__segment_close(s->shm);
    free(s);
    return rc;
}

static const struct asf_module shm_segment = {
    .name = "segment",
    .get = segment_get,
    .put = segment_put,
    .seek = segment_seek,
    .close = segment_close,
    .fill = segment_fill,
    .drain = segment_drain,
};

struct asf_cios *asf__open_segment(char *shm, int access) {
    struct shm_stream *s = malloc(sizeof *s);
    struct asf_cios *c = s ? asf__cios_new(&shm_segment, -1, access) : NULL;
    if (!c) {
        free(s);
        return NULL;
    }
    *s = (struct shm_stream){.shm = shm, .size = asf__segment_of(shm)->data};
    c->data = s;
    c->why = "a segment of shared memory";
    c->kind = ASF_MEMORY;
    c->block = BUFSIZ;
    c->flags |= ASF_KEEPS_BYTES;
    return c;
}
