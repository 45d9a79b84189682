/* SPDX-License-Identifier: MIT
 *
 * buffer_memory.c - where the memory of buffers comes from: the first of a stream
 * from malloc where libc's would, larger ones from pages of their own.
 * Layer: streams.  May include: streams, backplane, lib.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lib/sys/fault.h"
#include "lib/sys/syscalls.h"
#include "streams/buffer.h"

/* A buffer that is no larger than libc's may come from malloc.  The others are
 * mapped, all of the usual sizes in as many pages, of which those cost nothing
 * that are not touched. */
enum { PAGE = 4096, COMMON = (128 << 10) + PAGE };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LEAST_MAPPED SIZE_MAX /* malloc is watched, and what is unmapped by a raw call is not */
#else
#define LEAST_MAPPED (3 * (size_t)PAGE)
#endif

static char *aligned_base(struct asf_buffer *b) {
    uintptr_t end = (uintptr_t)(b + 1);
    return (char *)(b + 1) + (-end & (ASF_ALIGNMENT - 1));
}

/* Used by a stream which is closed, or grew out of it: a mapped one, and one of
 * malloc's of the usual size. */
static struct asf_buffer *common_spare, *usual_spare;

/* At once: a signal handler may come by with a stream of its own. */
static struct asf_buffer *swap_spare(struct asf_buffer **spare, struct asf_buffer *b) {
    return __atomic_exchange_n(spare, b, __ATOMIC_ACQ_REL);
}

static bool is_usual(size_t size) {
    return size == BUFSIZ && LEAST_MAPPED != SIZE_MAX;
}

bool asf__buffer_is_common(const struct asf_buffer *b) {
    return b->mapping == COMMON;
}

static void *take_spare(struct asf_buffer **spare) {
    return __atomic_load_n(spare, __ATOMIC_RELAXED) ? swap_spare(spare, NULL) : NULL;
}

static void *take_pages(size_t size) {
    void *p = size == COMMON ? take_spare(&common_spare) : NULL;
    return p ? p : asf__zero_pages(size);
}

static void *take_memory(size_t whole, size_t size) {
    void *p = is_usual(size) ? take_spare(&usual_spare) : NULL;
    return p ? p : malloc(whole);
}

struct asf_buffer *asf__buffer_new(size_t size) {
    size_t whole;
    if (__builtin_add_overflow(sizeof(struct asf_buffer) + ASF_ALIGNMENT + PAGE, size, &whole))
        return NULL;
    whole -= PAGE;
    size_t mapping = whole < LEAST_MAPPED ? 0 : whole < COMMON ? COMMON : (whole + PAGE - 1) / PAGE * PAGE;
    struct asf_buffer *b = mapping ? take_pages(mapping) : take_memory(whole, size);
    if (!b)
        return NULL;
    *b = (struct asf_buffer){.mapping = mapping, .watch = -1, .base = aligned_base(b)};
    b->usual = !mapping && is_usual(size);
    b->size = mapping == COMMON ? (size_t)((char *)b + COMMON - b->base) : size;
    return b;
}

bool asf__make_first(struct asf_cios *c) {
    bool single = c->flags & ASF_UNBUFFERED;
    struct asf_buffer *b = &c->first;
    if ((c->user_size && !single) || b->refs > 0) /* of the file that the stream was opened on before */
        return true;
    if (asf__unlikely(b->allocated != NULL))
        free(b->allocated);
    b->allocated = single ? NULL : malloc(c->blksize);
    b->base = single ? c->shortbuf : b->allocated;
    b->size = single ? 1 : c->blksize;
    b->watch = -1;
    b->first = true;
    b->resting = b->base != NULL;
    return b->resting;
}

void asf__unbuffer(struct asf_cios *c) {
    c->flags |= ASF_UNBUFFERED;
    c->may_grow = false;
    asf__set_block(c);
}

/* The first buffer, if the other direction has it and needs it no more. */
static void bring_back(struct asf_cios *c) {
    if (c->in == &c->first && asf__is_putting(c) && c->under.base)
        asf__go_to_output(c);
    else if (c->out == &c->first && !asf__is_putting(c))
        asf__drop_output_buffer(c);
}

/* Memory is short.  libc's one buffer serves both directions; where it could get none
 * it has a byte, and as much as one character takes. */
static bool make_do(struct asf_cios *c, size_t size) {
    struct asf_buffer *b = &c->first;
    if (!asf__vtable || c->own)
        return false;
    if (!b->base) {
        asf__unbuffer(c);
        asf__make_first(c);
    }
    bring_back(c);
    if (b->resting && b->base == c->shortbuf && size > 1) {
        b->base = c->few;
        b->size = sizeof c->few;
    }
    return b->resting && b->size >= size;
}

struct asf_buffer *asf__buffer_first(struct asf_cios *c, size_t size) {
    if (!c->first.resting || c->first.size < size) {
        struct asf_buffer *b = asf__buffer_new(size);
        if (b || !make_do(c, size))
            return b;
    }
    c->first.resting = false;
    return &c->first;
}

static void unmap_buffer(struct asf_buffer *b) {
    if (b->mapping == COMMON)
        b = swap_spare(&common_spare, b);
    if (b)
        asf__sys.unmap(b, b->mapping);
}

void asf__buffer_free(struct asf_buffer *b) {
    if (b->gone)
        b->gone(b);
    if (b->watch >= 0) {
        asf__unwatch(b->watch);
        asf__sys.unmap(b->base, b->size);
    }
    if (b->first) {
        b->resting = true;
        return;
    }
    free(b->allocated);
    if (b->mapping)
        unmap_buffer(b);
    else
        free(b->usual ? swap_spare(&usual_spare, b) : b);
}

/* Much memory is moved by its pages; a copy would touch as much anew. */
struct asf_buffer *asf__buffer_enlarge(struct asf_buffer *b, size_t size, char **p) {
    uintptr_t at = (uintptr_t)*p - (uintptr_t)b;
    __asm__("" : "+r"(at)); /* now: gcc 12 would put it off, and then complain */
    if (b->refs || b->watch >= 0 || b->user || b->first || !b->mapping || size > SIZE_MAX / 2)
        return NULL;
    size_t whole = (sizeof *b + ASF_ALIGNMENT + size + PAGE - 1) / PAGE * PAGE;
    long moved = asf__raw_syscall(SYS_mremap, (long)b, (long)b->mapping, (long)whole, MREMAP_MAYMOVE);
    if (moved < 0 && moved > -PAGE)
        return NULL;
    struct asf_buffer *larger = (struct asf_buffer *)moved;
    larger->mapping = whole;
    *p = (char *)larger + at;
    larger->base = aligned_base(larger);
    larger->size = size;
    return larger;
}
