/* SPDX-License-Identifier: MIT
 *
 * backplane.c - the backplane's slow side: modes, regions that the current
 * buffer cannot serve, and moving data between the caller's memory and the
 * current buffer.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/backplane.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/syscalls.h"

/* Copies shorter than this are not worth giving up the lock for. */
enum { UNLOCKED_COPY = 2048, SEGMENTS = 8 };

/* What a thread reads for itself at most, from cache into cache, and at least;
 * and how many such buffers a stream keeps. */
enum { PIECE = 256 << 10, PIECE_LEAST = 64 << 10, SPARES = 8 };

void asf__cancelled(void *arg) {
    struct asf_cios *c = arg;
    c->held = false;
    asf__unlock(&c->lk);
}

/* --- buffers -------------------------------------------------------------- */

/* A buffer of PIECE bytes is kept for the next region: new memory costs more
 * than filling it. */
static void let_go(struct asf_cios *c, struct asf_buffer *b) {
    if (b->size != PIECE || b->user || b->watch >= 0 || c->spares == SPARES) {
        asf__buffer_free(b);
        return;
    }
    b->next = c->spare;
    c->spare = b;
    c->spares++;
}

static struct asf_buffer *take_spare(struct asf_cios *c) {
    struct asf_buffer *b = c->spare;
    if (!b)
        return asf__buffer_new(PIECE);
    c->spare = b->next;
    c->spares--;
    return b;
}

void asf__buffer_retire(struct asf_cios *c, struct asf_buffer *b) {
    if (b->refs == 0) {
        let_go(c, b);
    } else {
        b->next = c->retired;
        c->retired = b;
    }
}

void asf__set_block(struct asf_cios *c) {
    c->block = c->user_size ? c->user_size : c->flags & ASF_UNBUFFERED ? 1 : c->blksize;
    if (!c->own)
        c->limit = c->block;
}

/* --- modes ---------------------------------------------------------------- */

/* A wide stream's flag speaks of its characters; bytes pushed back it has none. */
static void free_wide_backup(struct asf_wide *w, int *flags) {
    if (*flags & ASF_IN_BACKUP) {
        wchar_t *end = w->save_end, *base = w->save_base;
        w->save_end = w->read_end;
        w->save_base = w->read_base;
        w->read_end = end;
        w->read_base = w->read_ptr = base;
        *flags &= ~ASF_IN_BACKUP;
    }
    wchar_t *backup = w->save_base;
    w->save_base = w->backup_base = w->save_end = NULL;
    free(backup);
}

void asf__free_backup_now(struct asf_cios *c) {
    if (c->orientation > 0) {
        free_wide_backup(&c->wide, &c->flags);
        return;
    }
    if (c->flags & ASF_IN_BACKUP) {
        /* The main window stands in save_base..save_end; glibc's convention. */
        char *end = c->save_end, *base = c->save_base;
        c->save_end = c->read_end;
        c->save_base = c->read_base;
        c->read_end = end;
        c->read_base = c->read_ptr = base;
        c->flags &= ~ASF_IN_BACKUP;
    }
    char *backup = c->save_base;
    c->save_base = c->backup_base = c->save_end = NULL;
    free(backup);
}

/* An empty read window, which is none before there is a buffer: gnulib and
 * __freading look for it in a stream that reads. */
static void empty_window(struct asf_cios *c) {
    c->read_base = c->in && c->buf_base ? c->buf_base : c->shortbuf;
    c->read_ptr = c->read_end = c->read_base;
}

void asf__close_read_window(struct asf_cios *c) {
    asf__free_backup(c);
    empty_window(c);
    asf__mark_ahead(c, false);
}

/* Output begins over input, as it stands in libc's buffer: should none of it be
 * put, the input is still there. */
static void lay_aside(struct asf_cios *c) {
    if (c->lag && c->in && c->orientation <= 0 && !(c->flags & ASF_IN_BACKUP)) {
        c->under = (struct asf_window){c->buf_base, c->buf_end, c->read_base, c->read_ptr, c->read_end};
    } else if (c->in) {
        asf__buffer_retire(c, c->in);
        c->in = NULL;
    }
}

static void written_over(struct asf_cios *c) {
    c->under = (struct asf_window){0};
    c->indent = 0;
    if (c->in) {
        asf__buffer_retire(c, c->in);
        c->in = NULL;
    }
}

static void take_up_again(struct asf_cios *c) {
    c->buf_base = c->under.buf_base;
    c->buf_end = c->under.buf_end;
    c->read_base = c->under.base;
    c->read_ptr = c->under.ptr;
    c->read_end = c->under.end;
    c->under = (struct asf_window){0};
    c->lag = 0;
}

int asf__go_back(struct asf_cios *c) {
    if (asf__likely(c->lag == 0))
        return 0;
    off64_t at = c->ops->seek ? c->ops->seek(c, -(off64_t)c->lag, SEEK_CUR) : -ESPIPE;
    if (at < 0)
        return (int)at;
    c->lag = 0;
    c->offset = c->fd < 0 ? -1 : at;
    c->placed = true;
    written_over(c);
    return 0;
}

