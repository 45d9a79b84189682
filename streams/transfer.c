/* SPDX-License-Identifier: MIT
 *
 * transfer.c - move bytes from one descriptor to another within the kernel, by shared blocks,
 * copy_file_range, splice or sendfile; holes of a file stay holes.
 *
 * CPU milliseconds for 96 MB in the page cache, AMD EPYC, Linux 6.18 ("mapped" writes from a map; "asked"
 * asks for the map's pages first):
 *
 *                            ext4 to ext4   tmpfs to tmpfs   ext4 to /dev/null
 *   read and write, 64 KB         29              42                10
 *   read and write, 256 KB        26              41                10
 *   copy_file_range               29              42
 *   sendfile                      29              42                 4.1
 *   mapped                        39              49
 *   mapped, asked                 33              49
 *
 * Into a pipe, with its reader's CPU: read and write 60; splice 52 while the pipe holds 64 KB, 24 when it
 * holds 512 KB; mapped 70.  Into a socket, with its reader's CPU: read and write of 256 KB 61, and over TCP
 * 100; sendfile 38 and 76.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/sys/costs.h"
#include "lib/sys/syscalls.h"
#include "streams/modules.h"

/* The ways of moving bytes.  BY_HAND: by read and write, which the caller makes. */
enum { BY_HAND, RANGE, SPLICE, SEND, PASS_BY };

enum {
    LEAST = ASF_COSTS_LEAST, /* fewer bytes are copied with read and write, which is as fast */
    PIECE = 8 << 20,         /* the most bytes at once, since the streams are locked meanwhile */
    BLOCK = 4096,
};

/* --- bookkeeping ---------------------------------------------------------------- */

static void moved(struct asf_cios *c, off64_t n) {
    c->stats.syscalls++;
    if (c->offset >= 0)
        c->offset += n;
    if (c->place >= 0)
        c->place += n;
    if (c->buf_base && !asf__is_putting(c))
        asf__empty_windows(c); /* the windows' bytes no longer end at c->offset */
}

static void moved_both(struct asf_cios *in, struct asf_cios *out, off64_t n) {
    moved(in, n);
    moved(out, n);
    in->stats.in += (uint64_t)n;
    out->stats.out += (uint64_t)n;
}

/* Flushes the output.  If `out` has unread input, sets its descriptor back over that, so that the copied
 * bytes are put at the stream's offset. */
static int clear_output(struct asf_cios *out) {
    int rc = asf__whole(asf__flush_output(out));
    if (rc < 0 || out->read_end == out->write_base)
        return rc;
    off64_t at = out->ops->seek(out, out->write_base - out->read_end, SEEK_CUR);
    if (at < 0)
        return (int)at;
    out->offset = at;
    asf__set_read(out, out->write_base, out->write_base, out->write_base);
    return 0;
}

/* After a failed call, changes to read and write.  Returns -EPIPE, which is the output's error, and
 * -EINTR.  On any other error returns 0: copying one buffer with read and write shows which side failed. */
static int64_t after_failure(struct asf_transfer *t, int64_t rc) {
    t->way = BY_HAND;
    return rc == -EPIPE || rc == -EINTR ? rc : 0;
}

/* --- the choice ------------------------------------------------------------------ */

/* Whether the file system's server copies, so that no bytes pass over the network. */
static bool is_remote(long type) {
    static const long types[] = {NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,  CIFS_SUPER_MAGIC,
                                 SMB2_SUPER_MAGIC, CEPH_SUPER_MAGIC, FUSE_SUPER_MAGIC};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type == types[i])
            return true;
    return false;
}

static bool range_costs_less(const struct asf_cios *in, const struct asf_cios *out) {
    struct statfs64 from, to;
    if (asf__sys.fstatfs(in->fd, &from) < 0 || asf__sys.fstatfs(out->fd, &to) < 0 || from.f_type != to.f_type)
        return false;
    const struct asf_fs_costs *here = asf__costs_of((long)from.f_type);
    if (here && here->by_hand && here->by_range)
        return here->by_range < here->by_hand;
    return is_remote((long)from.f_type);
}

static int way_from_file(const struct asf_cios *in, const struct asf_cios *out, mode_t to) {
    if (out->kind == ASF_NULL_DEVICE)
        return PASS_BY;
    if (S_ISFIFO(to))
        return SPLICE;
    if (S_ISSOCK(to))
        return SEND;
    return S_ISREG(to) && range_costs_less(in, out) ? RANGE : BY_HAND;
}

