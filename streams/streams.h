/* SPDX-License-Identifier: MIT
 *
 * streams.h - the functions of the streams layer for interfaces: streams on each kind of object, and moving
 * bytes from one stream to another.
 */
#ifndef ASF_STREAMS_STREAMS_H
#define ASF_STREAMS_STREAMS_H

#include <sys/stat.h>

#include "backplane/backplane.h"
#include "lib/sys/machine.h"

#pragma GCC visibility push(hidden)

struct asf_ring;
struct asf_decoder;
struct asf_frame;
struct asf_part;

/* The first module of a stream on a descriptor; the stream's first use replaces it.
 * asf__as_libc: buffered as libc's streams are.
 * asf__for_asi: with mapped windows, read-ahead and large buffers. */
extern const struct asf_module asf__as_libc, asf__for_asi;

/* Facts about a standard stream's descriptor, found at start: later a filter of system calls may forbid
 * these calls.
 * asf__note_descriptor_flags: the descriptor of c has these flags (F_GETFL); negative: not known.
 * asf__look_at_output: ask for its file and flags.  asf__look_at_input: ask for its offset. */
void asf__note_descriptor_flags(struct asf_cios *c, int flags);
void asf__look_at_output(struct asf_cios *c);
void asf__look_at_input(struct asf_cios *c);

/* The system calls of a stream on a descriptor (descriptor.c). */
ssize_t asf__fd_get(struct asf_cios *c, void *buf, size_t n);
ssize_t asf__fd_get_on(struct asf_cios *c, void *buf, size_t n, void *more, size_t size);
ssize_t asf__fd_put(struct asf_cios *c, const void *buf, size_t n);
ssize_t asf__fd_put_on(struct asf_cios *c, const void *buf, size_t n, const void *more, size_t size);
off64_t asf__fd_seek(struct asf_cios *c, off64_t offset, int whence);
off64_t asf__fd_length(struct asf_cios *c);
bool asf__fd_in_place(struct asf_cios *c, bool thoroughly);
int asf__fd_close(struct asf_cios *c);

/* The members of a module that has only these functions. */
#define ASF__DESCRIPTOR_OPS(module)                                                                          \
    .name = (module), .get = asf__fd_get, .put = asf__fd_put, .seek = asf__fd_seek, .close = asf__fd_close,  \
    .length = asf__fd_length, .in_place = asf__fd_in_place, .get_on = asf__fd_get_on,                        \
    .put_on = asf__fd_put_on

/* The module for pipes.  An interface that moves their bytes in another way sets its own module here. */
extern const struct asf_module *asf__pipe_module;

/* asf__open_memory: make a stream into memory that grows (open_memstream).
 * asf__open_segment: on a segment of shared memory, which is detached when the stream is closed.
 * asf__open_ring: on an end of a ring, which is given back when the stream is closed.
 * asf__open_decoded: of the decoded bytes of `below`, which is closed with the stream.
 * asf__open_range: on the bytes of a descriptor's file from `begin` to before `end`, read at their offsets;
 * end < 0: on all bytes that the descriptor gives.  own: the stream closes the descriptor.  stop: NULL, or
 * reads fail with -ECANCELED when *stop is not 0.
 * asf__open_frames: on a part of a compressed file that consists of frames.
 * asf__open_directory: on a directory's descriptor, which is closed with the stream; -1: there is none yet.
 * asf__open_module: on a module that calls a program's functions.
 * asf__open_users_module: on a module of the program's own, whose table is copied.
 * returns  a stream that is in no list yet; NULL when memory is short. */
struct asf_cios *asf__open_memory(char **location, size_t *size);
struct asf_cios *asf__open_segment(char *shm, int access);
struct asf_cios *asf__open_ring(struct asf_ring *r);
struct asf_cios *asf__open_decoded(const struct asf_decoder *decoder, struct asf_cios *below);
struct asf_cios *asf__open_range(int fd, bool own, int64_t begin, int64_t end, const int *stop);
struct asf_cios *asf__open_frames(int fd, bool own, const struct asf_part *part,
                                  const struct asf_decoder *decoder, const int *stop);
struct asf_cios *asf__open_directory(int fd);
struct asf_cios *asf__open_module(const struct asf_module *ops, void *data, int access);
struct asf_cios *asf__open_users_module(const struct asf_stream_ops *ops, void *data, int access);

/* A mapped part of a regular file: a buffer, and the file offset of its beginning. */
struct asf_window {
    struct asf_buffer b;
    off64_t at;
    int watch; /* the fault handler's slot */
};

/* asf__show_window: map the part of a file of `size` bytes that has offset `at`, and make it the current
 * buffer.  `w` is the caller's memory, which may hold an earlier window; if regions or copies use that
 * window, it is kept and nothing is mapped.  returns  whether the stream has a current buffer.
 * asf__why_map: returns the reason to map the stream's file, whose status is st; NULL: not to be mapped.
 * asf__map_costs: returns how many small reads take as long as all page faults of a window of the file.
 * Only on tmpfs, which maps 64 KB in small pages for each fault; elsewhere 0. */
