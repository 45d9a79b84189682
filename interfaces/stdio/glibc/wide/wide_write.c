/* SPDX-License-Identifier: MIT
 *
 * wide_write.c - output of wide characters: fputwc, fputws.  Characters are buffered and converted at the
 * same moments as in libc.  But libc writes sixteen bytes at a time; here all bytes of one conversion are put
 * together.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <limits.h>
#include <stdlib.h>

extern wint_t __woverflow(FILE *, wint_t);

/* --- flushing ---------------------------------------------------------------- */

/* Adds bytes to the buffer below, which takes them all before it is put; asf__append takes those that do
 * not fit.  Returns 0, or an error of writing, as do the functions that follow. */
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

/* Converts characters to bytes and advances *from over them.  Stops, without an error, before a
 * character that cannot be converted. */
static int convert_output(struct asf_cios *c, const wchar_t **from, const wchar_t *end) {
    enum asf_converted status = ASF_CONVERTED;
    int rc = 0;
    while (rc == 0 && *from < end && status != ASF_INVALID) {
        char bytes[4096], *to = bytes;
        status = asf__encode(c, &asf__wide(c)->state, from, end, &to, bytes + sizeof bytes);
        rc = add_bytes(c, bytes, (size_t)(to - bytes));
    }
    return rc;
}

/* Reports an error of writing as libc does: the converted bytes are lost, and the error flag is not set if
 * the descriptor did not go back over input. */
static int fail_output(struct asf_cios *c, int code) {
    bool stuck = c->read_end != c->write_base && !(c->flags & ASF_APPENDING);
    c->write_ptr = c->write_end = c->write_base;
    if (!stuck)
        return asf__error(c, code);
    asf__set_errno(code);
    return EOF;
}

/* Converts and puts characters.  The window is emptied first: a thread that is cancelled in the write, or
 * jumps out of it, must not leave them to be written twice.  If writing fails they stay, as in libc. */
static int put_characters(struct asf_cios *c, const wchar_t **from, const wchar_t *end, bool now) {
    struct asf_wide *w = asf__wide(c);
    wchar_t *base = w->write_base;
    w->write_base = w->write_ptr = w->buf_base;
    int rc = convert_output(c, from, end);
    if (rc == 0 && now)
        rc = asf__put_now(c);
    if (rc < 0) {
        w->write_base = base;
        w->write_ptr = base + (end - base);
    }
    return rc;
}

static int flush_output(struct asf_cios *c, bool now) {
    struct asf_wide *w = asf__wide(c);
    const wchar_t *from = w->write_base, *end = w->write_ptr;
    int rc = asf__wide_has_output(c) ? put_characters(c, &from, end, now) : 0;
    if (rc < 0)
        return fail_output(c, rc);
    asf__wide_set_read(w, w->buf_base, w->buf_base, w->buf_base);
    asf__wide_set_write(w, w->buf_base);
    if (!(c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED)))
        w->write_end = w->buf_end;
    return from == end ? 0 : EOF;
}

int asf__wide_flush(struct asf_cios *c) {
    return flush_output(c, true);
}

int asf__wide_to_bytes(struct asf_cios *c) {
    if (!asf__is_putting(c))
        asf__wide_reader_to_bytes(c);
    else if (asf__wide(c)->write_ptr > asf__wide(c)->write_base && flush_output(c, false) == EOF)
        return -errno;
    return 0;
}

/* --- filling the buffer -------------------------------------------------------- */

wint_t asf__wide_overflow(struct asf_cios *c, wint_t ch) {
    struct asf_wide *w = asf__wide(c);
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

/* Whether the text of an unbuffered stream is put as a whole; libc writes one character after the other.
 * Not if it contains WEOF, which libc takes for an empty flush. */
static bool is_put_whole(const struct asf_cios *c, const wchar_t *p, size_t n) {
    return c->flags & ASF_UNBUFFERED && !(c->flags & ASF_NO_WRITES) &&
           asf__wide(c)->write_ptr == asf__wide(c)->write_base && !wmemchr(p, (wchar_t)WEOF, n);
}

static size_t put_whole(struct asf_cios *c, const wchar_t *p, size_t n) {
    const wchar_t *from = p;
    if (!asf__is_putting(c))
        asf__wide_to_write(c);
    int rc = convert_output(c, &from, p + n);
    if (rc == 0)
        rc = asf__put_now(c);
    if (rc < 0)
        fail_output(c, rc);
    return rc < 0 ? 0 : (size_t)(from - p);
}

/* On a line-buffered stream that is in use for output, a text that fits is flushed as a whole if it
 * contains a newline; else its characters are added one by one, as in libc. */
size_t asf__wide_put(struct asf_cios *c, const wchar_t *p, size_t n) {
    struct asf_wide *w = asf__wide(c);
    ptrdiff_t room = w->write_end - w->write_ptr;
    bool flush = false;
    if (is_put_whole(c, p, n))
        return put_whole(c, p, n);
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

/* As in glibc, putwc and putwchar write a byte on a byte stream, where fputwc fails. */
static wint_t put_slow(struct asf_cios *c, wchar_t ch, bool refuse) {
    if (c->orientation == 0)
        asf__orient(asf__file(c), 1);
    if (c->orientation < 0)
        return refuse ? WEOF : (wint_t)asf__jump(c)->overflow(c, (int)ch);
    return asf__ours_wide(c) ? asf__wide_overflow(c, (wint_t)ch) : __woverflow(asf__file(c), (wint_t)ch);
}

static __attribute__((noinline)) wint_t put_locked(struct asf_cios *c, wchar_t ch, bool refuse) {
    struct asf_wide *w = asf__wide(c);
    return ASF_LOCKED(c, asf__try_biased_wide_lock,
                      asf__likely(w && w->write_ptr < w->write_end) ? (wint_t)(*w->write_ptr++ = ch)
                                                                    : put_slow(c, ch, refuse));
}

static inline wint_t put_single_threaded(struct asf_cios *c, wchar_t ch, bool refuse) {
    struct asf_wide *w = asf__wide(c);
    if (asf__alone() && asf__likely(w && w->write_ptr < w->write_end))
        return (wint_t)(*w->write_ptr++ = ch);
    return put_locked(c, ch, refuse);
}

EXPORT wint_t fputwc(wchar_t ch, FILE *f) {
    return put_single_threaded(asf__cios(f), ch, true);
}

EXPORT wint_t putwc(wchar_t ch, FILE *f) {
    return put_single_threaded(asf__cios(f), ch, false);
}

EXPORT wint_t putwchar(wchar_t ch) {
    return put_single_threaded(asf__cios(stdout), ch, false);
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
