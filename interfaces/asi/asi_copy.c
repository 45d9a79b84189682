/* SPDX-License-Identifier: MIT
 *
 * asi_copy.c - from one stream to another, by the cheapest way measured for
 * the two.
 *
 * Within the kernel where that costs less (streams/transfer.c has the figures);
 * else a file is read into the output's buffer, and what stands in the input's
 * is written from there.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "backplane/check.h"
#include "backplane/hooks.h"
#include "backplane/regions.h"
#include "lib/sys/cleanup.h"
#include "streams/streams.h"

/* Both locks in the order of their addresses: another thread may copy the
 * other way. */
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

/* Make the streams a reading and a writing one. */
static int ready(struct asf_cios *in, struct asf_cios *out) {
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

/* A file into the output's buffer: the kernel copies it there, once.  A ring or a segment,
 * whose memory is its own, has none, and that of a stream of stdio stays as large as it is. */
static bool reads_into_output(const struct asf_cios *in, const struct asf_cios *out) {
    enum { LARGE = 64 << 10 };
    return in->kind == ASF_REGULAR && !(in->flags & ASF_IN_BACKUP) && !out->ops->drain &&
           out->block >= LARGE && !(out->flags & (ASF_LINE_BUF | ASF_UNBUFFERED));
}

/* A mapped window is left for the file itself; what else is at hand is not. */
static bool leave_window(struct asf_cios *in) {
    if (in->mapped && asf__sync(in) == 0)
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

/* What fails is told again by the output's next call, so that the caller can
 * tell whose error it was. */
static int put(struct asf_cios *out, const char *p, size_t n, bool flush) {
    int error;
    asf__append(out, p, n, &error);
    if (error == 0 && flush)
        error = asf__flush_output(out);
    if (error == -EBUSY) /* after a region in use, whose sfree writes it */
        error = 0;
    return out->failed = error;
}

/* From the input's buffer; a pipe is not waited for with the output locked. */
static int64_t write_region(struct asf_cios *in, struct asf_cios *out, int64_t most) {
    enum { PIECE = 1 << 20 };
    ssize_t length = most < PIECE ? (ssize_t)most : PIECE;
    char *region = asf_salloc_some(in, &length);
    if (!region)
        return length;
    int cancellation = asf__forbid_cancellation();
    asf__lock(&out->lk);
    int error = put(out, region, (size_t)length, in->kind != ASF_REGULAR);
    asf__unlock(&out->lk);
    int freed = asf_sfree(in, region);
    asf__permit_cancellation(cancellation);
    return error < 0 ? error : freed < 0 ? freed : length;
}

/* By the kernel, or from the kernel into the output's buffer: both begin where
 * the input's window is empty. */
static bool can_leave_window(const struct asf_transfer *t, struct asf_cios *in, const struct asf_cios *out) {
    bool kernel = !t->known || t->way || t->clone || t->sparse;
    return (kernel || reads_into_output(in, out)) && !(in->flags & ASF_IN_BACKUP) && !in->stopped &&
           leave_window(in);
}

/* Not cancelled with both streams locked: one would stay so. */
static int64_t copy_some(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t most) {
    int cancellation = asf__forbid_cancellation();
    lock_both(in, out);
    int64_t n = ready(in, out);
    bool empty = n == 0 && can_leave_window(t, in, out);
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

static int64_t copy_all(struct asf_transfer *t, struct asf_cios *in, struct asf_cios *out, int64_t n) {
    int64_t copied = 0;
    while (copied < n) {
        if (!__libc_single_threaded)
            pthread_testcancel();
        int64_t some = copy_some(t, in, out, n - copied);
        if (some < 0)
            return some;
        if (some == 0)
            break;
        copied += some;
    }
    return copied;
}

static void end_transfer(void *t) {
    asf__transfer_end(t);
}

int64_t asf_copy(struct asf_cios *in, struct asf_cios *out, int64_t n) {
    struct asf_transfer t = {0};
    if (n < 0 || in == out)
        return -EINVAL;
    int64_t copied = ASF_CLEANUP(end_transfer, &t, copy_all(&t, in, out, n));
    asf__transfer_end(&t);
    return copied;
}
