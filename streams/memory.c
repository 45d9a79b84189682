/* SPDX-License-Identifier: MIT
 *
 * memory.c - a stream into memory that grows as it is written
 * (open_memstream): the current buffer is the memory itself, so that nothing
 * is copied twice.  Positions follow glibc's where POSIX leaves room: what a
 * flush publishes ends at the present position, and a seek forgets what was
 * written beyond it.  Reading has a position of its own, up to where was written
 * furthest, and does not set the end-of-file indicator.
 *
 * Memory that has regions stays where it is when more is needed: what they are
 * filled with is copied when they have been given back, and by a flush.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "streams/buffer.h"

struct memory {
    char **location; /* where the program wants the pointer and the size */
    size_t *size;
    size_t end;   /* bytes that SEEK_END counts from, while none is before it */
    size_t known; /* bytes that were written, or passed over, before the last flush or seek */
    size_t since; /* where the memory begins that is not shown by a `left` */
};

/* Memory as it was when more was needed, with regions in it. */
struct left {
    struct asf_buffer b;
    struct asf_cios *c;
};

static size_t position(const struct asf_cios *c) {
    return (size_t)(c->write_ptr - c->write_base);
}

/* The memory is at `base` now; a read window of pushed-back bytes stays. */
static void move_reading(struct asf_cios *c, char *base) {
    bool backup = c->flags & ASF_IN_BACKUP;
    char **window[] = {backup ? &c->save_base : &c->read_base, backup ? &c->save_end : &c->read_end,
                       &c->read_ptr};
    for (int i = 0; i < (backup ? 2 : 3); i++)
        *window[i] = base + (*window[i] - c->write_base);
}

/* Before `end`, and in the byte behind what was written furthest, which programs take
 * for its null, what was never written reads as zeros. */
static void clear_up_to(struct asf_cios *c, size_t end) {
    struct memory *m = c->data;
    size_t at = position(c), known = at > m->known ? at : m->known;
    if (end <= known && known < c->out->size)
        end = known + 1;
    if (end > known)
        memset(c->write_base + known, 0, end - known);
    m->known = known;
}

/* --- memory with regions ------------------------------------------------------------ */

/* Each shows a part of its own.  The stream's memory is gone only when it is closed. */
static void bring_up_to_date(const struct asf_buffer *b) {
    const struct asf_cios *c = ((const struct left *)(const void *)b)->c;
    if (c->out && c->out->base && b->from < b->to)
        memcpy(c->out->base + (b->from - b->base), b->from, (size_t)(b->to - b->from));
}

static void left_gone(struct asf_buffer *b) {
    bring_up_to_date(b);
}

/* The same bytes in larger memory, and the old with its regions among the retired. */
static char *leave_behind(struct asf_cios *c, size_t size) {
    struct memory *m = c->data;
    struct left *l = malloc(sizeof *l);
    char *base = l ? malloc(size) : NULL;
    if (!base) {
        free(l);
        return NULL;
    }
    memcpy(base, c->out->base, c->out->size);
    *l = (struct left){.b = *c->out, .c = c};
    l->b.first = false;
    l->b.gone = left_gone;
    l->b.from = l->b.base + m->since;
    l->b.to = c->write_ptr;
    m->since = position(c);
    c->out->refs = 0;
    asf__buffer_retire(c, &l->b);
    return base;
}

static bool has_regions(const struct asf_cios *c) {
    return c->retired || c->out->refs > 0;
}

/* Room for `size` bytes in all. */
static int grow(struct asf_cios *c, size_t size) {
    size_t at = position(c);
    if (size <= c->out->size)
        return 0;
    char *base = c->out->refs > 0 ? leave_behind(c, size) : realloc(c->out->base, size);
    if (!base)
        return -ENOMEM;
    move_reading(c, base);
    c->out->base = c->out->allocated = c->write_base = c->buf_base = base;
    c->out->size = size;
    c->write_ptr = base + at;
    c->write_end = c->buf_end = base + size;
    return 0;
}

