/* SPDX-License-Identifier: MIT
 *
 * wide_write.c - output of wide characters: fputwc, fputws.  They stand in
 * libc's buffer and are converted when libc converts; but where libc writes
 * sixteen bytes at a time, all bytes of one conversion go out together.
 */
#include "interfaces/stdio/wide/wide.h"

#include <limits.h>
#include <stdlib.h>

extern wint_t __woverflow(FILE *, wint_t);

/* --- out of the buffer ------------------------------------------------------- */

/* Into the buffer below, which takes them all before it is put, or past it.  An error
 * here and in what follows is one of writing. */
static int add_bytes(struct asf_cios *c, const char *bytes, size_t n) {
    int error = 0;
    if (asf__room_in_buffer(c) < n) {
        asf__append(c, bytes, n, &error);
    } else if (n > 0) {
        memcpy(c->write_ptr, bytes, n);
        c->write_ptr += n;
    }
    return error;
}

/* Characters to bytes; *from tells how far it came.  What cannot be converted just ends it. */
static int convert(struct asf_cios *c, const wchar_t **from, const wchar_t *end) {
    enum asf_converted status = ASF_CONVERTED;
    int rc = 0;
    while (rc == 0 && *from < end && status != ASF_INVALID) {
        char bytes[4096], *to = bytes;
        status = asf__encode(c, &c->wide.state, from, end, &to, bytes + sizeof bytes);
        rc = add_bytes(c, bytes, (size_t)(to - bytes));
    }
    return rc;
}

/* As libc: no flag is set when the descriptor does not go back over input, and what has
 * become bytes is lost. */
static int fail(struct asf_cios *c, int code) {
    bool stuck = c->read_end != c->write_base && !(c->flags & ASF_APPENDING);
    c->write_ptr = c->write_end = c->write_base;
    if (!stuck)
        return asf__error(c, code);
    asf__set_errno(code);
    return EOF;
}

/* A thread that is cancelled in the write, or jumps out of it, does not leave the
 * characters to be written twice; when writing fails they stay, as in libc. */
static int put_characters(struct asf_cios *c, const wchar_t **from, const wchar_t *end, bool now) {
    struct asf_wide *w = &c->wide;
    wchar_t *base = w->write_base;
    w->write_base = w->write_ptr = w->buf_base;
    int rc = convert(c, from, end);
    if (rc == 0 && now)
        rc = asf__put_now(c);
    if (rc < 0) {
        w->write_base = base;
        w->write_ptr = base + (end - base);
    }
    return rc;
}

static int flush(struct asf_cios *c, bool now) {
    struct asf_wide *w = &c->wide;
    const wchar_t *from = w->write_base, *end = w->write_ptr;
    int rc = asf__wide_has_output(c) ? put_characters(c, &from, end, now) : 0;
    if (rc < 0)
        return fail(c, rc);
    asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
    asf__wide_set_write(w, w->buf_base);
    if (!(c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED)))
        w->write_end = w->buf_end;
    return from == end ? 0 : EOF;
}

int asf__wide_flush(struct asf_cios *c) {
    return flush(c, true);
}

int asf__wide_to_bytes(struct asf_cios *c) {
    if (!asf__is_putting(c))
        asf__wide_reader_to_bytes(c);
    else if (c->wide.write_ptr > c->wide.write_base && flush(c, false) == EOF)
        return -errno;
    return 0;
}

/* --- into the buffer ----------------------------------------------------------- */

wint_t asf__wide_overflow(struct asf_cios *c, wint_t ch) {
    struct asf_wide *w = &c->wide;
    if (c->flags & ASF_NO_WRITES)
        return asf__wide_error(c, -EBADF);
    if (!asf__is_putting(c) || !w->write_base)
        asf__wide_to_write(c);
    if (ch == WEOF)
        return asf__wide_flush(c) == EOF ? WEOF : 0;
    if (w->write_ptr == w->buf_end && asf__wide_flush(c) == EOF)
        return WEOF;
    *w->write_ptr++ = (wchar_t)ch;
    bool now = c->flags & ASF_UNBUFFERED || (c->flags & ASF_LINE_BUF && ch == L'\n');
    return now && asf__wide_flush(c) == EOF ? WEOF : ch;
}

static size_t copy_in(struct asf_wide *w, const wchar_t *p, size_t n, ptrdiff_t room) {
    if (room <= 0)
        return 0;
    if (n > (size_t)room)
        n = (size_t)room;
    memcpy(w->write_ptr, p, n * sizeof *p);
    w->write_ptr += n;
    return n;
}

/* Unbuffered: libc writes one character after the other.  One that is WEOF it
 * takes for an empty flush. */
static bool goes_at_once(const struct asf_cios *c, const wchar_t *p, size_t n) {
    return c->flags & ASF_UNBUFFERED && !(c->flags & ASF_NO_WRITES) &&
           c->wide.write_ptr == c->wide.write_base && !wmemchr(p, (wchar_t)WEOF, n);
}