/* Chooses the way from a pipe: splice, to the null device or another pipe.  Not into a file: there the
 * kernel locks the pipe while it copies, and the pipe's writer spins; if both ends are busy that costs
 * more than it gains.  Not in a multithreaded process: the output is locked while splice waits for input,
 * and another thread might want it. */
static int way_from_pipe(const struct asf_cios *out, mode_t to) {
    return __libc_single_threaded && (out->kind == ASF_NULL_DEVICE || S_ISFIFO(to)) ? SPLICE : BY_HAND;
}

static bool plain_descriptors(const struct asf_cios *in, const struct asf_cios *out) {
    return in->fd >= 0 && out->fd >= 0 && in->ops->get == asf__fd_get && out->ops->put == asf__fd_put &&
           !(out->flags & ASF_APPENDING);
}

/* Enlarges a pipe, so that both ends run at once.  Never makes it smaller; a pipe keeps its size if the
 * user's pipes have reached their limit. */
static void widen_pipe(int fd, int size) {
    int now = asf__sys.pipe_size(fd, 0);
    if (now > 0 && now < size)
        asf__sys.pipe_size(fd, size);
}

/* Returns the buffer size for read and write: as asf tune measured, else twice the usual one. */
static size_t buffer_for(const struct asf_cios *out) {
    const struct asf_costs *c = asf__costs();
    size_t size = c ? c->copy : 2 * out->block;
    return size > out->block ? size : out->block;
}

static void prepare_file(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out,
                         const struct stat64 *from, const struct stat64 *to) {
    bool file = S_ISREG(to->st_mode);
    if (in->offset < 0)
        in->offset = in->ops->seek(in, 0, SEEK_CUR);
    t->size = from->st_size;
    if (in->offset < 0 || t->size - in->offset < LEAST)
        return;
    if (file && from->st_dev == to->st_dev && from->st_ino == to->st_ino)
        return;
    t->sparse = file && from->st_blocks < from->st_size / 512;
    t->clone = file;
    t->buffer = buffer_for(out);
    t->way = way_from_file(in, out, to->st_mode);
}

void asf__transfer_prepare(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out) {
    struct stat64 from, to;
    t->known = true;
    if (!plain_descriptors(in, out) || asf__sys.fstat(in->fd, &from) < 0 || asf__sys.fstat(out->fd, &to) < 0)
        return;
    t->waits = S_ISFIFO(from.st_mode);
    if (S_ISREG(from.st_mode))
        prepare_file(t, in, out, &from, &to);
    else if (t->waits)
        t->way = way_from_pipe(out, to.st_mode);
    if (t->way == SPLICE && S_ISFIFO(to.st_mode))
        widen_pipe(out->fd, (int)asf__tuned_pipe());
}

/* --- shared blocks ---------------------------------------------------------------- */

/* Shares blocks of the input with the output: whole blocks, or all bytes to the end of the input. */
static int64_t clone_blocks(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t most) {
    int64_t left = t->size - in->offset, n = most < left ? most / BLOCK * BLOCK : left;
    t->clone = false;
    off64_t to = asf__lseek(out->fd, 0, SEEK_CUR);
    if (n <= 0 || in->offset % BLOCK || to < 0 || to % BLOCK)
        return 0;
    if (asf__sys.clone_range(in->fd, out->fd, in->offset, to, (size_t)n) < 0)
        return 0;
    asf__lseek(in->fd, in->offset + n, SEEK_SET);
    asf__lseek(out->fd, to + n, SEEK_SET);
    moved_both(in, out, n);
    return n;
}

/* --- holes ----------------------------------------------------------------------- */

/* Returns the output's offset if the output ends there, so that a hole can be made; else -1. */
static off64_t end_of_output(const struct asf_cios *out) {
    struct stat64 st;
    off64_t at = asf__lseek(out->fd, 0, SEEK_CUR);
    return at >= 0 && asf__sys.fstat(out->fd, &st) == 0 && st.st_size == at ? at : -1;
}

/* Returns the offset of the input's next data, or the size of the file if only a hole is left. */
static off64_t next_data(const struct asf_transfer *t, const struct asf_cios *in) {
    off64_t data = asf__lseek(in->fd, in->offset, SEEK_DATA);
    return data == -ENXIO ? t->size : data;
}

