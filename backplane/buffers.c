/* SPDX-License-Identifier: MIT
 *
 * buffers.c - the memory of a stream's windows: allocate it, make it the current buffer, and keep it
 * while regions point into it.
 */
#define _GNU_SOURCE
#include "backplane/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/sys/race_detector.h"

/* malloc maps and unmaps large memory each time: keep one freed buffer for the next stream. */
enum { ALIGNMENT = 64, LARGE = 32 << 10, LARGEST = 256 << 10 };

static struct asf_buffer *spare; /* accessed by atomic exchange */

static struct asf_buffer *swap_spare_buffer(struct asf_buffer *b) {
    return __atomic_exchange_n(&spare, b, __ATOMIC_ACQ_REL);
}

static struct asf_buffer *take_spare(size_t size) {
    struct asf_buffer *b =
        size >= LARGE && __atomic_load_n(&spare, __ATOMIC_RELAXED) ? swap_spare_buffer(NULL) : NULL;
    if (b && b->whole >= size)
        return b;
    free(b);
    return NULL;
}

static void free_buffer(struct asf_buffer *b) {
    if (b->is_static)
        return;
    if (b->whole >= LARGE && b->whole <= LARGEST && !asf__has_race_detector())
        b = swap_spare_buffer(b);
    free(b);
}

/* Returns the first byte of a buffer's memory. */
static char *memory_of(struct asf_buffer *b) {
    uintptr_t end = (uintptr_t)(b + 1);
    return (char *)(b + 1) + (-end & (ALIGNMENT - 1));
}

struct asf_buffer *asf__buffer_new(size_t size) {
    size_t whole;
    if (__builtin_add_overflow(sizeof(struct asf_buffer) + ALIGNMENT, size, &whole))
        return NULL;
    struct asf_buffer *b = take_spare(size);
    whole = b ? b->whole : whole - sizeof *b - ALIGNMENT;
    if (!b && !(b = malloc(whole + sizeof *b + ALIGNMENT)))
        return NULL;
    *b = (struct asf_buffer){.base = memory_of(b), .size = size, .whole = whole};
    return b;
}

void asf__retire_buffer(struct asf_cios *c, struct asf_buffer *b) {
    if (b->refs > 0) {
        b->next = c->retired;
        c->retired = b;
        return;
    }
    free(b->many);
    b->many = NULL;
    if (b->release) {
        b->release(c, b);
    } else if (b != &c->single) {
        free_buffer(b);
    }
}

void asf__release_buffer(struct asf_cios *c, struct asf_buffer *b) {
    if (--b->refs > 0 || b == c->buffer)
        return;
    for (struct asf_buffer **at = &c->retired; *at; at = &(*at)->next) {
        if (*at == b) {
            *at = b->next;
            asf__retire_buffer(c, b);
            return;
        }
    }
}

/* Makes the windows empty.  Pushed-back bytes stay readable; the window saved in save_base..save_end is
 * emptied. */
static void empty_window_proper(struct asf_cios *c) {
    bool in_backup = c->flags & ASF_IN_BACKUP && c->backup_base; /* else the flag means the wide backup */
    char *base = c->read_base, *p = c->read_ptr, *end = c->read_end;
    asf__empty_windows(c);
    if (in_backup) {
        c->save_base = c->save_end = c->buf_base;
        asf__set_read(c, base, p, end);
    }
}

void asf__use_buffer(struct asf_cios *c, struct asf_buffer *b) {
    if (c->buffer != b)
        asf__table_last(c);
    if (c->buffer && c->buffer != b)
        asf__retire_buffer(c, c->buffer);
    c->buffer = b;
    c->mapped = b && b->mapped;
    c->buf_base = b ? b->base : NULL;
    c->buf_end = b ? b->base + b->size : NULL;
    empty_window_proper(c);
}

void asf__leave_window(struct asf_cios *c) {
    if (c->mapped)
        asf__use_buffer(c, NULL);
    else
        asf__empty_windows(c);
}

struct asf_buffer *asf__single_buffer(struct asf_cios *c, char *p, size_t n) {
    if (c->single.refs > 0)
        return NULL;
    c->single = (struct asf_buffer){.base = p, .size = n};
    return &c->single;
}

void asf__allocate(struct asf_cios *c) {
    if (asf__likely(c->buffer != NULL)) {
        if (asf__unlikely(!c->read_base && !asf__is_putting(c))) /* setvbuf set the buffer, but no windows */
            asf__empty_windows(c);
        return;
    }
    bool buffered = !(c->flags & ASF_UNBUFFERED) || c->orientation > 0;
    if (buffered)
        asf__look_below(c);
    if (c->buffer && c->buffer->is_static) /* `attach` has set the module's own buffer */
        return;
    struct asf_buffer *b = buffered ? asf__buffer_new(c->block) : NULL;
    if (!b && buffered && c->block > BUFSIZ) /* no memory for a size set by an option: try stdio's default */
        b = asf__buffer_new(BUFSIZ);
    if (!b)
        b = asf__single_buffer(c, c->shortbuf, 1);
    asf__use_buffer(c, b);
}

int asf__enlarge_buffer(struct asf_cios *c, size_t size) {
    size_t have = asf__avail(c);
    struct asf_buffer *b = asf__buffer_new(size);
    if (!b)
        return -ENOMEM;
    memcpy(b->base, c->read_ptr, have);
    asf__use_buffer(c, b);
    asf__set_read(c, b->base, b->base, b->base + have);
    asf__set_write(c, b->base);
    return 0;
}