static size_t put_at_once(struct asf_cios *c, const wchar_t *p, size_t n) {
    const wchar_t *from = p;
    if (!asf__is_putting(c))
        asf__wide_to_write(c);
    int rc = convert(c, &from, p + n);
    if (rc == 0)
        rc = asf__put_now(c);
    if (rc < 0)
        fail(c, rc);
    return rc < 0 ? 0 : (size_t)(from - p);
}

/* Line buffered: a text that fits goes out whole if it ends a line anywhere,
 * once the stream is in use; else its characters go one by one, as in libc. */
size_t asf__wide_put(struct asf_cios *c, const wchar_t *p, size_t n) {
    struct asf_wide *w = &c->wide;
    ptrdiff_t room = w->write_end - w->write_ptr;
    bool flush = false;
    if (goes_at_once(c, p, n))
        return put_at_once(c, p, n);
    if (c->flags & ASF_LINE_BUF && asf__is_putting(c)) {
        room = w->buf_end - w->write_ptr;
        flush = room >= (ptrdiff_t)n && wmemchr(p, L'\n', n);
    }
    size_t done = copy_in(w, p, n, room);
    while (done < n) {
        done += copy_in(w, p + done, n - done, w->write_end - w->write_ptr);
        if (done == n || asf__wide_overflow(c, (wint_t)p[done]) == WEOF)
            break;
        done++;
    }
    if (flush && w->write_ptr != w->write_base)
        asf__wide_flush(c);
    return done;
}

/* --- one character --------------------------------------------------------------- */

/* As glibc: on a byte stream putwc and putwchar write a byte, where fputwc
 * refuses. */
static wint_t put_slow(struct asf_cios *c, wchar_t ch, bool refuse) {
    if (c->orientation == 0)
        asf__orient(asf__file(c), 1);
    if (c->orientation < 0)
        return refuse ? WEOF : (wint_t)asf__jump(c)->overflow(c, (int)ch);
    return asf__ours_wide(c) ? asf__wide_overflow(c, (wint_t)ch) : __woverflow(asf__file(c), (wint_t)ch);
}

static inline wint_t put(struct asf_cios *c, wchar_t ch, bool refuse) {
    struct asf_wide *w = asf__wide(c);
    if (asf__likely(w && w->write_ptr < w->write_end))
        return (wint_t)(*w->write_ptr++ = ch);
    return put_slow(c, ch, refuse);
}

static __attribute__((noinline)) wint_t put_locked(struct asf_cios *c, wchar_t ch, bool refuse) {
    return ASF_LOCKED(c, asf__wide_hold, put(c, ch, refuse));
}

static inline wint_t put_alone(struct asf_cios *c, wchar_t ch, bool refuse) {
    struct asf_wide *w = asf__wide(c);
    if (asf__alone() && asf__likely(w && w->write_ptr < w->write_end))
        return (wint_t)(*w->write_ptr++ = ch);
    return put_locked(c, ch, refuse);
}

EXPORT wint_t fputwc(wchar_t ch, FILE *f) {
    return put_alone(asf__cios(f), ch, true);
}

EXPORT wint_t putwc(wchar_t ch, FILE *f) {
    return put_alone(asf__cios(f), ch, false);
}

EXPORT wint_t putwchar(wchar_t ch) {
    return put_alone(asf__cios(stdout), ch, false);
}

static inline wint_t put_unlocked(struct asf_cios *c, wchar_t ch, bool refuse) {
    struct asf_wide *w = asf__wide(c);
    if (asf__likely(w && w->write_ptr < w->write_end))
        return (wint_t)(*w->write_ptr++ = ch);
    return ASF_UNLOCKED(c, put_slow(c, ch, refuse));
}

EXPORT wint_t fputwc_unlocked(wchar_t ch, FILE *f) {
    return put_unlocked(asf__cios(f), ch, true);
}

EXPORT wint_t putwc_unlocked(wchar_t ch, FILE *f) {
    return put_unlocked(asf__cios(f), ch, false);
}

EXPORT wint_t putwchar_unlocked(wchar_t ch) {
    return put_unlocked(asf__cios(stdout), ch, false);
}

/* --- strings ------------------------------------------------------------------------ */

static int put_text(struct asf_cios *c, const wchar_t *text) {
    size_t n = wcslen(text);
    asf__count(c);
    if (c->orientation == 0)
        asf__orient(asf__file(c), 1);
    if (c->orientation < 0)
        return EOF;
    size_t done = n == 0 ? 0 : asf__jump(c)->xsputn(c, text, n);
    return done == n ? 1 : EOF;
}

EXPORT int fputws_unlocked(const wchar_t *text, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    return ASF_UNLOCKED(c, put_text(c, text));
}

EXPORT int fputws(const wchar_t *text, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    asf__enter(c);
    int r = put_text(c, text);
    asf__leave(c);
    return r;
}

/* --- closing ------------------------------------------------------------------------ */

int asf__wide_close(struct asf_cios *c) {
    int rc = asf__is_putting(c) ? asf__wide_flush(c) : 0;
    asf__wide_free_buffer(c);
    return rc;
}