/* Skips a hole in the input, and makes one in the output.  Returns its length; 0: there is data. */
static int64_t pass_hole(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t most) {
    off64_t to = end_of_output(out), from = in->offset, data = to < 0 ? -1 : next_data(t, in), n = 0;
    t->sparse = data >= from;
    if (data > from)
        n = data - from < most ? data - from : most;
    if (n > 0 && asf__sys.truncate(out->fd, to + n) == 0) {
        asf__lseek(out->fd, to + n, SEEK_SET);
        moved_both(in, out, n);
    } else {
        n = 0;
    }
    if (n == 0 && t->sparse) {
        t->data_end = asf__lseek(in->fd, in->offset, SEEK_HOLE);
        t->sparse = t->data_end > in->offset;
    }
    asf__lseek(in->fd, in->offset, SEEK_SET);
    return n;
}

/* --- by one system call ----------------------------------------------------------------- */

/* Whether the output has room: then a signal must have interrupted the wait for the input. */
static bool has_room(const struct asf_cios *out) {
    struct pollfd ready = {.fd = out->fd, .events = POLLOUT};
    const struct timespec now = {0, 0};
    return asf__raw_syscall(SYS_ppoll, (long)&ready, 1, (long)&now, 0) > 0;
}

static int64_t by_one_call(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t most) {
    ssize_t (*call)(int, int, size_t) = t->way == RANGE  ? asf__sys.copy_range
                                        : t->way == SEND ? asf__sys.send
                                                         : asf__sys.splice;
    enum asf_use of_in = asf__begin_system_call(in), of_out = asf__begin_system_call(out);
    ssize_t n = call(in->fd, out->fd, (size_t)(most < PIECE ? most : PIECE));
    asf__end_system_call(in, of_in);
    asf__end_system_call(out, of_out);
    t->of_input = n == -EINTR && t->waits && has_room(out);
    if (n <= 0)
        return after_failure(t, n);
    moved_both(in, out, n);
    return n;
}

/* Whether the input's next n bytes are all in memory, and still in the file. */
static bool is_in_memory(const struct asf_cios *in, int64_t n) {
    struct stat64 st;
    off64_t page = (off64_t)asf__page(), from = in->offset / page * page, end = in->offset + n;
    return asf__sys.fstat(in->fd, &st) == 0 && st.st_uid == geteuid() && st.st_size >= end &&
           asf__sys.cached_pages(in->fd, from, (size_t)(end - from)) >= (end - from + page - 1) / page;
}

/* Copies to the null device.  Bytes in memory can be read without an error, and the device drops them:
 * the input's offset is moved past them.  At the first bytes that are not in memory it changes to
 * sendfile, which reads all bytes, so that errors of the disk are reported. */
static int64_t pass_by(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t most) {
    int64_t n = most < PIECE ? most : PIECE;
    if (!is_in_memory(in, n) || asf__lseek(in->fd, in->offset + n, SEEK_SET) < 0) {
        t->way = SEND;
        return by_one_call(t, in, out, most);
    }
    moved_both(in, out, n);
    return n;
}

/* Limits *most to the input's size when it was examined, or to the next hole.  A file that has grown, or
 * that has no size (/proc), is copied to its end with read and write. */
static void limit_to_size(const struct asf_transfer *t, const struct asf_cios *in, int64_t *most) {
    off64_t end = t->sparse && t->data_end < t->size ? t->data_end : t->size;
    if (end > in->offset && *most > end - in->offset)
        *most = end - in->offset;
}

/* Shares blocks with the output, or skips a hole, so that it stays a hole: neither moves bytes. */
static int64_t without_moving(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out,
                              int64_t most) {
    bool hole = t->sparse && in->offset >= t->data_end;
    int64_t n = t->clone || hole ? clear_output(out) : 0;
    if (n == 0 && t->clone)
        n = clone_blocks(t, in, out, most);
    return n == 0 && hole ? pass_hole(t, in, out, most) : n;
}

static int64_t move_bytes(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t most) {
    int64_t n = clear_output(out);
    if (n < 0)
        return n;
    n = t->way == PASS_BY ? pass_by(t, in, out, most) : by_one_call(t, in, out, most);
    if (n == 0)
        t->way = BY_HAND;
    return n;
}

int64_t asf__transfer(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t *most) {
    int64_t n = 0;
    if (out->queue || (out->buffer && out->buffer->refs)) /* regions are in use */
        return 0;
    if (!t->waits) {
        if (in->offset < 0 || in->offset >= t->size)
            return 0;
        n = without_moving(t, in, out, *most);
        limit_to_size(t, in, most);
    }
    return n == 0 && t->way ? move_bytes(t, in, out, *most) : n;
}