/* What is appended goes to the end of the file from wherever the offset is. */
int asf__go_to_output(struct asf_cios *c) {
    if (!(c->flags & ASF_APPENDING))
        return asf__go_back(c);
    c->placed = c->astray = false;
    if (c->lag) {
        c->lag = 0;
        written_over(c);
    }
    return 0;
}

int asf__end_output(struct asf_cios *c) {
    int rc = asf__flush_output(c);
    bool untouched = c->under.base != NULL; /* nothing was put */
    if (rc == 0 && !untouched)
        rc = asf__go_back(c);
    if (rc < 0)
        return rc;
    c->flags &= ~ASF_PUTTING;
    c->unprimed = c->late_line = false; /* the next output finds room, as in libc */
    c->write_end = c->write_ptr = c->write_base;
    if (untouched) {
        take_up_again(c);
        return 0;
    }
    empty_window(c);
    asf__libc_empty_at(c, c->offset);
    return 0;
}

int asf__to_read(struct asf_cios *c) {
    if (c->flags & ASF_NO_READS)
        return -EBADF;
    return asf__is_putting(c) && !c->resident ? asf__end_output(c) : 0;
}

/* Output begins where input stopped: in the middle of libc's buffer, and of
 * pushed-back bytes as far back as that goes.  The offset is set back when the
 * first of it is put. */
static void begin_behind_input(struct asf_cios *c) {
    bool backup = c->flags & ASF_IN_BACKUP;
    size_t unread = backup ? (size_t)(c->save_end - c->save_base) : asf__avail(c);
    size_t pushed = backup ? asf__avail(c) : 0, into = asf__libc_into(c);
    if (pushed > into)
        pushed = into;
    c->lag = unread + pushed;
    c->written = c->indent = c->own ? 0 : into - pushed;
}

int asf__to_write(struct asf_cios *c) {
    if (c->flags & ASF_NO_WRITES)
        return -EBADF;
    if (asf__is_putting(c))
        return 0;
    asf__settle_stream(c);
    begin_behind_input(c);
    lay_aside(c);
    asf__close_read_window(c);
    c->read_ptr = c->read_base = c->read_end = NULL;
    c->flags |= ASF_PUTTING;
    c->exact = 0;
    c->write_base = c->write_ptr = c->write_end = c->out ? c->out->base : NULL;
    if (c->out && c->out->refs == 0 && c->limit)
        asf__expose(c);
    else
        c->buf_end = c->write_end;
    return 0;
}

void asf__drop_output_buffer(struct asf_cios *c) {
    if (c->out && !c->out->refs) {
        asf__buffer_free(c->out);
        c->out = NULL;
        c->write_base = c->write_ptr = NULL;
    }
    c->buf_end = c->write_end = c->write_ptr;
}

void asf__expose(struct asf_cios *c) {
    bool hidden =
        ((c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED) || c->unprimed) && !c->own) || c->orientation > 0;
    c->buf_base = c->out->base;
    c->buf_end = c->out->base + (c->limit < c->out->size ? c->limit : c->out->size) - c->indent;
    c->write_end = hidden ? c->write_base : c->buf_end;
}

ssize_t asf__fill(struct asf_cios *c, size_t want) {
    int rc = asf__to_read(c);
    if (rc < 0)
        return rc;
    if (asf__unlikely(c->in && c->in->torn))
        asf__torn(c);
    size_t avail = asf__avail(c);
    if (avail >= want && avail > 0)
        return (ssize_t)avail;
    if (avail == 0 && !(c->flags & ASF_IN_BACKUP) && c->offset >= 0)
        asf__libc_empty_at(c, c->offset); /* the file may have ended here before: no whole block */
    c->held = true;
    ssize_t n = c->ops->fill(c, want);
    c->sequential = true;
    c->indent = 0;
    if (n <= 0 && c->offset >= 0)
        asf__libc_empty_at(c, c->offset);
    c->held = false;
    return n;
}

int asf__drain(struct asf_cios *c, size_t want) {
    int rc = asf__to_write(c);
    if (rc < 0 || (c->write_ptr && (size_t)(c->buf_end - c->write_ptr) >= want))
        return rc;
    c->held = true;
    rc = c->ops->drain(c, want);
    c->held = false;
    return rc;
}

/* --- output ----------------------------------------------------------------- */

static inline int put_all(struct asf_cios *c, const char *p, size_t n, size_t *done) {
    int rc = n > 0 ? asf__go_to_output(c) : 0;
    *done = 0;
    if (rc < 0)
        return rc;
    while (*done < n) {
        ssize_t r = c->ops->put(c, p + *done, n - *done);
        if (r <= 0) {
            c->written = c->exact = 0; /* libc's buffer is empty then */
            return r < 0 ? (int)r : -EIO;
        }
        *done += (size_t)r;
        c->written += (uint64_t)r;
    }
    return 0;
}

static int put_queue(struct asf_cios *c) {
    while (c->queue && c->queue->refs == 0) {
        struct asf_buffer *b = c->queue;
        size_t done;
        int rc = put_all(c, b->from, (size_t)(b->to - b->from), &done);
        c->queue = b->next;
        asf__buffer_free(b);
        if (rc < 0)
            return rc;
    }
    return c->queue ? -EBUSY : 0;
}

