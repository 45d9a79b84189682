/* SPDX-License-Identifier: MIT
 *
 * characters.c - one byte at a time: getc, putc, ungetc and their variants.  While the process has one
 * thread, a call tests and moves a pointer of the current buffer.  In a multithreaded process it does so in a
 * restartable sequence if the stream's lock is biased to the thread, and else with the lock taken.
 */
#include "interfaces/stdio/stdio_cios.h"

#include "lib/sys/restart.h"

static int flush_now(struct asf_cios *c) {
    int rc = asf__whole(asf__flush_output(c));
    return rc < 0 ? asf__output_error(rc) : 0;
}

int asf__put_char(struct asf_cios *c, int ch) {
    asf__orient_to_bytes(c);
    if (!asf__ours(c)) /* as glibc: putc alone of the byte functions writes to a wide stream */
        return asf__other_put_char(c, ch);
    if (ch == EOF)
        return flush_now(c);
    int r = asf__overflow(c, (unsigned char)ch);
    return r < 0 ? asf__output_error(asf__reported_error(c, r, ASF_NO_WRITES)) : r;
}

static __attribute__((noinline)) int get_locked(struct asf_cios *c) {
    return ASF_LOCKED(c, asf__try_biased_lock,
                      asf__likely(c->read_ptr < c->read_end) ? (unsigned char)*c->read_ptr++ : asf__uflow(c));
}

static __attribute__((noinline)) int put_locked(struct asf_cios *c, int ch) {
    return ASF_LOCKED(c, asf__try_biased_lock,
                      asf__likely(c->write_ptr < c->write_end) ? (unsigned char)(*c->write_ptr++ = (char)ch)
                                                               : asf__put_char(c, (unsigned char)ch));
}

CACHE_LINE_ALIGNED EXPORT int getc(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__alone()) {
        if (asf__likely(c->read_ptr < c->read_end))
            return (unsigned char)*c->read_ptr++;
    } else {
        int ch = asf__take_byte(&c->fast, &c->read_ptr, &c->read_end);
        if (asf__likely(ch >= 0))
            return ch;
    }
    return get_locked(c);
}

/* Stores a byte other than a newline in the buffer of a line-buffered stream, whose window shows no room.
 * returns  false if it did not. */
static inline bool put_in_line(struct asf_cios *c, int ch) {
    enum { MODE = ASF_LINE_BUF | ASF_UNBUFFERED | ASF_PUTTING };
    bool line = (c->flags & MODE) == (ASF_LINE_BUF | ASF_PUTTING) && asf__ours(c) && c->orientation < 0;
    if (ch == '\n' || !line || !c->write_ptr || c->write_ptr >= c->buf_end)
        return false;
    *c->write_ptr++ = (char)ch;
    return true;
}

CACHE_LINE_ALIGNED EXPORT int putc(int ch, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__alone()) {
        if (asf__likely(c->write_ptr < c->write_end))
            return (unsigned char)(*c->write_ptr++ = (char)ch);
        if (put_in_line(c, ch))
            return (unsigned char)ch;
    } else {
        int byte = asf__put_byte(&c->fast, &c->write_ptr, &c->write_end, ch);
        if (asf__likely(byte >= 0))
            return byte;
    }
    return put_locked(c, ch);
}

static inline int get_byte_unlocked(struct asf_cios *c) {
    if (asf__likely(c->read_ptr < c->read_end))
        return (unsigned char)*c->read_ptr++;
    return ASF_UNLOCKED(c, asf__uflow(c));
}

static inline int put_byte_unlocked(struct asf_cios *c, int ch) {
    if (asf__likely(c->write_ptr < c->write_end))
        return (unsigned char)(*c->write_ptr++ = (char)ch);
    return ASF_UNLOCKED(c, asf__put_char(c, (unsigned char)ch));
}

CACHE_LINE_ALIGNED EXPORT int getc_unlocked(FILE *f) {
    return get_byte_unlocked(asf__cios(f));
}

CACHE_LINE_ALIGNED EXPORT int putc_unlocked(int ch, FILE *f) {
    return put_byte_unlocked(asf__cios(f), ch);
}

