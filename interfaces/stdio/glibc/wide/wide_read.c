/* SPDX-License-Identifier: MIT
 *
 * wide_read.c - input of wide characters: fgetwc, ungetwc, fgetws.  Bytes are read and converted in libc's
 * portions, so that errors and offsets are the same as in libc.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <limits.h>
#include <stdlib.h>

extern void __chk_fail(void) __attribute__((noreturn));
extern wint_t __wuflow(FILE *);

/* --- refilling ------------------------------------------------------------- */

/* Converts the bytes that are left of the last read; they may be less than a character. */
static enum asf_converted convert_rest(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    const char *from = c->read_ptr;
    w->last_state = w->state;
    asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
    enum asf_converted status = asf__decode(c, &from, c->read_end, &w->read_end, w->buf_end);
    c->read_base = c->read_ptr;
    c->read_ptr += from - c->read_ptr;
    return status;
}

/* Allocates the buffers of bytes and of characters if they are missing, and moves the unread bytes to the
 * front of the first. */
static void prepare_buffers(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    asf__wide_prepare(c);
    size_t left = asf__avail(c);
    const char *rest = c->read_ptr;
    struct asf_buffer *b = c->buffer->refs ? asf__buffer_new(c->buffer->size) : NULL;
    if (b) { /* regions keep the old buffer; without memory for a new one their bytes change */
        memcpy(b->base, rest, left);
        asf__use_buffer(c, b);
    } else if (left) {
        memmove(c->buf_base, rest, left);
    }
    asf__set_read(c, c->buf_base, c->buf_base, c->buf_base + left);
    asf__set_write(c, c->buf_base);
    if (c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED))
        asf__flush_stdout_before(c);
    c->flags &= ~ASF_PUTTING;
    asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
    asf__wide_set_write(w, w->buf_base);
}

/* The bytes of a character that came in several reads. */
struct partial {
    char bytes[MB_LEN_MAX];
    size_t n;
};

/* Makes one read.  Returns false at the end of the file or on an error. */
static bool get_bytes(struct asf_cios *c, const struct partial *partial) {
    char *base = c->read_base, *p = c->read_ptr, *end = c->read_end;
    ssize_t n = asf__get(c, end, (size_t)(c->buf_end - end));
    asf__set_read(c, base, p, end + (n > 0 ? n : 0));
    if (n < 0) {
        asf__error(c, (int)n);
    } else if (n == 0 && partial->n == 0) {
        c->flags |= ASF_EOF;
        c->offset = -1;
    }
    if (n <= 0 && partial->n > 0)
        asf__error(c, -EILSEQ); /* the file ends within a character */
    return n > 0;
}

static enum asf_converted convert_partial(struct asf_cios *c, struct partial *partial, size_t added) {
    size_t room = sizeof partial->bytes - partial->n, n = added < room ? added : room;
    memcpy(partial->bytes + partial->n, c->read_ptr, n);
    partial->n += n;
    const char *from = partial->bytes, *fresh = partial->bytes + partial->n - n;
    enum asf_converted status =
        asf__decode(c, &from, partial->bytes + partial->n, &asf__wide(c)->read_end, asf__wide(c)->buf_end);
    if (from > fresh)
        c->read_ptr += from - fresh;
    size_t used = (size_t)(from - partial->bytes);
    memmove(partial->bytes, from, partial->n - used);
    partial->n -= used;
    return status;
}

static enum asf_converted convert_read(struct asf_cios *c) {
    const char *from = c->read_ptr;
    enum asf_converted status =
        asf__decode(c, &from, c->read_end, &asf__wide(c)->read_end, asf__wide(c)->buf_end);
    c->read_ptr += from - c->read_ptr;
    return status;
}

/* The bytes read so far make no character: keeps them and makes room for more. */
static bool keep_partial(struct asf_cios *c, struct partial *partial) {
    size_t left = asf__avail(c);
    if (partial->n == 0 && c->read_base < c->read_ptr) { /* only shift sequences were converted */
        memmove(c->read_base, c->read_ptr, left);
        c->read_ptr = c->read_base;
        c->read_end = c->read_base + left;
        return true;
    }
    if (partial->n == 0 && left < sizeof partial->bytes) {
        memcpy(partial->bytes, c->read_ptr, left);
        partial->n = left;
    } else if (partial->n == 0 || partial->n == sizeof partial->bytes) {
        return false;
    }
    c->read_ptr = c->read_end = c->read_base;
    return true;
}