static inline int put_window(struct asf_cios *c) {
    size_t done;
    if (c->queue || (c->out && c->out->refs))
        return asf__pending(c) ? -EBUSY : 0;
    int rc = put_all(c, c->write_base, asf__pending(c), &done);
    if (c->lag) /* nothing was put: the buffer is as it was */
        return rc;
    /* What failed is lost, as in libc: the program is told once. */
    c->write_base = c->write_ptr = c->out ? c->out->base : NULL;
    c->indent = 0;
    if (c->out)
        asf__expose(c);
    return rc;
}

int asf__flush_output(struct asf_cios *c) {
    if (c->resident)
        return c->ops->flushed(c);
    if (!asf__is_putting(c))
        return 0;
    if (asf__nothing_to_put(c)) {
        c->written = c->exact = 0;
        return 0;
    }
    int failed = c->failed;
    c->failed = 0;
    c->unprimed = c->late_line = false;
    bool was = c->held;
    c->held = true;
    int rc = c->queue ? put_queue(c) : 0;
    if (rc == 0)
        rc = put_window(c);
    if (rc == 0 && c->ops->flushed)
        rc = c->ops->flushed(c);
    c->held = was;
    c->written = c->exact = 0;
    return failed ? failed : rc;
}

/* Large data goes straight from the caller's memory: as much as leaves of the
 * last block what libc would keep in its buffer.  Tiny buffers (setvbuf) are
 * not kept to.  Returns how much went. */
static size_t append_directly(struct asf_cios *c, const char *p, size_t n, int *error) {
    uint64_t end = c->written + asf__pending(c) + n;
    size_t done = 0, rest = c->own ? 0 : asf__in_block(c, end);
    if (rest == 0 && end != c->exact && !c->own)
        rest = c->block; /* libc, too, would keep the last block */
    c->held = true;
    c->unprimed = c->late_line = false;
    *error = put_window(c);
    if (*error == 0)
        *error = put_all(c, p, c->block >= 128 && rest < n ? n - rest : n, &done);
    if (c->lag == 0 && c->out)
        asf__expose(c);
    c->held = false;
    return done;
}

/* Whether libc keeps nothing of n bytes that end on a block's boundary: when
 * they run over its buffer, or find no room in it from the start. */
static void note_exact(struct asf_cios *c, size_t n, bool roomless) {
    uint64_t before = c->written + asf__pending(c);
    size_t kept = asf__in_block(c, before);
    if (kept == 0 && before > 0 && before != c->exact)
        kept = c->block;
    if (asf__in_block(c, before + n) == 0 && (roomless || n > c->block - kept))
        c->exact = before + n;
}

static size_t copy_in(struct asf_cios *c, const char *p, size_t n) {
    size_t room = (size_t)(c->buf_end - c->write_ptr);
    if (n > room)
        n = room;
    if (n == 0) /* where there may be no buffer yet */
        return 0;
    memcpy(c->write_ptr, p, n);
    c->write_ptr += n;
    return n;
}

/* glibc's order: fill the buffer; what does not fit is written in whole
 * blocks; the rest is kept.  A stream that finds no room at first (fresh,
 * unbuffered) writes whole blocks at once. */
size_t asf__append(struct asf_cios *c, const char *p, size_t n, int *error) {
    bool roomless = !asf__is_putting(c) || c->unprimed || c->flags & ASF_UNBUFFERED;
    size_t done = 0;
    *error = c->unprimed && asf__pending(c) ? asf__flush_output(c) : 0;
    if (*error == 0 && roomless)
        *error = asf__drain(c, 1);
    if (*error < 0)
        return 0;
    size_t room = roomless ? 0 : c->block - asf__libc_pending(c);
    if (n >= c->block) {
        if (roomless)
            c->written = c->indent = 0;
        note_exact(c, n, roomless);
    }
    bool apart = c->queue || !c->out || c->out->refs || !c->ops->put;
    bool past = !apart && !c->lag && n >= 2 * c->block && (c->limit > c->block || asf__pending(c) == 0);
    if (!past && !(roomless && !apart))
        done = copy_in(c, p, n);
    if (done < n && !apart && (n - done >= c->block || c->block < 128)) {
        if (c->may_grow && c->buf_end == c->write_ptr && n - done < 2 * c->block)
            *error = asf__drain(c, 1); /* which may grow the buffer: then it is copied */
        if (*error == 0 && !(c->grown && (size_t)(c->buf_end - c->write_ptr) >= n - done))
            done += append_directly(c, p + done, n - done, error);
    }
    while (*error == 0 && done < n) {
        *error = asf__drain(c, 1);
        if (*error == 0)
            done += copy_in(c, p + done, n - done);
    }
    return *error && past && done < room && !c->own ? room : done; /* libc fills its buffer first */
}

/* --- input ------------------------------------------------------------------ */

