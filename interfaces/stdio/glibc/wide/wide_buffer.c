/* SPDX-License-Identifier: MIT
 *
 * wide_buffer.c - the buffers of a wide stream, and its changes between input and output.  These follow libc
 * step by step: the windows of bytes and of characters change together.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <stdlib.h>

#include "backplane/backplane.h"
#include "lib/sys/race_detector.h"

_Static_assert(offsetof(struct asf_wide, vtable) == 0xe0, "the ABI's _IO_wide_data");

struct asf_wide asf__wide_standard[3] = {
    {.vtable = &asf__wide_jumps}, {.vtable = &asf__wide_jumps}, {.vtable = &asf__wide_jumps}};

void asf__wide_begin(struct asf_cios *c) {
    if (!c->wide_data)
        c->wide_data = c + 1;
    if (c->orientation > 0) /* else the bytes are zero */
        *asf__wide(c) = (struct asf_wide){0};
    asf__wide(c)->vtable = &asf__wide_jumps;
}

/* The flush of all streams calls these two without the lock. */
ASF_RACY size_t asf__wide_pending(const struct asf_cios *c) {
    const struct asf_wide *w = c->wide_data;
    return w->write_ptr > w->write_base ? (size_t)(w->write_ptr - w->write_base) : 0;
}

ASF_RACY size_t asf__wide_unread(const struct asf_cios *c) {
    const struct asf_wide *w = c->wide_data;
    return w->read_ptr < w->read_end ? (size_t)(w->read_end - w->read_ptr) : 0;
}

size_t asf__wide_buffer_size(const struct asf_cios *c) {
    return (size_t)(asf__wide(c)->buf_end - asf__wide(c)->buf_base);
}

mbstate_t *asf__wide_state(const struct asf_cios *c) {
    return &asf__wide(c)->state;
}

/* libc's own function chooses the conversion by the present locale and sets the stream's jump table. */
int asf__orient(FILE *f, int mode) {
    struct asf_cios *c = asf__cios(f);
    if (asf__is_own_object(c)) {
        asf__lock(&c->lk);
        asf__end_bulk(c);
        asf__unlock(&c->lk);
    }
#ifdef ASF_STATIC
    return fwide(f, mode);
#else
    return ASF_NEXT(fwide)(f, mode);
#endif
}

/* Makes a buffer of as many characters as the buffer below has bytes; of a quarter if that is the
 * program's memory; of one character if memory is short. */
static void make_buffer(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    size_t bytes = (size_t)(c->buf_end - c->buf_base);
    size_t n = c->buffer == &c->single ? (bytes + sizeof(wchar_t) - 1) / sizeof(wchar_t) : bytes;
    w->buf_base = n > 1 ? malloc(n * sizeof(wchar_t)) : NULL;
    c->flags2 &= ~ASF_WIDE_USER_BUF;
    if (!w->buf_base) {
        w->buf_base = w->shortbuf;
        c->flags2 |= ASF_WIDE_USER_BUF;
        n = 1;
    }
    w->buf_end = w->buf_base + n;
}

void asf__wide_prepare(struct asf_cios *c) {
    if (!asf__wide(c)->buf_base || !c->buf_base) {
        asf__free_backup(c); /* bytes that were pushed back before the stream became wide */
        asf__allocate(c);
    }
    if (!asf__wide(c)->buf_base)
        make_buffer(c);
    c->gate |= ASF_WIDE;
}

void asf__wide_free_buffer(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    asf__wide_free_backup(c);
    if (!(c->flags2 & ASF_WIDE_USER_BUF))
        free(w->buf_base);
    w->buf_base = w->buf_end = NULL;
    asf__wide_set_read(w, NULL, NULL, NULL);
    asf__wide_set_write(w, NULL);
}

/* ASF_IN_BACKUP may stand for characters, or for bytes that were pushed back before the stream became
 * wide. */
void asf__wide_free_backup(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    wchar_t *backup = w->save_base;
    if (!w->backup_base)
        return;
    if (c->flags & ASF_IN_BACKUP) {
        backup = w->read_base;
        asf__wide_set_read(w, w->save_base, w->save_base, w->save_end);
        if (!c->backup_base)
            c->flags &= ~ASF_IN_BACKUP;
    }
    w->save_base = w->backup_base = w->save_end = NULL;
    free(backup);
}

void asf__wide_purge(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    if (c->flags & ASF_IN_BACKUP && asf__ours_wide(c))
        asf__wide_free_backup(c);
    w->read_end = w->read_ptr;
    w->write_ptr = w->write_base;
}

int asf__wide_to_read(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    if (asf__wide_has_output(c) && asf__wide_flush(c) == EOF)
        return EOF;
    asf__wide_free_backup(c);
    w->read_base = w->buf_base;
    if (w->write_ptr > w->read_end)
        w->read_end = w->write_ptr;
    w->read_ptr = w->write_ptr;
    asf__wide_set_write(w, w->read_ptr);
    c->flags &= ~ASF_PUTTING;
    return 0;
}

/* Output begins where input stopped; if that is the end of a buffer, at its beginning. */
void asf__wide_to_write(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    asf__wide_prepare(c);
    asf__wide_free_backup(c);
    if (!w->write_base)
        asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
    else if (w->read_ptr == w->buf_end)
        asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base), c->read_ptr = c->buf_end;
    if (c->read_ptr == c->buf_end)
        c->read_ptr = c->read_end = c->buf_base;
    asf__set_write(c, c->read_ptr);
    c->read_base = c->read_ptr = c->read_end;
    asf__wide_set_write(w, w->read_ptr);
    w->read_base = w->read_ptr = w->read_end;
    if (!(c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED)))
        w->write_end = w->buf_end;
    c->flags |= ASF_PUTTING;
}
