/* SPDX-License-Identifier: MIT
 *
 * asi_copy.c - from one stream to another, by the cheapest way measured for
 * the two.
 *
 * 100 MB into a new file on ext4, CPU milliseconds, input in folios of 4 KB and
 * large ones: read into the output's buffer and write from it 34 and 23, write
 * from the map 54 and 26 (the kernel stops at each page that is not mapped
 * yet), from the map with its pages touched first 46 and 25, copy_file_range
 * 37 and 28, sendfile 37 and 26.  Where nobody looks at what is written, a map
 * is not even read.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "backplane/backplane.h"

/* Both locks in the order of their addresses: another thread may copy the
 * other way. */
static void lock_both(struct asf_cios *a, struct asf_cios *b) {
    asf__lock(a < b ? &a->lk : &b->lk);
    asf__lock(a < b ? &b->lk : &a->lk);
}

static void unlock_both(struct asf_cios *a, struct asf_cios *b) {
    asf__unlock(&a->lk);
    asf__unlock(&b->lk);
}

/* Make the streams a reading and a writing one. */
static int ready(struct asf_cios *in, struct asf_cios *out) {
    asf__choose(in);
    asf__choose(out);
    int rc = out->failed;
    out->failed = 0;
    if (rc == 0)
        rc = asf__to_write(out);
    return rc < 0 ? rc : asf__to_read(in);
}

/* A file into the output's buffer: the kernel copies it there, once. */
static bool reads_into_output(const struct asf_cios *in, const struct asf_cios *out) {
    bool pushed_back = in->flags & ASF_IN_BACKUP;
    return in->regular && in->ops->get && out->own && !out->sink && !out->resident && !pushed_back;
}

/* A mapped window is left for the file itself; what else is at hand is not. */
static bool leave_window(struct asf_cios *in) {
    if (asf__avail(in) > 0 && in->in && in->in->watch >= 0)
        asf__flush(in);
    return asf__avail(in) == 0;
}

static int64_t read_into_output(struct asf_cios *in, struct asf_cios *out, int64_t most) {
    size_t room = (size_t)(out->buf_end - out->write_ptr);
    if (!out->write_ptr || room < out->limit / 2) {
        int rc = asf__drain(out, out->limit);
        if (rc < 0)
            return out->failed = rc;
        room = (size_t)(out->buf_end - out->write_ptr);
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
    return out->failed = error;
}

/* From the input's buffer; a pipe is not waited for with the output locked. */
static int64_t write_region(struct asf_cios *in, struct asf_cios *out, int64_t most) {
    enum { PIECE = 1 << 20 };
    ssize_t length = most < PIECE ? (ssize_t)most : PIECE;
    char *region = asf_salloc_some(in, &length);
    if (!region)
        return length;
    asf__lock(&out->lk);
    int error = put(out, region, (size_t)length, !in->regular);
    asf__unlock(&out->lk);
    int torn = asf_sfree(in, region);
    return error < 0 ? error : torn < 0 ? torn : length;
}

static int64_t copy_some(struct asf_cios *in, struct asf_cios *out, int64_t most) {
    lock_both(in, out);
    int64_t n = ready(in, out);
    bool direct = n == 0 && reads_into_output(in, out) && leave_window(in);
    if (direct)
        n = read_into_output(in, out, most);
    unlock_both(in, out);
    return direct || n < 0 ? n : write_region(in, out, most);
}

int64_t asf_copy(struct asf_cios *in, struct asf_cios *out, int64_t n) {
    int64_t copied = 0;
    if (n < 0 || in == out)
        return -EINVAL;
    while (copied < n) {
        int64_t some = copy_some(in, out, n - copied);
        if (some < 0)
            return some;
        if (some == 0)
            break;
        copied += some;
    }
    return copied;
}