bool asf__torn(struct asf_cios *c) {
    struct stat64 st;
    if (asf__likely(!c->in || !c->in->torn || c->flags & ASF_IN_BACKUP))
        return false;
    off64_t first = c->in->at, end = first + (off64_t)c->in->size;
    off64_t size = asf__sys.fstat(c->fd, &st) == 0 ? st.st_size : first;
    c->offset = size > end ? end : size > first ? size : first;
    c->read_end = c->in->base + (c->offset - first);
    asf__sys.lseek(c->fd, c->offset, SEEK_SET);
    return true;
}

struct segment {
    struct asf_buffer *buffer;
    const char *from;
    size_t length;
};

static void drop_ref(struct asf_cios *c, struct asf_buffer *b) {
    if (--b->refs > 0 || b == c->in)
        return;
    for (struct asf_buffer **at = &c->retired; *at; at = &(*at)->next) {
        if (*at == b) {
            *at = b->next;
            let_go(c, b);
            return;
        }
    }
}

/* Take regions under the lock, copy with it released, give them back: threads
 * on one stream copy in parallel (paper, "Interface modules"). */
static size_t take_unlocked(struct asf_cios *c, char *p, size_t n) {
    struct segment seg[SEGMENTS];
    size_t taken = 0;
    int count = 0;
    while (taken < n && count < SEGMENTS) {
        size_t length = asf__avail(c);
        if (length == 0 || !c->in || c->flags & ASF_IN_BACKUP) {
            if (c->flags & ASF_IN_BACKUP || c->direct || asf__fill(c, 1) <= 0)
                break;
            continue;
        }
        if (length > n - taken)
            length = n - taken;
        seg[count++] = (struct segment){c->in, c->read_ptr, length};
        c->in->refs++;
        c->read_ptr += length;
        taken += length;
    }
    asf__unlock(&c->lk);
    for (int i = 0; i < count; i++) {
        memcpy(p, seg[i].from, seg[i].length);
        p += seg[i].length;
    }
    asf__lock(&c->lk);
    for (int i = 0; i < count; i++)
        drop_ref(c, seg[i].buffer);
    return taken;
}

static size_t take_window(struct asf_cios *c, char *p, size_t n) {
    if (n >= UNLOCKED_COPY && !__libc_single_threaded && c->yields && c->in && !(c->flags & ASF_IN_BACKUP))
        return take_unlocked(c, p, n);
    size_t length = asf__avail(c) < n ? asf__avail(c) : n;
    memcpy(p, c->read_ptr, length);
    c->read_ptr += length;
    return length;
}

/* Bytes at the end of a copy that a truncation took away. */
static size_t torn_away(struct asf_cios *c, size_t taken) {
    if (asf__likely(c->read_ptr <= c->read_end) || !asf__torn(c) || c->read_ptr <= c->read_end)
        return 0;
    size_t lost = (size_t)(c->read_ptr - c->read_end);
    c->read_ptr = c->read_end;
    return lost < taken ? lost : taken;
}

/* What libc reads past its buffer: whole blocks, unless they are tiny. */
static size_t whole_blocks(const struct asf_cios *c, size_t n) {
    return c->block >= 128 ? n - n % c->block : n;
}

/* A read this large need not pass the window: its copy, or the mapping of its
 * pages, costs as much as the kernel's copy to where it is wanted. */
enum { PAST_WINDOW = 32 << 10 };

static bool reads_directly(const struct asf_cios *c, size_t n) {
    if (c->regular && !c->shared && !c->inherited && c->block >= 128)
        return n >= PAST_WINDOW && n >= c->block && !c->own && c->ops->get;
    bool tiny = c->regular && c->block < 128 && !c->own && c->ops->get;
    return (c->direct || tiny) && n >= c->block;
}

/* A file that has grown behind the end that was met: whole blocks of it are
 * read, nothing more. */
static bool reads_past_end(const struct asf_cios *c, size_t n) {
    return c->flags & ASF_EOF && c->regular && n >= c->block && !c->own && c->ops->get;
}

/* The whole file's offset moves on for this thread's part, which is then read
 * with the stream unlocked; at the end of the file the offset comes back. */
static ssize_t read_apart(struct asf_cios *c, char *p, size_t n) {
    off64_t at = c->offset;
    c->offset = asf__sys.lseek(c->fd, at + (off64_t)n, SEEK_SET);
    asf__unlock(&c->lk);
    ssize_t r = asf__sys.pread(c->fd, p, n, at);
    asf__lock(&c->lk);
    c->stats.syscalls += 2;
    c->stats.in += r > 0 ? (uint64_t)r : 0;
    off64_t end = at + (r > 0 ? r : 0);
    if (r < (ssize_t)n && c->offset > end)
        c->offset = asf__sys.lseek(c->fd, end, SEEK_SET);
    return r;
}

ssize_t asf__get(struct asf_cios *c, char *p, size_t n) {
    c->read_ptr = c->read_end = c->read_base;
    c->held = true;
    ssize_t r = c->ops->get(c, p, n);
    c->held = false;
    return r;
}