bool asf__show_window(struct asf_cios *c, struct asf_window *w, off64_t at, off64_t size);
const char *asf__why_map(const struct asf_cios *c, const struct stat64 *st);
unsigned asf__map_costs(const struct asf_cios *c, off64_t size);

/* asf__still_there: whether the file still had the byte `last` of the window after the byte was copied.
 * Before a truncation returns, the kernel zeroes the rest of the new last page and unmaps later pages.
 * returns  true: the byte is valid; false: it may be valid. */
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

/* asf__read_at: allocate a region of input at an offset of a regular file of the ASI, outside the current
 * buffer; the stream continues after it.  Returns as asf_salloc.  lock: none.
 *   when   asf__ticks when the caller released the lock, after which another thread may set the mode; or 0
 * asf__write_at: the same for output; the stream's pending output has been put or detached.  lock: held.
 * asf__write_apart: the same, without the lock if the stream is open only for output and has ASF_MOVED.
 * returns  NULL: call asf__write_at instead.
 * asf__free_apart: give such a region back: as sfree if `put`, else as sabandon.  returns  ASF_NOT_APART: it
 * is no such region.  lock: none.
 * asf__latest_at: returns the length of a region that asf__read_at allocated last, if the stream's offset
 * is still the region's end; else 0.  lock: held. */
enum { ASF_NOT_APART = 1 };
void *asf__read_at(struct asf_cios *c, ssize_t *length, off64_t offset, uint64_t when);
void *asf__write_at(struct asf_cios *c, ssize_t *length, off64_t offset);
void *asf__write_apart(struct asf_cios *c, size_t n, off64_t offset);
int asf__free_apart(struct asf_cios *c, char *region, bool put);
size_t asf__latest_at(struct asf_cios *c, const char *region);

/* asf__advise: set how the program will use the stream's file; the contract is asf_advise's. */
int asf__advise(struct asf_cios *c, enum asf_advice advice);

/* asf__is_decoder: whether the decoder is complete and of this library's version.  lock: none.
 * asf__find_decoder: find a decoder by the stream's next bytes, which stay unread.  *decoder stays NULL if
 * they are in no known format.  returns  0; -ENOTSUP: the decoder's library is not installed; or an error
 * of reading. */
bool asf__is_decoder(const struct asf_decoder *d);
int asf__find_decoder(struct asf_cios *c, const struct asf_decoder **decoder);

/* asf__decoder_of_file: find a decoder by the first bytes of a regular file, read at their offset. */
int asf__decoder_of_file(int fd, const struct asf_decoder **decoder);

/* Frames of a compressed file of `size` bytes, which are measured without decoding (frames.c).
 * asf__frames_of: returns memory for the other calls, from malloc; NULL: the decoder has no `frame`, or
 * memory is short.
 * asf__measure_frame: measure the frame that begins at an offset.  returns  0; -EBADMSG, -ENOTSUP: no frame
 * begins there, or its length is not known or exceeds the file; or an error of reading.
 * asf__find_frame: returns the offset of the first frame at or after `near`; 0: none.  The frames of the
 * file must have at most `most` bytes, and differ from other bytes.
 * lock: none. */
struct asf_frames *asf__frames_of(int fd, int64_t size, const struct asf_decoder *decoder);
int asf__measure_frame(struct asf_frames *w, int64_t begin, struct asf_frame *f);
int64_t asf__find_frame(struct asf_frames *w, int64_t near, int64_t most);

/* asf__decode_descriptor: make a stream, in no list, that decodes a descriptor's bytes.  first[0..n): the
 * bytes that were already read from the descriptor; n is 0: it is a file that was not read yet.
 * returns  the stream, also if the bytes are too few to show a format; NULL: the bytes are not compressed,
 * or memory is
 *          short.  lock: none. */
struct asf_cios *asf__decode_descriptor(int fd, const char *first, size_t n);

/* The state of one call of asf_copy; all zero at first. */
struct asf_transfer {
    bool known, waits;  /* the streams were examined; the input is a pipe, whose length is not known */
    bool clone, sparse; /* whether to try sharing blocks; whether to try making holes */
    bool of_input;      /* the error is the input's: a signal came during a wait for input */
    int way;            /* the call that moves the rest; 0: read and write */
    size_t buffer;      /* for read and write: the size of the output's buffer, if not 0 */
    off64_t size;       /* the input's size when it was examined */
    off64_t data_end;   /* the offset of the input's next hole */
};

/* asf__transfer_prepare: examine the streams; both are locked. */
void asf__transfer_prepare(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out);
/* asf__transfer: move up to *most bytes within the kernel; both streams are locked and in their modes, and
 * the input's window is empty.
 * returns  the bytes moved; 0: none: the caller copies *most bytes with read and write; or an error of the
 *          output, or of the input if `of_input` is set.  Other errors return 0: read and write then meet
 *          them. */
int64_t asf__transfer(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t *most);

#pragma GCC visibility pop

#endif
