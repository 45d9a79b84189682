/* SPDX-License-Identifier: MIT
 *
 * asi_copy.c - asf_copy: copy from one stream to another in the way that was measured as the cheapest for
 * their kinds.
 *
 * The kernel copies if that costs less (streams/transfer.c has the figures).  Otherwise a file is read into
 * the output's buffer, and bytes in the input's buffer are written from there.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "backplane/backplane.h"
#include "backplane/regions.h"
#include "lib/sys/cleanup.h"
#include "streams/streams.h"

/* Takes both locks in the order of their addresses: another thread may copy in the other direction. */
static void lock_both(struct asf_cios *a, struct asf_cios *b) {
    asf__lock(a < b ? &a->lk : &b->lk);
    asf__lock(a < b ? &b->lk : &a->lk);
    asf__check(a);
    asf__check(b);
}

static void unlock_both(struct asf_cios *a, struct asf_cios *b) {
    asf__check(a);
    asf__check(b);
    asf__unlock(&a->lk);
    asf__unlock(&b->lk);
}

/* Sets `in` to input mode and `out` to output mode.  Returns 0, -errno, or an earlier error of `out`. */
static int set_directions(struct asf_cios *in, struct asf_cios *out) {
    int rc = out->failed;
    out->failed = 0;
    if (rc == 0)
        rc = asf__attach(in);
    if (rc == 0)
        rc = asf__attach(out);
    if (rc == 0)
        rc = asf__to_bytes(out);
    if (rc == 0)
        rc = asf__to_bytes(in);
    if (rc == 0)
        rc = asf__to_write(out);
    return rc < 0 ? rc : asf__to_read(in);
}

/* Whether to read a file straight into the output's buffer, which saves a copy.  A ring or a segment has
 * memory of its own and no buffer; a stdio stream's buffer keeps libc's size, which is too small. */
static bool reads_into_output(const struct asf_cios *in, const struct asf_cios *out) {
    enum { LARGE = 64 << 10 };
    return in->kind == ASF_REGULAR && !(in->flags & ASF_IN_BACKUP) && !asf__module_drains(out) &&
           out->block >= LARGE && !(out->flags & (ASF_LINE_BUF | ASF_UNBUFFERED));
}

/* Drops a mapped window, whose bytes can be read from the file again.  Returns whether the window is
 * empty. */
static bool drop_mapped_window(struct asf_cios *in) {
    if (in->mapped && asf__sync(in, 0) == 0)
        asf__leave_window(in);
    return asf__avail(in) == 0;
}

static int64_t read_into_output(struct asf_cios *in, struct asf_cios *out, size_t buffer, int64_t most) {
    size_t room = asf__room_in_buffer(out);
    if (room < buffer / 2) {
        int rc = asf__drain(out, buffer);
        if (rc < 0)
            return out->failed = rc;
        room = asf__room_in_buffer(out);
    }
    ssize_t n = asf__get(in, out->write_ptr, (uint64_t)most < room ? (size_t)most : room);
    if (n > 0)
        out->write_ptr += n;
    return n;
}

/* Appends to the output.  On an error the output's next call returns the error again, so that the caller
 * can tell which stream failed. */
static int append_to_output(struct asf_cios *out, const char *p, size_t n, bool flush) {
    int error;
    asf__append(out, p, n, &error);
    if (error == 0 && flush)
        error = asf__put_now(out); /* the sfree of a region in use puts the bytes after it */
    return out->failed = error;
}

/* Copies from the input's buffer.  The output is not locked while the call waits for input. */
static int64_t write_region(struct asf_cios *in, struct asf_cios *out, int64_t most) {
    enum { PIECE = 1 << 20 };
    ssize_t length = most < PIECE ? (ssize_t)most : PIECE;
    char *region = asf_salloc_some(in, &length);
    if (!region)
        return length;
    int cancellation = asf__forbid_cancellation();
    asf__lock(&out->lk);
    int error = append_to_output(out, region, (size_t)length, in->kind != ASF_REGULAR);
    asf__unlock(&out->lk);
    int freed = asf_sfree(in, region);
    asf__permit_cancellation(cancellation);
    return error < 0 ? error : freed < 0 ? freed : length;
}

/* Whether to copy in the kernel or into the output's buffer.  The descriptor must be at the next byte to
 * copy, so the input's window must be empty, or a mapped one that is dropped. */
static bool can_bypass_window(const struct asf_transfer *t, struct asf_cios *in, const struct asf_cios *out) {
    bool kernel = !t->known || t->way || t->clone || t->sparse;
    return (kernel || reads_into_output(in, out)) && !(in->flags & ASF_IN_BACKUP) && !in->stopped &&
           drop_mapped_window(in);
}

/* Copies once.  Forbids cancellation while both streams are locked: one of them would stay locked. */
static int64_t copy_some(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t most) {
    int cancellation = asf__forbid_cancellation();
    lock_both(in, out);
    int64_t n = set_directions(in, out);
    bool empty = n == 0 && can_bypass_window(t, in, out);
    if (empty && !t->known)
        asf__transfer_prepare(t, in, out);
    if (empty) {
        n = asf__transfer(t, in, out, &most);
        out->failed = n < 0 && !t->of_input ? (int)n : 0;
    }
    bool direct = n == 0 && empty && reads_into_output(in, out);
    if (direct)
        n = read_into_output(in, out, t->buffer ? t->buffer : out->block, most);
    unlock_both(in, out);
    asf__permit_cancellation(cancellation);
    return direct || n != 0 ? n : write_region(in, out, most);
}

int64_t asf_copy(struct asf_cios *in, struct asf_cios *out, int64_t n) {
    struct asf_transfer t = {0};
    int64_t copied = 0;
    if (n < 0 || in == out)
        return -EINVAL;
    while (copied < n) {
        if (!__libc_single_threaded)
            pthread_testcancel();
        int64_t some = copy_some(&t, in, out, n - copied);
        if (some < 0)
            return some;
        if (some == 0)
            break;
        copied += some;
    }
    return copied;
}