static ssize_t read_directly(struct asf_cios *c, char *p, size_t n) {
    empty_window(c);
    n = whole_blocks(c, n);
    /* A stream biased to this thread is no other's: one system call does. */
    bool others = !__libc_single_threaded && c->yields && !asf__bias_held(&c->lk);
    if (n >= PAST_WINDOW && others && c->regular && !c->shared && !c->astray && c->offset >= 0)
        return read_apart(c, p, n);
    ssize_t r = asf__get(c, p, n);
    if (c->offset >= 0)
        asf__libc_empty_at(c, c->offset);
    c->indent = 0;
    return r;
}

void asf__at_end(struct asf_cios *c) {
    c->read_base = c->read_end;
    asf__forget_place(c);
    c->offset = -1; /* another handle may become the active one now */
}

/* End of file is sticky for what goes through libc's buffer (C99). */
static ssize_t fill_unless_ended(struct asf_cios *c, size_t want) {
    bool buffered = want < c->block && !c->own && !c->resident;
    if (buffered && c->orientation == 0)
        c->orientation = -1; /* as glibc: by its buffer; whole blocks go past it */
    if (buffered && c->flags & ASF_EOF && c->chosen && !c->follows)
        return 0;
    ssize_t n = asf__fill(c, 1);
    if (n == 0 && buffered)
        asf__at_end(c);
    return n;
}

static size_t take_by_turns(struct asf_cios *c, char *p, size_t n, int *error) {
    size_t done = 0;
    while (*error == 0 && done < n) {
        if (asf__avail(c) > 0) {
            size_t taken = take_window(c, p + done, n - done);
            size_t lost = torn_away(c, taken);
            done += taken - lost;
            if (lost)
                break;
            continue;
        }
        if (c->flags & ASF_IN_BACKUP) {
            asf__free_backup(c);
            continue;
        }
        ssize_t r;
        if (reads_directly(c, n - done) || reads_past_end(c, n - done)) {
            r = read_directly(c, p + done, n - done);
            done += r > 0 ? (size_t)r : 0;
        } else {
            r = fill_unless_ended(c, n - done);
        }
        if (r < 0)
            *error = (int)r;
        if (r <= 0)
            break;
    }
    return done;
}

static size_t take(struct asf_cios *c, char *p, size_t n, int *error) {
    *error = asf__to_read(c);
    if (*error && c->orientation == 0 && n < c->block)
        c->orientation = -1;
    if (*error)
        return 0;
    off64_t past = asf__libc_direct_end(c, n);
    size_t done = take_by_turns(c, p, n, error);
    asf__libc_read_directly(c, past);
    asf__libc_orient(c);
    return done;
}

/* Whether whole blocks are wanted of a file where neither libc's buffer nor
 * ours holds anything: both read them past it, with nothing to work out. */
static bool in_step(struct asf_cios *c, size_t n) {
    enum { NOT_SO = ASF_IN_BACKUP | ASF_PUTTING | ASF_NO_READS };
    size_t part = c->block - 1;
    return n >= PAST_WINDOW && asf__avail(c) == 0 && c->regular && c->offset >= 0 && !(c->flags & NOT_SO) &&
           part >= 127 && (n & part) == 0 && (c->block & part) == 0 && reads_directly(c, n) &&
           (__libc_single_threaded || asf__bias_held(&c->lk));
}

size_t asf__take(struct asf_cios *c, char *p, size_t n, int *error) {
    if (!in_step(c, n))
        return take(c, p, n, error);
    ssize_t r = asf__get(c, p, n);
    asf__libc_empty_at(c, c->offset);
    *error = r < 0 ? (int)r : 0;
    if (r <= 0 || (size_t)r == n)
        return r > 0 ? n : 0;
    return (size_t)r + take(c, p + r, n - (size_t)r, error);
}

int asf__sync_input(struct asf_cios *c) {
    /* As glibc: of pushed-back bytes the offset is set back over these alone,
     * and what was read before them stays to be read. */
    bool backup = c->flags & ASF_IN_BACKUP;
    if (backup)
        asf__settle_stream(c);
    size_t unread = backup ? asf__avail(c) : asf__unread(c);
    if (unread == 0) {
        asf__forget_place(c);
        asf__mark_ahead(c, false);
        return 0;
    }
    off64_t at = c->ops->seek ? c->ops->seek(c, -(off64_t)unread, SEEK_CUR) : -ESPIPE;
    if (at < 0 && at != -ESPIPE)
        return (int)at;
    asf__forget_place(c);
    if (at < 0)
        return 0; /* what was read from a pipe stays with us, as in libc */
    size_t into = backup ? 0 : asf__libc_into(c);
    bool begins = c->offset >= 0 && asf__libc_buffer(c).first == asf__read_position(c);
    c->read_end = c->read_ptr;
    c->offset = c->fd < 0 ? -1 : at;
    asf__libc_empty_at(c, at);
    c->libc.base -= (off64_t)into;
    if (!begins)
        c->libc.first = c->libc.base;
    asf__mark_ahead(c, false);
    return 0;
}

int asf__flush(struct asf_cios *c) {
    return asf__is_putting(c) ? asf__flush_output(c) : asf__sync_input(c);
}

/* --- the offset --------------------------------------------------------------- */

static size_t queued(const struct asf_cios *c) {
    size_t n = 0;
    for (const struct asf_buffer *b = c->queue; b; b = b->next)
        n += (size_t)(b->to - b->from);
    return n;
}

