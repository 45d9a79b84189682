/* SPDX-License-Identifier: MIT
 *
 * read_ahead.c - what the kernel is told about a file that is read: to begin with what comes next
 * long before it is wanted, and to forget what has been done with.
 */
#define _GNU_SOURCE
#include "lib/sys/syscalls.h"
#include "streams/modules.h"

/* Whatever a call asks for, the kernel reads no more of it than the device's read-ahead, which is
 * 128 KB where nobody has changed it, or than its largest transfer.  More than 4 MB ahead was not
 * measured to be faster; 16 MB are for disks that are further away. */
enum {
    PIECE = 128 << 10,
    NEAR = 1 << 20,
    STEP = 4 << 20,
    DEPTH = 16 << 20,
    AT_ONCE = 64 << 20,
    LARGEST_FOLIO = 2 << 20
};

static void ask(struct asf_cios *c, off64_t at, off64_t end) {
    for (; at < end; at += PIECE) {
        asf__sys.advise(c->fd, at, PIECE, POSIX_FADV_WILLNEED);
        c->stats.syscalls++;
    }
}

/* Not for what is in memory: to ask for it costs a twentieth of reading it, to look at one page nothing. */
static void ask_by_steps(struct asf_cios *c, off64_t at, off64_t size) {
    struct asf_ahead *a = &c->ahead;
    if (a->asked < at)
        a->asked = at;
    for (; a->asked <= at + DEPTH - STEP && a->asked < size; a->asked += STEP)
        if (asf__sys.unasked(c->fd, a->asked))
            ask(c, a->asked, a->asked + STEP < size ? a->asked + STEP : size);
}

/* The kernel's own read-ahead, where it is deep, is as fast and fills the page cache with larger pieces,
 * which are faster to map: then, and in a file that is in memory, it has asked for what is NEAR. */
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
    bool told = c->advice == ASF_SEQUENTIAL || c->advice == ASF_ONCE;
    if ((!told && at - a->from < NEAR) || a->asked > at + (a->by_us ? DEPTH - STEP : NEAR))
        return;
    off64_t size = c->ops->length(c);
    c->stats.syscalls += 2;
    if (!a->by_us)
        a->by_us = kernel_is_behind(c, at, size);
    if (a->by_us)
        ask_by_steps(c, at, size);
}

/* --- what has been read ------------------------------------------------------------- */

static off64_t begin(const struct asf_buffer *b, off64_t end) {
    off64_t at = b && b->mapped ? ((const struct asf_window *)(const void *)b)->at : end;
    return at < end ? at : end;
}

/* Nothing before it is in use: where the first mapped window begins that there is, or `end`. */
static off64_t done_until(const struct asf_cios *c, off64_t end) {
    end = begin(c->buffer, end);
    for (const struct asf_buffer *b = c->retired; b; b = b->next)
        end = begin(b, end);
    return end;
}

/* Both ends on the boundaries of folios: the kernel drops none of which a part lies outside. */
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
    if (!c->ops->fill)
        return;
    asf__use_buffer(c, NULL);
    drop_until(c, (a->by_us && a->asked > a->next ? a->asked : a->next) + LARGEST_FOLIO - 1);
}

/* --- advice ----------------------------------------------------------------------- */

/* Where the program stands. */
static off64_t place(struct asf_cios *c) {
    off64_t end = c->offset >= 0 ? c->offset : c->ops->seek(c, 0, SEEK_CUR);
    return asf__is_putting(c) ? end : end - (off64_t)asf__unread(c);
}

static int will_need(struct asf_cios *c) {
    off64_t at = place(c) & -(off64_t)PIECE, size = c->ops->length(c);
    if (at < 0 || size < 0)
        return -EINVAL;
    ask(c, at, size - at < AT_ONCE ? size : at + AT_ONCE);
    return 0;
}

/* A mapped window would keep its pages: it is left, and mapped again where there is more to read. */
static int dont_need(struct asf_cios *c) {
    if (c->mapped && !(c->flags & ASF_IN_BACKUP)) {
        int rc = asf__sync(c);
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
        c->ahead.dropped = place(c) & -(off64_t)LARGEST_FOLIO;
    return lasts                    ? asf__sys.advise(c->fd, 0, 0, patterns[advice])
           : advice == ASF_WILLNEED ? will_need(c)
           : advice == ASF_DONTNEED ? dont_need(c)
                                    : 0;
}