static wint_t read_until_character(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    struct partial partial = {.n = 0};
    for (;;) {
        char *before = c->read_end;
        if (!get_bytes(c, &partial))
            return WEOF;
        w->last_state = w->state;
        c->read_base = c->read_ptr;
        enum asf_converted status =
            partial.n ? convert_partial(c, &partial, (size_t)(c->read_end - before)) : convert_read(c);
        if (w->read_ptr < w->read_end)
            return (wint_t)*w->read_ptr;
        if (status == ASF_INVALID || !keep_partial(c, &partial))
            return asf__wide_error(c, -EILSEQ);
    }
}

wint_t asf__wide_underflow(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    if (c->flags & ASF_EOF)
        return WEOF; /* sticky: C99 */
    if (c->flags & ASF_NO_READS)
        return asf__wide_error(c, -EBADF);
    if (w->read_ptr < w->read_end)
        return (wint_t)*w->read_ptr;
    if (c->read_ptr < c->read_end && w->buf_base) {
        enum asf_converted status = convert_rest(c);
        if (w->read_ptr < w->read_end)
            return (wint_t)*w->read_ptr;
        if (status == ASF_INVALID)
            return asf__wide_error(c, -EILSEQ);
    }
    prepare_buffers(c);
    return read_until_character(c);
}

wint_t asf__wide_uflow(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    if (!asf__ours_wide(c)) { /* not wide yet, or libc's */
        if (c->orientation == 0 && asf__orient(asf__file(c), 1) < 0)
            return WEOF;
        if (c->orientation <= 0 || !asf__ours_wide(c))
            return c->orientation <= 0 ? WEOF : __wuflow(asf__file(c));
    }
    if (asf__is_putting(c) && asf__wide_to_read(c) == EOF)
        return WEOF;
    if (w->read_ptr == w->read_end)
        asf__wide_free_backup(c);
    if (w->read_ptr == w->read_end && asf__wide_underflow(c) == WEOF)
        return WEOF;
    return (wint_t)*w->read_ptr++;
}

/* --- pushing back ------------------------------------------------------------ */

/* As in glibc, the main window moves to save_base..save_end, which begins with its next character. */
static bool enter_backup(struct asf_cios *c) {
    enum { BACKUP = 128 };
    struct asf_wide *w = asf__wide(c);
    if (!w->save_base) {
        w->save_base = calloc(BACKUP, sizeof(wchar_t)); /* zeros: compared before they are written */
        if (!w->save_base)
            return false;
        w->save_end = w->save_base + BACKUP;
    }
    w->backup_base = w->save_end;
    wchar_t *base = w->save_base, *end = w->save_end;
    w->save_base = w->read_ptr;
    w->save_end = w->read_end;
    asf__wide_set_read(w, base, end, end);
    c->flags |= ASF_IN_BACKUP;
    return true;
}

static bool grow_backup(struct asf_wide *w) {
    size_t size = (size_t)(w->read_end - w->read_base);
    wchar_t *wider = calloc(2 * size, sizeof(wchar_t));
    if (!wider)
        return false;
    memcpy(wider + size, w->read_base, size * sizeof(wchar_t));
    free(w->read_base);
    asf__wide_set_read(w, wider, wider + size, wider + 2 * size);
    w->backup_base = w->read_ptr;
    return true;
}

wint_t asf__wide_pushback(struct asf_cios *c, wint_t ch) {
    struct asf_wide *w = asf__wide(c);
    /* glibc stays in output mode here, and later frees memory that it must not. */
    if (asf__is_putting(c) && !(c->flags & ASF_NO_READS) && asf__wide_to_read(c) == EOF)
        return WEOF;
    bool backup = c->flags & ASF_IN_BACKUP &&
                  w->backup_base; /* not that of bytes pushed back before the stream became wide */
    /* As in older versions of glibc, which compare the last byte instead of the last character. */
    if (!backup && w->read_ptr > w->read_base && c->read_ptr > c->read_base &&
        (wint_t)c->read_ptr[-1] == ch && !ASF_LIBC(wide_pushback)) {
        c->read_ptr--;
        return ch;
    }
    if (!backup ? !enter_backup(c) : w->read_ptr <= w->read_base && !grow_backup(w))
        return WEOF;
    *--w->read_ptr = (wchar_t)ch;
    return ch;
}

static wint_t push_back(struct asf_cios *c, wint_t ch) {
    asf__count(c);
    if (c->orientation == 0)
        asf__orient(asf__file(c), 1);
    struct asf_wide *w = asf__wide(c);
    if (ch == WEOF)
        return WEOF;
    if (w && w->read_ptr > w->read_base && w->read_ptr[-1] == (wchar_t)ch)
        w->read_ptr--;
    else
        ch = (wint_t)asf__jump(c)->pbackfail(c, (int)ch); /* glibc: on a byte stream, too */
    if (ch != WEOF)
        c->flags &= ~ASF_EOF;
    return ch;
}