/* Whether to go by the offset that is remembered.  A callback is asked each
 * time, and one that others share as long as libc would ask. */
static bool knows_offset(const struct asf_cios *c) {
    return c->fd >= 0 && (c->placed || c->own || !(c->inherited || c->shared));
}

/* libc knows the offset from a seek on, until a flush or the end of file. */
static bool libc_knows_offset(const struct asf_cios *c) {
    return c->fd >= 0 && c->offset >= 0 && (c->placed || c->own);
}

/* Bytes may be pushed back before. */
static bool libc_has_buffer(const struct asf_cios *c) {
    return c->user_size || c->sought || (c->fd >= 0 ? c->chosen : c->buf_base != NULL);
}

/* Where the stream stands before the offset.  Bytes pushed back before libc has
 * a buffer are passed over; so is input that it would write over, until it does. */
static off64_t before_offset(const struct asf_cios *c, size_t pending) {
    if (asf__is_putting(c))
        return pending ? (off64_t)c->lag : 0;
    return libc_has_buffer(c) ? (off64_t)asf__unread(c) : 0;
}

off64_t asf__tell(struct asf_cios *c) {
    size_t pending = asf__is_putting(c) ? asf__pending(c) + queued(c) : 0;
    if (!c->ops->seek)
        return -ESPIPE;
    if (c->resident)
        return c->ops->seek(c, 0, SEEK_CUR);
    if (pending && c->flags & ASF_APPENDING) {
        off64_t end = c->ops->seek(c, 0, SEEK_END);
        if (end < 0)
            return end;
        c->offset = c->fd < 0 ? -1 : end; /* and glibc knows it from then on */
        c->placed = true;
        return end + (off64_t)pending;
    }
    off64_t base = knows_offset(c) ? c->offset : -1;
    if (base < 0) {
        base = c->ops->seek(c, 0, SEEK_CUR);
        if (base < 0)
            return base;
    }
    off64_t at = base + (off64_t)pending - before_offset(c, pending);
    if (asf__likely(at >= 0))
        return at;
    /* glibc refuses for what was pushed back, and goes on below zero for the rest. */
    off64_t behind = c->flags & ASF_IN_BACKUP ? c->save_end - c->save_base : 0;
    return at + behind < 0 ? -EINVAL : at - ASF_BEFORE_START;
}

/* To the start of the target's block, as libc seeks. */
static off64_t block_of(const struct asf_cios *c, off64_t target) {
    off64_t block = target & ~((off64_t)c->block - 1);
    return c->own || c->flags & ASF_NO_READS || target - block > (off64_t)c->block ? target : block;
}

/* The block is read; but from an empty buffer glibc reads no further than the
 * target, and where the block begins with it, nothing. */
static struct asf_libc_buffer libc_after_seek(const struct asf_cios *c, off64_t target, bool empty) {
    off64_t block = block_of(c, target);
    off64_t end = empty || block == target ? target : block + (off64_t)c->block;
    return (struct asf_libc_buffer){block, block, end};
}

/* A target that stands in the window costs no system call; where libc's own
 * smaller buffer would have been refilled, its blocks lie aligned again. */
static bool seek_in_window(struct asf_cios *c, off64_t target, bool empty) {
    if (!c->placed && !c->own)
        return false; /* glibc does not know where its buffer lies: it reads again */
    if (c->offset < 0 || c->fd < 0 || !c->in || !c->buf_base || c->read_ptr > c->read_end)
        return false;
    if (target < c->offset - (c->read_end - c->buf_base) || target >= c->offset)
        return false;
    struct asf_libc_buffer libc = asf__libc_buffer(c);
    if (target >= libc.base && target < libc.end)
        libc.first = libc.base;
    else
        libc = libc_after_seek(c, target, empty);
    if (libc.end > c->offset)
        return false; /* libc would have read more than we have */
    c->libc = libc;
    c->read_base = c->buf_base;
    if (c->regular && !c->own)
        asf__mark_ahead(c, true);
    c->read_ptr = c->read_end - (c->offset - target);
    if ((c->shared || c->inherited || c->astray) && asf__sys.lseek(c->fd, c->offset, SEEK_SET) < 0)
        return false;
    c->placed = true;
    c->astray = false;
    return true;
}

static off64_t seek_target(struct asf_cios *c, off64_t offset, int whence) {
    if (whence == SEEK_CUR) {
        off64_t at = asf__tell(c);
        if (at < 0)
            return at;
        if (__builtin_add_overflow(at, offset, &offset))
            return -EINVAL;
    } else if (whence == SEEK_END) {
        struct stat64 st;
        if (!c->regular || asf__sys.fstat(c->fd, &st) < 0)
            return INT64_MIN;
        if (__builtin_add_overflow(st.st_size, offset, &offset))
            return -EINVAL;
    } else if (whence != SEEK_SET) {
        return -EINVAL;
    }
    return offset < 0 ? -EINVAL : offset;
}

void asf__leave_window(struct asf_cios *c) {
    asf__close_read_window(c);
    asf__libc_empty_at(c, c->offset);
    c->indent = 0;
}

