/* SPDX-License-Identifier: MIT
 *
 * read_ahead.c - advise the kernel how a file is read: to read bytes long before they are wanted, and to
 * drop pages that the program has finished with.
 */
#define _GNU_SOURCE
#include "lib/sys/syscalls.h"
#include "streams/modules.h"

/* One POSIX_FADV_WILLNEED reads at most the device's read-ahead size (128 KB by default) or the device's
 * largest transfer, whichever is larger: hence PIECE.  On the measured disks a DEPTH of more than 4 MB
 * was not faster; 16 MB allow for disks with a longer delay. */
enum {
    PIECE = 128 << 10,
    NEAR = 1 << 20,
    STEP = 4 << 20,
    DEPTH = 16 << 20,
    AT_ONCE = 64 << 20,
    LARGEST_FOLIO = 2 << 20
};

static void ask_kernel(struct asf_cios *c, off64_t at, off64_t end) {
    for (; at < end; at += PIECE) {
        asf__sys.advise(c->fd, at, PIECE, POSIX_FADV_WILLNEED);
        c->stats.syscalls++;
    }
}

/* Asks only for steps whose first page is not in memory: a request for bytes in memory costs a twentieth
 * of reading them; testing one page costs next to nothing. */
static void ask_by_steps(struct asf_cios *c, off64_t at, off64_t size) {
    struct asf_ahead *a = &c->ahead;
    if (a->asked < at)
        a->asked = at;
    for (; a->asked <= at + DEPTH - STEP && a->asked < size; a->asked += STEP)
        if (asf__sys.unasked(c->fd, a->asked))
            ask_kernel(c, a->asked, a->asked + STEP < size ? a->asked + STEP : size);
}

/* Whether the kernel's own read-ahead has not reached the page that is NEAR bytes ahead.  If it has, it is
 * deep enough, or the file is in memory.  It is then as fast as ours, and fills the page cache with larger
 * folios, which are faster to map. */
static bool kernel_is_behind(struct asf_cios *c, off64_t at, off64_t size) {
    bool behind = at + NEAR < size && asf__sys.unasked(c->fd, at + NEAR);
    c->ahead.asked = behind ? at : at + NEAR + STEP;
    return behind;
}

void asf__read_ahead(struct asf_cios *c) {
    struct asf_ahead *a = &c->ahead;
    off64_t at = c->offset;
    if (at < 0 || c->advice == ASF_RANDOM)
        return;
    if (at != a->next) {
        a->from = a->asked = at;
        a->by_us = false;
        if (a->dropped > at)
            a->dropped = at & -(off64_t)LARGEST_FOLIO;
    }
    bool sequential = c->advice == ASF_SEQUENTIAL || c->advice == ASF_ONCE;
    if ((!sequential && at - a->from < NEAR) || a->asked > at + (a->by_us ? DEPTH - STEP : NEAR))
        return;
    off64_t size = c->ops->length(c);
    c->stats.syscalls += 2;
    if (!a->by_us)
        a->by_us = kernel_is_behind(c, at, size);
    if (a->by_us)
        ask_by_steps(c, at, size);
}

/* --- dropping pages that were read -------------------------------------------------- */

static off64_t mapped_from(const struct asf_buffer *b, off64_t end) {
    off64_t at = b && b->mapped ? ((const struct asf_window *)(const void *)b)->at : end;
    return at < end ? at : end;
}

/* Returns the offset before which no mapped window has bytes: the beginning of the first window, or
 * `end`. */
static off64_t done_until(const struct asf_cios *c, off64_t end) {
    end = mapped_from(c->buffer, end);
    for (const struct asf_buffer *b = c->retired; b; b = b->next)
        end = mapped_from(b, end);
    return end;
}

/* Drops the file's pages before `end` from the page cache.  Both ends are multiples of LARGEST_FOLIO: the
 * kernel drops no folio in part. */
static void drop_until(struct asf_cios *c, off64_t end) {
    struct asf_ahead *a = &c->ahead;
    end &= -(off64_t)LARGEST_FOLIO;
    if (end <= a->dropped)
        return;
    asf__sys.advise(c->fd, a->dropped, end - a->dropped, POSIX_FADV_DONTNEED);
    c->stats.syscalls++;
    a->dropped = end;
}

void asf__filled(struct asf_cios *c) {
    if (c->offset < 0) /* the end of the file was met */
        return;
    c->ahead.next = c->offset;
    if (asf__unlikely(c->advice == ASF_ONCE))
        drop_until(c, done_until(c, c->offset));
}

void asf__drop_read(struct asf_cios *c) {
    const struct asf_ahead *a = &c->ahead;
    if (!asf__module_fills(c))
        return;
    asf__use_buffer(c, NULL);
    drop_until(c, (a->by_us && a->asked > a->next ? a->asked : a->next) + LARGEST_FOLIO - 1);
}

/* --- advice ----------------------------------------------------------------------- */

/* Returns the offset of the program's next byte. */
static off64_t program_offset(struct asf_cios *c) {
    off64_t end = c->offset >= 0 ? c->offset : c->ops->seek(c, 0, SEEK_CUR);
    return asf__is_putting(c) ? end : end - (off64_t)asf__unread(c);
}

static int will_need(struct asf_cios *c) {
    off64_t at = program_offset(c) & -(off64_t)PIECE, size = c->ops->length(c);
    if (at < 0 || size < 0)
        return -EINVAL;
    ask_kernel(c, at, size - at < AT_ONCE ? size : at + AT_ONCE);
    return 0;
}

/* Serves ASF_DONTNEED.  A mapped window would keep its pages in memory, so it is unmapped; the next read
 * maps one again. */
static int dont_need(struct asf_cios *c) {
    if (c->mapped && !(c->flags & ASF_IN_BACKUP)) {
        int rc = asf__sync(c, 0);
        if (rc < 0)
            return rc;
        asf__leave_window(c);
    }
    return asf__sys.advise(c->fd, 0, 0, POSIX_FADV_DONTNEED);
}

int asf__advise(struct asf_cios *c, enum asf_advice advice) {
    static const int patterns[] = {[ASF_NORMAL] = POSIX_FADV_NORMAL,
                                   [ASF_SEQUENTIAL] = POSIX_FADV_SEQUENTIAL,
                                   [ASF_RANDOM] = POSIX_FADV_RANDOM,
                                   [ASF_ONCE] = POSIX_FADV_SEQUENTIAL};
    int rc = (unsigned)advice > ASF_COPIED ? -EINVAL : asf__arrive(c);
    if (rc < 0)
        return rc;
    bool lasts = advice != ASF_WILLNEED && advice != ASF_DONTNEED && advice != ASF_COPIED;
    enum asf_advice before = c->advice;
    if (lasts)
        c->advice = advice;
    c->copied |= advice == ASF_COPIED;
    asf__look_below(c);
    if (c->kind != ASF_REGULAR) {
        c->advice = before;
        return -ESPIPE;
    }
    if (advice == ASF_ONCE && before != ASF_ONCE)
        c->ahead.dropped = program_offset(c) & -(off64_t)LARGEST_FOLIO;
    return lasts                    ? asf__sys.advise(c->fd, 0, 0, patterns[advice])
           : advice == ASF_WILLNEED ? will_need(c)
           : advice == ASF_DONTNEED ? dont_need(c)
                                    : 0;
}
