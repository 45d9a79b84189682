/* SPDX-License-Identifier: MIT
 *
 * wide_buffer.c - the memory of a wide stream, and its turns between input and
 * output.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/wide/wide.h"

#include <stdlib.h>

/* libc's own function chooses the conversion by the locale of the moment and
 * puts the stream's table in place. */
int asf__orient(FILE *f, int mode) {
#ifdef ASF_STATIC
    return fwide(f, mode);
#else
    return ASF_NEXT(fwide)(f, mode);
#endif
}

/* As many characters as libc's buffer has: one for each byte of its own
 * buffers, a quarter of a program's. */
static int make_buffer(struct asf_cios *c) {
    struct asf_wide *w = &c->wide;
    size_t n = c->user_size ? (c->user_size + sizeof(wchar_t) - 1) / sizeof(wchar_t) : c->block;
    bool single = c->flags & ASF_UNBUFFERED;
    int rc = asf__catch_up(c);
    if (rc < 0)
        return rc;
    w->buf_base = single ? w->shortbuf : malloc(n * sizeof(wchar_t));
    if (!w->buf_base) { /* as libc: with room for one character */
        asf__unbuffer(c);
        w->buf_base = w->shortbuf;
        single = true;
    }
    w->buf_end = w->buf_base + (single ? 1 : n);
    c->flags2 = single ? c->flags2 | ASF_WIDE_USER_BUF : c->flags2 & ~ASF_WIDE_USER_BUF;
    if (!c->placed) /* from now on what libc knows of the offset */
        c->offset = -1;
    return 0;
}

int asf__wide_prepare(struct asf_cios *c) {
    if (!asf__stdio_started)
        asf__stdio_start();
    asf__choose(c);
    if (c->wide.buf_base)
        return 0;
    asf__free_backup(c);
    return make_buffer(c);
}

int asf__wide_input(struct asf_cios *c) {
    struct asf_buffer *b = c->in;
    if (b && !b->refs && b->watch < 0 && b->size >= c->block && c->buf_base == b->base)
        return 0;
    size_t left = asf__avail(c);
    b = asf__buffer_first(c, c->block > left ? c->block : left);
    if (!b)
        return -ENOMEM;
    if (left)
        memcpy(b->base, c->read_ptr, left);
    if (c->in)
        asf__buffer_retire(c, c->in);
    c->in = b;
    c->buf_base = b->base;
    c->buf_end = b->base + b->size;
    asf__bytes_set_read(c, b->base, b->base, b->base + left);
    return 0;
}

int asf__wide_to_read(struct asf_cios *c) {
    struct asf_wide *w = &c->wide;
    if (w->write_ptr > w->write_base && asf__wide_flush(c) == EOF)
        return EOF;
    int rc = asf__flush_output(c); /* what is held back */
    if (rc < 0)
        return asf__error(c, rc);
    asf__free_backup(c);
    w->read_base = w->buf_base;
    if (w->write_ptr > w->read_end)
        w->read_end = w->write_ptr;
    w->read_ptr = w->write_ptr;
    asf__wide_set_write(w, w->read_ptr);
    c->flags &= ~ASF_PUTTING;
    c->write_ptr = c->write_end = c->write_base;
    return 0;
}

int asf__wide_to_write(struct asf_cios *c) {
    struct asf_wide *w = &c->wide;
    int rc = asf__wide_prepare(c);
    if (rc < 0)
        return rc;
    asf__free_backup(c);
    if (!w->write_base)
        asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
    if (w->read_ptr == w->buf_end)
        w->read_ptr = w->buf_base;
    if ((rc = asf__to_write(c)) < 0)
        return rc;
    w->read_base = w->read_end = w->write_base = w->write_ptr = w->read_ptr;
    w->write_end = c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED) ? w->write_ptr : w->buf_end;
    return 0;
}
