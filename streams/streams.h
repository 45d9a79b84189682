/* SPDX-License-Identifier: MIT
 *
 * streams.h - what interfaces may ask of the streams layer: streams on each kind of
 * thing, and bytes moved from one stream to another.
 */
#ifndef ASF_STREAMS_STREAMS_H
#define ASF_STREAMS_STREAMS_H

#include <sys/stat.h>

#include "backplane/backplane.h"
#include "lib/sys/machine.h"

#pragma GCC visibility push(hidden)

struct asf_ring;
struct asf_decoder;

/* The tables that a stream on a descriptor begins with.  asf__as_libc: it is buffered as
 * libc's streams are; asf__for_asi: by mapped windows, read-ahead and large buffers. */
extern const struct asf_module asf__as_libc, asf__for_asi;

/* What serves a pipe; an interface that moves its bytes another way puts its own table here. */
extern const struct asf_module *asf__pipe_module;

/* asf__open_memory: a stream into memory that grows (open_memstream).
 * asf__open_segment: on a segment of shared memory, which it detaches when closed.
 * asf__open_ring: on an end of a ring, given back when closed.
 * asf__open_decoded: of what another stream has, which is closed with it.
 * asf__open_directory: on the descriptor of a directory, closed with it; -1: it has none yet.
 * asf__open_module: on a module that stands for a program's functions.
 * asf__open_users_module: on a module of the program's own, whose table is copied.
 * returns  a stream that is in no list yet; NULL when memory is short. */
struct asf_cios *asf__open_memory(char **location, size_t *size);
struct asf_cios *asf__open_segment(char *shm, int access);
struct asf_cios *asf__open_ring(struct asf_ring *r);
struct asf_cios *asf__open_decoded(const struct asf_decoder *decoder, struct asf_cios *below);
struct asf_cios *asf__open_directory(int fd);
struct asf_cios *asf__open_module(const struct asf_module *ops, void *data, int access);
struct asf_cios *asf__open_users_module(const struct asf_stream_ops *ops, void *data, int access);

/* A part of a regular file as the page cache has it: a buffer, and where in the file it begins. */
struct asf_window {
    struct asf_buffer b;
    off64_t at;
    int watch; /* the fault handler's slot */
};

/* asf__map_window: map size > 0 bytes of the stream's file from `at` on, a multiple of the
 * page; `w` is the caller's memory.  returns  false: it cannot be.
 * asf__show_window: make the part around `at` of a file of that size the current buffer, in `w`,
 * unless regions or copies are in the one there is.  returns  whether there is one.
 * asf__why_map: why the stream's file, of which st tells, is worth it; NULL: it is not.
 * asf__map_costs: what touching the file here and there in a window costs more than in one
 * place, in small reads: where each fault maps 64 KB in small pages (tmpfs). */
bool asf__map_window(struct asf_cios *c, struct asf_window *w, off64_t at, size_t size);
bool asf__show_window(struct asf_cios *c, struct asf_window *w, off64_t at, off64_t size);
const char *asf__why_map(const struct asf_cios *c, const struct stat64 *st);
unsigned asf__map_costs(const struct asf_cios *c, off64_t size);

/* asf__still_there: whether the file went further than this byte of the window after it was
 * copied.  By the time that a truncation is over there are zeros behind the new end, and no pages.
 * False is not certain. */
static inline bool asf__still_there(const struct asf_window *w, const char *last) {
    if (asf__unlikely(*(const volatile char *)last == 0)) {
        const size_t page = asf__page();
        const char *next = last + (page - ((uintptr_t)last & (page - 1)));
        if (next >= w->b.base + w->b.size)
            return false;
        (void)*(const volatile char *)next;
    }
    return !__atomic_load_n(&w->b.truncated, __ATOMIC_ACQUIRE);
}

/* asf__read_at: a region of input at an offset of a regular file of the ASI, apart from the current
 * buffer; the stream goes on after it.  As asf_salloc returns.  lock: none.
 * asf__free_apart: give it back, as sfree; ASF_NOT_APART: it is no such region.  lock: none.
 * asf__latest_at: the length of the region if asf__read_at has allocated it and the stream stands
 * at its end; else 0.  lock: held. */
enum { ASF_NOT_APART = 1 };
void *asf__read_at(struct asf_cios *c, ssize_t *length, off64_t offset);
int asf__free_apart(struct asf_cios *c, char *region);
size_t asf__latest_at(struct asf_cios *c, const char *region);

/* asf__advise: what the program says of how it will use the stream's file; asf_advise's contract. */
int asf__advise(struct asf_cios *c, enum asf_advice advice);

/* asf__buffer_size: of a stream whose buffer libc would make `size` bytes large. */
size_t asf__buffer_size(size_t size);

/* asf__is_decoder: whether it has all that this library wants of one.  lock: none.
 * asf__find_decoder: by the next bytes of the stream, which stay.  *decoder stays NULL where they
 * are in no format.  returns  0; -ENOTSUP: its library is not installed; or what reading gave. */
bool asf__is_decoder(const struct asf_decoder *d);
int asf__find_decoder(struct asf_cios *c, const struct asf_decoder **decoder);

/* asf__decode_descriptor: a stream in no list, of what a descriptor has, decoded, if that is
 * compressed; also if more of it must be seen to tell.  first[0..n): what has been read of it; n is 0:
 * it is a file, not read yet.
 * returns  NULL: it is not compressed, or memory is short.  lock: none. */
struct asf_cios *asf__decode_descriptor(int fd, const char *first, size_t n);

/* What one call of asf_copy knows of its streams; all zero at first. */
struct asf_transfer {
    bool known, waits;  /* looked at; the input is a pipe, whose end is not known */
    bool clone, sparse; /* still worth a try: shared blocks, holes */
    bool of_input;      /* the error is the input's: a signal, while it was waited for */
    int way;            /* how the rest goes; 0: by hand */
    int pipe[2];        /* of our own, to splice through; both 0: none yet */
    size_t buffer;      /* by hand: of the output, if not 0 */
    off64_t size;       /* of the input as it was found */
    off64_t data_end;   /* where the input's next hole begins */
};

/* asf__transfer_prepare: look at the streams; both are locked. */
void asf__transfer_prepare(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out);
/* asf__transfer: move up to `most` bytes within the kernel; both are locked and
 * in their modes, and the input's window is empty.
 * returns  the bytes moved; 0: nothing, copy *most by hand; or the output's
 *          error, unless `of_input`.  What else fails is left to be met again by hand. */
int64_t asf__transfer(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t *most);
void asf__transfer_end(struct asf_transfer *t);

#pragma GCC visibility pop

#endif
