/* SPDX-License-Identifier: MIT
 *
 * descriptor.c - the system calls on a stream's descriptor, and the modules that consist only of these
 * calls; the backplane buffers for them.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "lib/sys/cleanup.h"
#include "lib/sys/syscalls.h"
#include "streams/modules.h"

/* Makes a system call in which the thread may be cancelled; asf__cancelled then ends the call on the
 * stream.  No thread is cancelled on a stream that was opened with "c", or while libc writes a message of
 * its own to the stream. */
#define CANCELLABLE(c, call)                                                                                 \
    (__extension__({                                                                                         \
        ssize_t r_;                                                                                          \
        int before_ = 0;                                                                                     \
        const bool held_ = asf__unlikely((c)->flags2 & ASF_NOT_CANCELLED) && !__libc_single_threaded;        \
        if (held_)                                                                                           \
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);                                        \
        r_ = asf__likely(__libc_single_threaded) ? call : ASF_CLEANUP(asf__cancelled, c, call);              \
        if (held_)                                                                                           \
            pthread_setcancelstate(before_, &before_);                                                       \
        r_;                                                                                                  \
    }))

static void move_place(struct asf_cios *c, ssize_t n) {
    if (c->place >= 0)
        c->place += n;
}

static ssize_t count_input(struct asf_cios *c, ssize_t r) {
    c->stats.syscalls++;
    if (r > 0) {
        c->stats.in += (uint64_t)r;
        move_place(c, r);
    }
    return r;
}

ssize_t asf__fd_get(struct asf_cios *c, void *buf, size_t n) {
    return count_input(c, CANCELLABLE(c, asf__read(c->fd, buf, n)));
}

ssize_t asf__fd_get_on(struct asf_cios *c, void *buf, size_t n, void *more, size_t size) {
    return count_input(c, asf__read_on(c->fd, buf, n, more, size));
}

static ssize_t count_output(struct asf_cios *c, ssize_t r) {
    c->stats.syscalls++;
    if (c->flags & ASF_APPENDING)
        c->place = -1;
    if (r > 0) {
        c->stats.out += (uint64_t)r;
        move_place(c, r);
    }
    return r;
}

ssize_t asf__fd_put(struct asf_cios *c, const void *buf, size_t n) {
    return count_output(c, CANCELLABLE(c, asf__write(c->fd, buf, n)));
}

ssize_t asf__fd_put_on(struct asf_cios *c, const void *buf, size_t n, const void *more, size_t size) {
    return count_output(c, asf__write_on(c->fd, buf, n, more, size));
}

ssize_t asf__fd_put_at(struct asf_cios *c, const void *buf, size_t n, off64_t offset) {
    ssize_t r = asf__sys.pwrite(c->fd, buf, n, offset);
    c->stats.syscalls++;
    if (r > 0)
        c->stats.out += (uint64_t)r;
    return r;
}

off64_t asf__fd_seek(struct asf_cios *c, off64_t offset, int whence) {
    c->stats.syscalls++;
    off64_t at = asf__lseek(c->fd, offset, whence);
    c->place = at < 0 ? -1 : at;
    return at;
}

off64_t asf__fd_length(struct asf_cios *c) {
    struct stat64 st;
    return asf__fstat(c->fd, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : -1;
}

static bool is_same_file(const struct asf_cios *c) {
    struct stat64 st;
    return asf__fstat(c->fd, &st) == 0 && st.st_dev == c->device && st.st_ino == c->inode;
}

/* Whether the file's bytes before `at` equal the bytes that were read last. */
static bool has_before(const struct asf_cios *c, off64_t at) {
    char there[512];
    const char *end = c->flags & ASF_IN_BACKUP ? c->save_end : c->read_end;
    size_t n = end - c->buf_base < (ptrdiff_t)sizeof there ? (size_t)(end - c->buf_base) : sizeof there;
    return at >= (off64_t)n && asf__sys.pread(c->fd, there, n, at - (off64_t)n) == (ssize_t)n &&
           memcmp(there, end - n, n) == 0;
}

/* After fileno or a fork, the program may have moved the descriptor, or put another file in its place,
 * before the stream's last read: then the file's bytes are compared. */
bool asf__fd_in_place(struct asf_cios *c, bool thoroughly) {
    if (!thoroughly && c->place < 0) /* fdopen does not ask for the offset */
        return true;
    off64_t at = asf__lseek(c->fd, 0, SEEK_CUR);
    return (at == c->place && (!thoroughly || is_same_file(c))) || has_before(c, at);
}

int asf__fd_close(struct asf_cios *c) {
    if (asf__unlikely(c->advice == ASF_ONCE))
        asf__drop_read(c);
    return c->fd >= 0 ? asf__close(c->fd) : 0;
}

int asf__file_close(struct asf_cios *c) {
    asf__end_positional(c);
    return asf__fd_close(c);
}

const struct asf_module asf__file_read = {ASF__DESCRIPTOR_OPS("read")};
const struct asf_module asf__file_write = {ASF__DESCRIPTOR_OPS("write")};
const struct asf_module asf__file_update = {ASF__DESCRIPTOR_OPS("update")};
const struct asf_module asf__pipe = {ASF__DESCRIPTOR_OPS("pipe")};

/* The module of a regular file on an ASI stream that only writes. */
const struct asf_module asf__places_write = {
    .name = "write",
    .put = asf__fd_put,
    .seek = asf__fd_seek,
    ASF__POSITIONAL_OPS,
};

/* The module of a socket or terminal that is read and written: input and output do not share an offset. */
const struct asf_module asf__two_ways = {
    .name = "pipe",
    .get = asf__fd_get,
    .put = asf__fd_put,
    .close = asf__fd_close,
};