/* Leave the window, and let input go on at `at`. */
static inline void move_to(struct asf_cios *c, off64_t at) {
    c->offset = c->fd < 0 ? -1 : at;
    asf__leave_window(c);
    c->sequential = false;
    c->placed = true;
    c->astray = false;
}

/* The block is read, so that the next seeks are likely to stay in the window. */
static off64_t seek_block(struct asf_cios *c, off64_t target, bool empty) {
    struct asf_libc_buffer libc = libc_after_seek(c, target, empty);
    off64_t at = c->ops->seek(c, libc.base, SEEK_SET);
    if (at < 0)
        return at;
    move_to(c, at);
    if (libc.base == target)
        return at;
    c->exactly = empty ? (size_t)(target - libc.base) : 0;
    ssize_t got = asf__fill(c, 1);
    c->exactly = 0;
    if (got >= target - libc.base) {
        c->libc = libc;
        c->read_ptr += target - libc.base;
        return target;
    }
    at = c->ops->seek(c, target, SEEK_SET);
    if (at >= 0)
        move_to(c, at);
    else
        asf__leave_window(c); /* what was read is lost */
    return at;
}

/* The offset is not known, or others may look at it: moved by the kernel or
 * the callback, with nothing read. */
static off64_t seek_by(struct asf_cios *c, off64_t distance) {
    off64_t at = c->ops->seek(c, distance - (off64_t)asf__unread(c), SEEK_CUR);
    if (at >= 0)
        move_to(c, at);
    return at;
}

/* Whether libc's buffer holds nothing: what it has read ends at the position,
 * and began there. */
static bool libc_is_empty(const struct asf_cios *c) {
    if (asf__is_putting(c) || c->offset < 0 || c->flags & ASF_IN_BACKUP)
        return c->read_base == c->read_end && !asf__pending(c);
    struct asf_libc_buffer libc = asf__libc_buffer(c);
    return libc.first == libc.end;
}

/* What a relative seek goes back over; glibc forgets the rest of its buffer
 * while the stream has no orientation. */
static off64_t pushed_back(const struct asf_cios *c) {
    if (!(c->flags & ASF_IN_BACKUP))
        return 0;
    return (off64_t)asf__avail(c) - (c->orientation == 0 ? c->save_end - c->save_base : 0);
}

/* Then bytes pushed back are still there while the stream has no orientation. */
static bool is_before_start(const struct asf_cios *c, off64_t distance) {
    return c->flags & ASF_IN_BACKUP && c->orientation == 0 && libc_knows_offset(c) &&
           asf__read_position(c) + distance < 0;
}

static off64_t seek_input(struct asf_cios *c, off64_t offset, int whence, bool was_reading, bool empty) {
    if (whence == SEEK_CUR && !libc_knows_offset(c))
        return seek_by(c, offset);
    off64_t target = seek_target(c, offset, whence);
    if (target < 0 && target != INT64_MIN)
        return target;
    if (was_reading && target >= 0 && seek_in_window(c, target, empty))
        return target;
    if (target != INT64_MIN)
        return seek_block(c, target, empty);
    off64_t at = c->ops->seek(c, offset, whence);
    if (at >= 0)
        move_to(c, at);
    return at;
}

off64_t asf__seek(struct asf_cios *c, off64_t offset, int whence) {
    bool has_buffer = libc_has_buffer(c);
    bool counts = has_buffer || c->orientation < 0; /* else what was pushed back is forgotten */
    int chosen = asf__choose(c);
    if (chosen < 0)
        return chosen;
    c->sought = true;
    if (!c->ops->seek)
        return -ESPIPE;
    if (c->resident)
        return c->ops->seek(c, offset, whence);
    if (c->flags & ASF_IN_BACKUP)
        asf__settle_stream(c); /* what pushed-back bytes stand before is what libc has read */
    if (whence == SEEK_CUR && counts)
        offset -= pushed_back(c);
    if (whence == SEEK_CUR && counts && is_before_start(c, offset))
        return -EINVAL;
    if (c->orientation != 0) /* later, glibc takes pushed-back bytes for a filled buffer */
        asf__free_backup(c);
    bool was_putting = asf__is_putting(c), empty = libc_is_empty(c);
    asf__free_backup(c);
    if (!was_putting && !c->read_base && !has_buffer)
        empty_window(c);
    if (was_putting) {
        int rc = asf__end_output(c);
        if (rc < 0) {
            c->flags |= c->lag ? 0 : ASF_ERR; /* as at every write that fails */
            return rc;
        }
    }
    return seek_input(c, offset, whence, !was_putting, empty);
}

/* --- regions -------------------------------------------------------------------- */

static void *fail(ssize_t *length, ssize_t code) {
    *length = code;
    return NULL;
}

static void *grant(struct asf_cios *c, struct asf_buffer *b, char **ptr, size_t n, ssize_t *length) {
    char *p = *ptr;
    b->refs++;
    *ptr += n;
    asf__note_region(c, p, n);
    *length = (ssize_t)n;
    return p;
}