EXPORT wint_t ungetwc(wint_t ch, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    asf__enter(c);
    ch = push_back(c, ch);
    asf__leave(c);
    return ch;
}

/* --- one character -------------------------------------------------------------- */

static __attribute__((noinline)) wint_t get_locked(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    return ASF_LOCKED(c, asf__try_biased_wide_lock,
                      asf__likely(w && w->read_ptr < w->read_end) ? (wint_t)*w->read_ptr++
                                                                  : asf__wide_uflow(c));
}

EXPORT wint_t fgetwc(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    struct asf_wide *w = asf__wide(c);
    if (asf__alone() && asf__likely(w && w->read_ptr < w->read_end))
        return (wint_t)*w->read_ptr++;
    return get_locked(c);
}

static inline wint_t get_unlocked(struct asf_cios *c) {
    struct asf_wide *w = asf__wide(c);
    if (asf__likely(w && w->read_ptr < w->read_end))
        return (wint_t)*w->read_ptr++;
    return ASF_UNLOCKED(c, asf__wide_uflow(c));
}

EXPORT wint_t fgetwc_unlocked(FILE *f) {
    return get_unlocked(asf__cios(f));
}

EXPORT wint_t getwchar(void) {
    return fgetwc(stdin);
}

EXPORT wint_t getwchar_unlocked(void) {
    return get_unlocked(asf__cios(stdin));
}

wint_t getwc(FILE *) ALIAS(fgetwc);
wint_t getwc_unlocked(FILE *) ALIAS(fgetwc_unlocked);

/* --- lines ----------------------------------------------------------------------- */

static size_t get_line(struct asf_cios *c, wchar_t *p, size_t n) {
    size_t done = 0;
    while (done < n) {
        struct asf_wide *w = asf__wide(c);
        if (!w || w->read_ptr >= w->read_end) {
            wint_t ch = asf__wide_uflow(c);
            if (ch == WEOF)
                break;
            p[done++] = (wchar_t)ch;
            if (ch == L'\n')
                break;
            continue;
        }
        size_t length = (size_t)(w->read_end - w->read_ptr);
        if (length > n - done)
            length = n - done;
        const wchar_t *end = wmemchr(w->read_ptr, L'\n', length);
        if (end)
            length = (size_t)(end - w->read_ptr) + 1;
        memcpy(p + done, w->read_ptr, length * sizeof *p);
        w->read_ptr += length;
        done += length;
        if (end)
            break;
    }
    return done;
}

/* Reads a line of at most n characters.  As in glibc, an error loses the line, except EAGAIN after some
 * characters.  room: the number of characters that p has room for, if the program called a checked form. */
static wchar_t *get_string(struct asf_cios *c, wchar_t *p, size_t n, size_t room) {
    int old = asf__forget_error(c);
    asf__count(c);
    size_t done = get_line(c, p, n < room ? n : room);
    bool lost = asf__has_failed(c, old) && errno != EAGAIN;
    if (done == 0 || lost)
        return NULL;
    if (done >= room)
        __chk_fail();
    p[done] = L'\0';
    return p;
}

static wchar_t *get_string_unlocked(struct asf_cios *c, wchar_t *p, int n, size_t room) {
    return ASF_UNLOCKED(c, get_string(c, p, (size_t)n - 1, room));
}

static wchar_t *get_string_locked(struct asf_cios *c, wchar_t *p, int n, size_t room) {
    asf__enter(c);
    wchar_t *r = get_string(c, p, (size_t)n - 1, room);
    asf__leave(c);
    return r;
}

EXPORT wchar_t *fgetws(wchar_t *p, int n, FILE *f) {
    if (n == 1)
        *p = L'\0';
    return n <= 1 ? n == 1 ? p : NULL : get_string_locked(asf__cios(f), p, n, SIZE_MAX);
}

EXPORT wchar_t *fgetws_unlocked(wchar_t *p, int n, FILE *f) {
    if (n == 1)
        *p = L'\0';
    return n <= 1 ? n == 1 ? p : NULL : get_string_unlocked(asf__cios(f), p, n, SIZE_MAX);
}

wchar_t *__fgetws_chk(wchar_t *, size_t, int, FILE *);
EXPORT wchar_t *__fgetws_chk(wchar_t *p, size_t room, int n, FILE *f) {
    return n <= 0 ? NULL : get_string_locked(asf__cios(f), p, n, room);
}

wchar_t *__fgetws_unlocked_chk(wchar_t *, size_t, int, FILE *);
EXPORT wchar_t *__fgetws_unlocked_chk(wchar_t *p, size_t room, int n, FILE *f) {
    return n <= 0 ? NULL : get_string_unlocked(asf__cios(f), p, n, room);
}
