/* SPDX-License-Identifier: MIT
 *
 * modes.c - reading or writing: how a stream turns from one to the other, and
 * asks its module for more of either.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/parts.h"

#include <errno.h>
#include <stdlib.h>

void asf__call_left(struct asf_cios *c, char inside) {
    c->held = c->yields = false;
    c->inside = ASF_OUTSIDE;
    if (inside != ASF_WITHOUT_LOCK) /* calls that say nothing are the ASI's and flushes, with the lock */
        asf__unlock(&c->lk);
}

void asf__cancelled(void *arg) {
    struct asf_cios *c = arg;
    asf__call_left(c, c->inside);
}

void asf__set_block(struct asf_cios *c) {
    c->block = c->user_size ? c->user_size : c->flags & ASF_UNBUFFERED ? 1 : c->blksize;
    if (!c->own)
        c->limit = c->block;
}

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

/* The main window stands in save_base..save_end; glibc's convention. */
void asf__leave_backup(struct asf_cios *c) {
    char *end = c->save_end, *base = c->save_base;
    c->save_end = c->read_end;
    c->save_base = c->read_base;
    c->read_end = end;
    c->read_base = c->read_ptr = base;
    c->flags &= ~ASF_IN_BACKUP;
}

void asf__free_backup_now(struct asf_cios *c) {
    if (c->orientation > 0) {
        free_wide_backup(&c->wide, &c->flags);
        return;
    }
    if (c->flags & ASF_IN_BACKUP)
        asf__leave_backup(c);
    char *backup = c->save_base;
    c->save_base = c->backup_base = c->save_end = NULL;
    free(backup);
}

/* An empty read window, which is none before there is a buffer: gnulib and
 * __freading look for it in a stream that reads. */
void asf__empty_window(struct asf_cios *c) {
    c->read_base = c->in && c->buf_base ? c->buf_base : c->shortbuf;
    c->read_ptr = c->read_end = c->read_base;
}

void asf__close_read_window(struct asf_cios *c) {
    asf__free_backup(c);
    asf__empty_window(c);
    asf__mark_ahead(c, c->deferred);
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
    if (at == -ESPIPE && c->own && c->under.base) { /* two directions that are apart: the input waits */
        c->lag = 0;
        return 0;
    }
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
    c->unprimed = c->late_line = c->outlived = false; /* the next output finds room, as in libc */
    c->write_end = c->write_ptr = c->write_base;
    if (untouched) {
        take_up_again(c);
        return 0;
    }
    asf__empty_window(c);
    asf__libc_empty_at(c, c->offset);
    return 0;
}

int asf__to_read(struct asf_cios *c) {
    if (c->flags & ASF_NO_READS) /* but of what was pushed back */
        return c->flags & ASF_IN_BACKUP && asf__avail(c) > 0 ? 0 : -EBADF;
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
    if (c->lag && !c->own && c->limit > c->block) { /* should the offset not go back, that is told in time */
        c->limit = c->block;
        asf__mark_grown(c, false);
    }
}

int asf__to_write(struct asf_cios *c) {
    if (c->flags & ASF_NO_WRITES)
        return -EBADF;
    if (asf__is_putting(c))
        return 0;
    asf__settle_stream(c);
    if (c->outlived)
        c->unprimed = asf__libc_is_empty(c);
    c->outlived = false;
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

ssize_t asf__fill(struct asf_cios *c, size_t want) {
    int rc = asf__to_read(c);
    if (rc < 0)
        return rc;
    if (asf__unlikely(c->in && c->in->torn))
        asf__torn(c);
    size_t avail = asf__avail(c);
    if (avail >= want && avail > 0)
        return (ssize_t)avail;
    return asf__fill_here(c, want);
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
