/* SPDX-License-Identifier: MIT
 *
 * memory.c - a stream into memory that grows as it is written (open_memstream).  The current buffer is the
 * memory itself, so that no byte is copied twice.  Where POSIX allows a choice, positions are as in the C
 * library: a flush publishes the bytes before the present position, and a seek forgets the bytes after the
 * position from which it starts.
 *
 * When memory that has regions must grow, the old memory is kept until they are given back.  Each flush, and
 * the last region given back, copies the bytes of the old memory to the new.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "backplane/regions.h"
#include "streams/modules.h"

struct memory {
    struct asf_buffer b;
    char **location; /* the program's variables for the pointer and the size */
    size_t *size;
    size_t end;   /* the offset for SEEK_END: the last offset above 0 from which a seek was made */
    size_t known; /* the number of bytes written or zeroed before the last flush or seek */
    size_t since; /* all regions in retired memory are before this offset */
};

static size_t write_offset(const struct asf_cios *c) {
    return (size_t)(c->write_ptr - c->write_base);
}

/* Zeroes bytes before `end` that were never written, and at least the byte after the last one written,
 * which programs use as the terminating null. */
static void clear_up_to(struct asf_cios *c, size_t end) {
    struct memory *m = c->data;
    size_t at = write_offset(c), known = at > m->known ? at : m->known;
    if (end <= known && known < m->b.size)
        end = known + 1;
    if (end > known)
        memset(c->write_base + known, 0, end - known);
    m->known = known;
}

/* Makes the whole memory the write window, with the position at `at`. */
static void show_memory(struct asf_cios *c, size_t at) {
    asf__use_buffer(c, &((struct memory *)c->data)->b);
    c->write_ptr = c->write_base + at;
    asf__show_room(c);
}

/* --- memory with regions ------------------------------------------------------------ */

/* Copies the bytes from..to of old memory to the present memory. */
static void bring_up_to_date(struct asf_cios *c, const struct asf_buffer *b) {
    if (c->data && b->from < b->to) /* `data` is NULL once the stream is closed */
        memcpy(c->buffer->base + (b->from - b->base), b->from, (size_t)(b->to - b->from));
}

static void earlier_gone(struct asf_cios *c, struct asf_buffer *b) {
    bring_up_to_date(c, b);
    free(b->base);
    free(b);
}

/* Returns `size` bytes of new memory with the same contents, and retires the old memory with its regions. */
static char *leave_behind(struct asf_cios *c, size_t size) {
    struct memory *m = c->data;
    struct asf_buffer *earlier = malloc(sizeof *earlier);
    char *base = earlier ? malloc(size) : NULL;
    if (!base) {
        free(earlier);
        return NULL;
    }
    memcpy(base, m->b.base, m->b.size);
    asf__table_last(c);
    *earlier = m->b;
    earlier->release = earlier_gone;
    earlier->from = earlier->base + m->since;
    earlier->to = c->write_ptr;
    m->since = write_offset(c);
    m->b.refs = m->b.copies = m->b.first = m->b.end = m->b.kept = 0;
    m->b.many = NULL;
    asf__retire_buffer(c, earlier);
    return base;
}

/* Makes the memory at least `size` bytes large. */
static int grow_memory(struct asf_cios *c, size_t size) {
    struct memory *m = c->data;
    size_t at = write_offset(c);
    if (size <= m->b.size)
        return 0;
    char *base = m->b.refs > 0 ? leave_behind(c, size) : realloc(m->b.base, size);
    if (!base)
        return -ENOMEM;
    m->b.base = base;
    m->b.size = size;
    show_memory(c, at);
    return 0;
}

/* --- the module ----------------------------------------------------------------------- */

static int memory_drain(struct asf_cios *c, size_t want) {
    const struct memory *m = c->data;
    size_t needed = write_offset(c) + want, wanted = 2 * m->b.size + 100;
    return grow_memory(c, needed > wanted ? needed : wanted);
}

/* Stores the program's pointer and size.  As in the C library, the byte after the text is zero; or, if the
 * program has moved back by a seek, the byte that it wrote there before. */
static int memory_flushed(struct asf_cios *c) {
    const struct memory *m = c->data;
    int rc = grow_memory(c, write_offset(c) + 1);
    if (rc < 0)
        return rc;
    for (const struct asf_buffer *b = c->retired; b; b = b->next)
        bring_up_to_date(c, b);
    clear_up_to(c, write_offset(c) + 1);
    *m->location = c->write_base;
    *m->size = write_offset(c);
    return 0;
}

static off64_t memory_seek(struct asf_cios *c, off64_t offset, int whence) {
    struct memory *m = c->data;
    off64_t at = (off64_t)write_offset(c), base;
    if (whence == SEEK_CUR && offset == 0)
        return at;
    if (c->retired || m->b.refs > 0) /* their return would overwrite bytes written after the seek */
        return -EBUSY;
    if (at > 0)
        m->end = (size_t)at;
    base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? at : (off64_t)m->end;
    if (offset < -base || offset > INT64_MAX - base)
        return -EINVAL;
    int rc = grow_memory(c, (size_t)(base + offset) + 1);
    if (rc < 0)
        return rc;
    clear_up_to(c, (size_t)(base + offset) + 1);
    c->write_ptr = c->write_base + base + offset;
    asf__show_room(c);
    return base + offset;
}

/* If there is no memory for the terminating null, the program gets NULL, as from the C library. */
static int memory_close(struct asf_cios *c) {
    struct memory *m = c->data;
    int rc = grow_memory(c, write_offset(c) + 1);
    *m->location = NULL;
    if (rc == 0) {
        *c->write_ptr = '\0';
        *m->location = c->write_base;
        *m->size = write_offset(c);
        m->b.base = NULL; /* owned by the program from now on */
    }
    return rc;
}

static void memory_gone(struct asf_cios *c, struct asf_buffer *b) {
    (void)c;
    free(b->base);
    free(b); /* the member `b` of struct memory begins it */
}

static const struct asf_module memory = {
    .name = "memory",
    .memory_is_the_stream = true,
    .seek = memory_seek,
    .close = memory_close,
    .drain = memory_drain,
    .flushed = memory_flushed,
};

struct asf_cios *asf__open_memory(char **location, size_t *size) {
    struct memory *m = malloc(sizeof *m);
    char *base = malloc(BUFSIZ);
    struct asf_cios *c = m && base ? asf__cios_new(&memory, -1, O_WRONLY) : NULL;
    if (!c) {
        free(base);
        free(m);
        return NULL;
    }
    *m = (struct memory){
        .b = {.base = base, .size = BUFSIZ, .release = memory_gone}, .location = location, .size = size};
    c->data = m;
    c->kind = ASF_MEMORY;
    c->why = "open_memstream";
    c->block = BUFSIZ;
    c->flags = (c->flags & ~ASF_FILEBUF) | ASF_PUTTING | ASF_KEEPS_BYTES;
    c->orientation = -1;
    show_memory(c, 0);
    return c;
}