static int memory_drain(struct asf_cios *c, size_t want) {
    size_t needed = position(c) + want, wanted = 2 * c->out->size + 100;
    return grow(c, needed > wanted ? needed : wanted);
}

/* The null behind the position is there, or what a seek has left, as in glibc. */
static int memory_flushed(struct asf_cios *c) {
    int rc = grow(c, position(c) + 1);
    if (rc < 0)
        return rc;
    for (const struct asf_buffer *b = c->retired; b; b = b->next)
        bring_up_to_date(b);
    clear_up_to(c, position(c) + 1);
    *((struct memory *)c->data)->location = c->write_base;
    *((struct memory *)c->data)->size = position(c);
    return 0;
}

/* What was written can be read. */
static void see_written(struct asf_cios *c) {
    if (c->write_ptr > c->read_end)
        c->read_end = c->write_ptr;
}

static off64_t memory_seek(struct asf_cios *c, off64_t offset, int whence) {
    struct memory *m = c->data;
    off64_t at = (off64_t)position(c), base;
    if (whence == SEEK_CUR && offset == 0)
        return at;
    if (has_regions(c)) /* what is written over them would be lost when they are given back */
        return -EBUSY;
    if (at > 0)
        m->end = (size_t)at;
    base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? at : (off64_t)m->end;
    if (offset < -base || offset > INT64_MAX - base)
        return -EINVAL;
    int rc = grow(c, (size_t)(base + offset) + 1);
    if (rc < 0)
        return rc;
    clear_up_to(c, (size_t)(base + offset) + 1);
    asf__free_backup(c);
    see_written(c);
    c->read_base = c->write_base;
    c->read_ptr = c->read_base + base + offset;
    c->write_ptr = c->write_base + base + offset;
    return base + offset;
}

/* Without memory for the null nothing is handed over, as by glibc. */
static int memory_close(struct asf_cios *c) {
    struct memory *m = c->data;
    int rc = grow(c, position(c) + 1);
    *m->location = NULL;
    if (rc == 0) {
        *c->write_ptr = '\0';
        *m->location = c->write_base;
        *m->size = position(c);
        c->out->base = c->out->allocated = NULL; /* the program's from now on */
    }
    free(m);
    return rc;
}

static ssize_t memory_fill(struct asf_cios *c, size_t want) {
    (void)want;
    see_written(c);
    return (ssize_t)asf__avail(c);
}

static const struct asf_stream_ops memory = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "memory",
    .seek = memory_seek,
    .close = memory_close,
    .fill = memory_fill,
    .drain = memory_drain,
    .flushed = memory_flushed,
};

static int attach(struct asf_cios *c, char **location, size_t *size) {
    struct memory *m = malloc(sizeof *m);
    char *base = malloc(BUFSIZ);
    if (!m || !base) {
        free(base);
        free(m);
        return -ENOMEM;
    }
    *m = (struct memory){.location = location, .size = size};
    c->first =
        (struct asf_buffer){.base = base, .allocated = base, .size = BUFSIZ, .watch = -1, .first = true};
    c->out = &c->first;
    c->data = m;
    c->resident = c->chosen = true;
    c->why = "open_memstream";
    c->blksize = c->block = c->limit = BUFSIZ;
    c->flags |= ASF_PUTTING;
    c->flags &= ~ASF_FILEBUF;
    c->orientation = -1;
    c->read_base = c->read_ptr = c->read_end = c->out->base;
    c->buf_base = c->write_base = c->write_ptr = c->out->base;
    c->buf_end = c->write_end = c->out->base + BUFSIZ;
    return 0;
}

struct asf_cios *asf__open_memory(char **location, size_t *size) {
    struct asf_cios *c = asf__cios_new(&memory, -1, O_RDWR);
    if (c && attach(c, location, size) < 0) {
        asf__cios_free(c);
        return NULL;
    }
    return c;
}