void *asf__u_salloc_slow(struct asf_cios *c, ssize_t *length, bool some) {
    c->stats.calls++;
    c->stats.slow++;
    if (*length <= 0)
        return fail(length, -EINVAL);
    size_t want = (size_t)*length;
    if (asf__is_putting(c) || c->flags & ASF_NO_READS) {
        int rc = c->failed ? c->failed : asf__drain(c, want);
        c->failed = 0;
        return rc < 0 ? fail(length, rc) : grant(c, c->out, &c->write_ptr, want, length);
    }
    if (c->flags & ASF_IN_BACKUP && asf__avail(c) == 0)
        asf__free_backup(c);
    ssize_t n = asf__fill(c, some && !(c->flags & ASF_IN_BACKUP) ? 1 : want);
    if (n <= 0)
        return fail(length, n);
    return grant(c, c->in, &c->read_ptr, (size_t)n < want ? (size_t)n : want, length);
}

/* --- regions that their threads read themselves -------------------------- */

static bool may_take(const struct asf_cios *c, size_t want) {
    return !__libc_single_threaded && c->own && c->chosen && c->ops->get_at && want >= PIECE_LEAST &&
           !asf__is_putting(c) && !(c->flags & (ASF_IN_BACKUP | ASF_NO_READS)) && asf__avail(c) == 0 &&
           c->offset >= 0;
}

/* The piece is the whole current buffer, and no byte before its end
 * can be sought back to: they are still to come. */
static void show_piece(struct asf_cios *c, struct asf_buffer *b, size_t n) {
    if (c->in)
        asf__buffer_retire(c, c->in);
    b->refs = 1;
    c->in = b;
    c->buf_end = b->base + b->size;
    c->buf_base = c->read_base = c->read_ptr = c->read_end = b->base + n;
    asf__note_region(c, b->base, n);
}

bool asf__take_piece(struct asf_cios *c, size_t want, struct asf_piece *piece) {
    struct stat64 st;
    if (!may_take(c, want) || asf__sys.fstat(c->fd, &st) < 0 || st.st_size <= c->offset)
        return false;
    off64_t left = st.st_size - c->offset;
    size_t n = want < PIECE ? want : PIECE;
    n = left < (off64_t)n ? (size_t)left : n;
    struct asf_buffer *b = take_spare(c);
    if (!b)
        return false;
    *piece = (struct asf_piece){b->base, n, c->offset};
    c->offset += (off64_t)n;
    c->ops->seek(c, c->offset, SEEK_SET);
    show_piece(c, b, n);
    c->stats.calls++;
    c->stats.slow++;
    c->stats.syscalls += 2;
    c->stats.in += n;
    return true;
}

void *asf__read_piece(struct asf_cios *c, const struct asf_piece *piece, ssize_t *length) {
    size_t got = 0;
    ssize_t n;
    do {
        n = c->ops->get_at(c, piece->p + got, piece->n - got, piece->at + (off64_t)got);
        got += n > 0 ? (size_t)n : 0;
    } while (n > 0 && got < piece->n);
    if (got > 0) {
        *length = (ssize_t)got;
        return piece->p;
    }
    asf__lock(&c->lk);
    asf__u_sfree(c, piece->p);
    asf__unlock(&c->lk);
    return fail(length, n);
}

static int sfree_queued(struct asf_cios *c, char *p) {
    for (struct asf_buffer *b = c->queue; b; b = b->next) {
        if (asf__within(b, p) && b->refs > 0) {
            if (--b->refs > 0)
                return 0;
            int rc = put_queue(c);
            return rc == -EBUSY ? 0 : rc;
        }
    }
    return -EINVAL;
}

/* Whether the part of the file under a region is gone.  Of a region so old that
 * its length is forgotten the worst is believed. */
static bool region_torn(const struct asf_cios *c, const struct asf_buffer *b, const char *p) {
    struct stat64 st;
    if (asf__likely(!b->torn))
        return false;
    off64_t valid = asf__sys.fstat(c->fd, &st) == 0 ? st.st_size - b->at : 0;
    for (unsigned i = c->regions, n = 0; n < 32; n++) {
        i--;
        if (c->recent[i % 32].p == p)
            return p + c->recent[i % 32].n - b->base > valid;
    }
    return true;
}

static int sfree_retired(struct asf_cios *c, char *p) {
    for (struct asf_buffer *b = c->retired; b; b = b->next) {
        if (asf__within(b, p) && b->refs > 0) {
            int rc = region_torn(c, b, p) ? -EIO : 0;
            drop_ref(c, b);
            return rc;
        }
    }
    return -EINVAL;
}

int asf__u_sfree_slow(struct asf_cios *c, char *p) {
    if (asf__within(c->in, p) && c->in->refs > 0) {
        c->in->refs--;
        return region_torn(c, c->in, p) ? -EIO : 0;
    }
    if (asf__within(c->out, p) && c->out->refs > 0) {
        c->out->refs--;
        /* What a person or a peer waits for must not stay behind. */
        if (c->out->refs == 0 && c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED))
            return asf__flush_output(c);
        return 0;
    }
    int rc = sfree_queued(c, p);
    return rc == -EINVAL ? sfree_retired(c, p) : rc;
}