EXPORT int getchar(void) {
    return getc(stdin);
}

EXPORT int putchar(int ch) {
    return putc(ch, stdout);
}

EXPORT int getchar_unlocked(void) {
    return get_byte_unlocked(asf__cios(stdin));
}

EXPORT int putchar_unlocked(int ch) {
    return put_byte_unlocked(asf__cios(stdout), ch);
}

int fgetc(FILE *) ALIAS(getc);
int _IO_getc(FILE *) ALIAS(getc);
int fputc(int, FILE *) ALIAS(putc);
int _IO_putc(int, FILE *) ALIAS(putc);
int fgetc_unlocked(FILE *) ALIAS(getc_unlocked);
int fputc_unlocked(int, FILE *) ALIAS(putc_unlocked);

/* Pushes back the byte that was just read by moving read_ptr.  Returns false if the byte differs, or if a
 * bulk stream's own buffer may begin at read_ptr (asf__back_up). */
static inline bool step_back(struct asf_cios *c, int ch) {
    if (c->orientation >= 0 || ch == EOF || c->flags & ASF_EOF || !asf__ours(c) ||
        c->read_ptr <= c->read_base || (unsigned char)c->read_ptr[-1] != (unsigned char)ch)
        return false;
    if (c->bulk.own) {
        if (c->bulk.seen > c->read_ptr || c->bulk.passed == c->read_ptr)
            return false;
        c->bulk.seen = c->read_ptr;
    }
    c->read_ptr--;
    return true;
}

/* Whether musl has no room for another pushed-back byte.  Its room is eight bytes plus the part of the buffer
 * that was read, or the whole buffer if none of it is unread. */
static bool is_full(const struct asf_cios *c) {
    if (!ASF_LIBC(ungetc_before_buffer) || !(c->flags & ASF_IN_BACKUP))
        return false;
    ptrdiff_t room = !c->buf_base                 ? BUFSIZ
                     : c->save_base < c->save_end ? c->save_base - c->buf_base
                                                  : c->buf_end - c->buf_base;
    return c->read_end - c->read_ptr >= room + 8;
}

int asf__unget(struct asf_cios *c, int ch) {
    int r = asf__is_putting(c) ? asf__to_read(c) : 0;
    if (r < 0)
        return asf__error(c, r);
    if (is_full(c))
        return EOF;
    r = asf__push_back(c, ch);
    return r < 0 ? EOF : r;
}

static int unget_byte(struct asf_cios *c, int ch) {
    if (ASF_LIBC(ungetc_orients))
        asf__orient_to_bytes(c);
    if (c->orientation <= 0 && asf__ours(c) && asf__back_up(c, ch))
        return (unsigned char)ch;
    if (c->orientation > 0)
        return EOF;
    return asf__ours(c) ? asf__unget(c, ch) : asf__other_unget(c, ch);
}

static __attribute__((noinline)) int unget_locked(int ch, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (ch == EOF)
        return EOF;
    asf__enter(c);
    asf__count(c);
    int r = unget_byte(c, ch);
    if (r != EOF)
        c->flags &= ~ASF_EOF;
    asf__leave(c);
    return r;
}

static __attribute__((noinline)) int unget_shared(int ch, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__try_biased_lock(c)) {
        bool done = step_back(c, ch);
        asf__bias_leave(&c->lk);
        if (done)
            return (unsigned char)ch;
    }
    return unget_locked(ch, f);
}

CACHE_LINE_ALIGNED EXPORT int ungetc(int ch, FILE *f) {
    if (asf__unlikely(!asf__alone()))
        return unget_shared(ch, f);
    return asf__likely(step_back(asf__cios(f), ch)) ? (unsigned char)ch : unget_locked(ch, f);
}
GLIBC_NAME(int _IO_ungetc(int, FILE *), ungetc)

EXPORT int getw(FILE *f) {
    int w;
    return fread(&w, sizeof w, 1, f) == 1 ? w : EOF;
}

EXPORT int putw(int w, FILE *f) {
    return fwrite(&w, sizeof w, 1, f) == 1 ? 0 : EOF;
}
