/* SPDX-License-Identifier: MIT
 *
 * jumps.c - the jump table: the door from libc's inside (perror, error,
 * getopt, vfscanf, the exit flush…) to our streams, and the steps that the
 * interposed functions share with it.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <stdlib.h>

#include "lib/sys/guard.h"
#include "lib/sys/next.h"
#include "lib/sys/syscalls.h"

extern int __underflow(FILE *);

int asf__error(struct asf_cios *c, int code) {
    /* glibc sets no flag when it cannot seek to where its output goes, nor enlarge its memory. */
    if (!c->lag && !c->resident)
        c->flags |= ASF_ERR;
    asf__set_errno(code);
    return EOF;
}

/* --- input ---------------------------------------------------------------- */

/* Reading from a terminal or an unbuffered stream shows a line-buffered
 * stdout first, as glibc does it. */
static struct asf_cios *to_be_shown(void) {
    enum { LOOKED_AT = ASF_LINKED | ASF_NO_WRITES | ASF_LINE_BUF };
    struct asf_cios *out = asf__cios(stdout);
    return out && (out->flags & LOOKED_AT) == (ASF_LINKED | ASF_LINE_BUF) ? out : NULL;
}

static void show(void *arg) {
    struct asf_cios *out = arg;
    asf__enter(out);
    if (out->write_ptr > out->write_base ||
        (out->orientation > 0 && out->wide.write_ptr > out->wide.write_base))
        asf__jump(out)->overflow(out, EOF);
    asf__leave(out);
}

void asf__show_stdout(struct asf_cios *reader) {
    struct asf_cios *out = to_be_shown();
    if (out && (out == reader || __libc_single_threaded))
        show(out);
    else if (out)
        asf__guarded(show, out, asf__cancelled, reader);
}

static int fill(struct asf_cios *c) {
    if (!asf__stdio_started)
        asf__stdio_start();
    if (c->flags & ASF_EOF && !c->follows)
        return EOF; /* sticky: C99 */
    if (c->flags & ASF_NO_READS)
        return asf__error(c, -EBADF);
    asf__choose(c); /* which tells a terminal */
    if (c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED))
        asf__show_stdout(c);
    ssize_t n = asf__fill_empty(c);
    c->stats.slow++;
    if (n > 0)
        return 0;
    if (n < 0)
        return asf__error(c, (int)n);
    if (c->resident)
        return EOF;
    c->flags |= ASF_EOF;
    asf__at_end(c);
    return EOF;
}

/* A FILE of libc's: its own functions first leave what was pushed back, which their table
 * takes for done; a static program has no way to them. */
static int underflow_of_libc(struct asf_cios *c) {
#ifdef ASF_STATIC
    return asf__jump(c)->underflow(c);
#else
    return ASF_NEXT(__underflow)(asf__file(c));
#endif
}

static int uflow_of_libc(struct asf_cios *c) {
#ifdef ASF_STATIC
    return asf__jump(c)->uflow(c);
#else
    return ASF_NEXT(__uflow)(asf__file(c));
#endif
}

int asf__underflow(struct asf_cios *c) {
    if (!asf__bytes(c))
        return EOF;
    if (!asf__ours(c))
        return asf__avail(c) > 0 || underflow_of_libc(c) != EOF ? 0 : EOF;
    if (asf__is_putting(c) && !c->resident) {
        int rc = asf__end_output(c);
        if (rc < 0)
            return asf__error(c, rc);
    }
    c->outlived = false;
    if (c->flags & ASF_IN_BACKUP && asf__avail(c) == 0)
        asf__leave_backup(c);
    if (asf__avail(c) > 0)
        return 0;
    asf__free_backup(c);
    return fill(c);
}

int asf__uflow(struct asf_cios *c) {
    if (!asf__ours(c) && asf__avail(c) == 0)
        return asf__bytes(c) ? uflow_of_libc(c) : EOF;
    if (asf__underflow(c) == EOF)
        return EOF;
    return (unsigned char)*c->read_ptr++;
}

/* glibc's convention for pushed-back bytes, which gnulib's code reads: the
 * main window moves to save_base..save_end, its read_ptr to save_base. */
static bool enter_backup(struct asf_cios *c) {
    enum { BACKUP = 128 };
    if (!c->save_base) {
        c->save_base = calloc(BACKUP, 1); /* its bytes are compared before they are written */
        if (!c->save_base)
            return false;
        c->save_end = c->backup_base = c->save_base + BACKUP;
    }
    if (c->offset >= 0)
        asf__libc_begins_here(c);
    char *base = c->save_base, *end = c->save_end;
    c->save_base = c->read_ptr;
    c->save_end = c->read_end;
    c->read_base = base;
    c->read_ptr = c->read_end = end;
    c->flags |= ASF_IN_BACKUP;
    return true;
}

static bool widen_backup(struct asf_cios *c) {
    size_t size = (size_t)(c->read_end - c->read_base);
    char *wider = calloc(2, size);
    if (!wider)
        return false;
    memcpy(wider + size, c->read_base, size);
    free(c->read_base);
    c->read_base = wider;
    c->read_ptr = c->backup_base = wider + size;
    c->read_end = wider + 2 * size;
    return true;
}

int asf__pushback(struct asf_cios *c, int ch) {
    if (asf__is_putting(c)) {
        int rc = asf__to_read(c);
        if (rc < 0)
            return asf__error(c, rc);
    }
    if (c->read_ptr > c->read_base && (unsigned char)c->read_ptr[-1] == (unsigned char)ch &&
        asf__step_back(c))
        return (unsigned char)ch;
    if (!(c->flags & ASF_IN_BACKUP)) {
        if (!enter_backup(c))
            return EOF;
        asf__set_early(c, !c->chosen && !c->user_size);
    } else if (c->read_ptr == c->read_base && !widen_backup(c)) {
        return EOF;
    }
    *--c->read_ptr = (char)ch;
    return (unsigned char)ch;
}

size_t asf__get_bytes(struct asf_cios *c, void *p, size_t n) {
    int error;
    if (!asf__stdio_started)
        asf__stdio_start();
    if (c->orientation > 0 || n == 0)
        return 0;
    if (!asf__ours(c))
        return asf__jump(c)->xsgetn(c, p, n);
    if (asf__avail(c) < n || c->early) {
        c->stats.slow++;
        asf__choose(c);
        if (c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED) && !(c->flags & ASF_NO_READS))
            asf__show_stdout(c);
    }
    size_t done = asf__take(c, p, n, &error);
    if (error)
        asf__error(c, error);
    else if (done < n && !c->resident)
        c->flags |= ASF_EOF;
    return done;
}

/* --- output --------------------------------------------------------------- */

/* What goes out now goes out after whatever libc would have written before. */
static inline int flush_now(struct asf_cios *c) {
    asf__before_wait();
    int rc = asf__flush_output(c);
    return rc < 0 ? asf__error(c, rc) : 0;
}

int asf__overflow(struct asf_cios *c, int ch) {
    if (!asf__stdio_started)
        asf__stdio_start();
    asf__bytes(c);
    if (!asf__ours(c)) /* glibc: putc writes to a wide stream, too, though nothing else does */
        return asf__jump(c)->overflow(c, ch);
    if (ch == EOF)
        return asf__is_putting(c) ? flush_now(c) : 0;
    if (asf__put_in_line(c, ch))
        return (unsigned char)ch;
    if (asf__room(c) == 0) {
        int rc = asf__drain(c, 1);
        c->stats.slow++;
        if (rc < 0)
            return asf__error(c, rc);
    }
    *c->write_ptr++ = (char)ch;
    if (c->flags & ASF_UNBUFFERED || (c->flags & ASF_LINE_BUF && ch == '\n' && !c->late_line))
        return flush_now(c) == EOF ? EOF : (unsigned char)ch;
    return (unsigned char)ch;
}

static size_t append(struct asf_cios *c, const char *p, size_t n) {
    int error = 0;
    size_t done = n > 0 ? asf__append(c, p, n, &error) : 0;
    if (error)
        asf__error(c, error);
    return done;
}

/* The first `now` bytes go out, the rest stays. */
static size_t put_and_flush(struct asf_cios *c, const char *text, size_t n, size_t now) {
    asf__before_wait();
    size_t done = append(c, text, now);
    if (done < now)
        return done;
    if (now && flush_now(c) == EOF) /* all is in the buffer: libc says EOF then */
        return now == n ? (size_t)EOF : done;
    return now < n ? done + append(c, text + now, n - now) : done;
}

/* Unbuffered: libc puts byte by byte, or all at once. */
static size_t put_at_once(struct asf_cios *c, const char *text, size_t n) {
    int error = 0;
    asf__before_wait();
    ssize_t straight = asf__put_straight(c, text, n, &error);
    if (straight >= 0) {
        if (error)
            asf__error(c, error);
        return (size_t)straight;
    }
    size_t done = put_and_flush(c, text, n, n);
    return done == (size_t)EOF ? 0 : done;
}

/* Of what does not fit the buffer: how much libc writes whole, lines or not. */
static size_t put_whole(const struct asf_cios *c, size_t n) {
    size_t room = asf__is_putting(c) ? (size_t)(c->buf_end - c->write_ptr) : 0;
    return c->block >= 128 ? n - (n - room) % c->block : n;
}

/* Of lines that could not all be written glibc has taken the ones before, and
 * that one up to its end. */
static size_t put_now(struct asf_cios *c, const char *lines, size_t n) {
    uint64_t before = c->stats.out;
    size_t done = append(c, lines, n);
    if (done == n && flush_now(c) != EOF)
        return n;
    size_t out = (size_t)(c->stats.out - before);
    if (out >= n)
        out = n - 1;
    size_t end = (size_t)((char *)memchr(lines + out, '\n', n - out) - lines);
    return end < done ? end : done;
}

/* What is left of it, line by line, which shows everywhere but in a file. */
static size_t put_rest(struct asf_cios *c, const char *text, size_t n) {
    size_t done = 0;
    const char *end;
    while ((end = c->regular ? memrchr(text + done, '\n', n - done) : memchr(text + done, '\n', n - done))) {
        size_t lines = (size_t)(end - text) + 1 - done, put = put_now(c, text + done, lines);
        done += put;
        if (put < lines)
            return done;
    }
    return done + append(c, text + done, n - done);
}

/* The lines go out, the rest stays; but tiny buffers are not kept to once they are flushed. */
static size_t put_fitting(struct asf_cios *c, const char *text, size_t n) {
    const char *end = memrchr(text, '\n', n);
    size_t lines = end ? (size_t)(end - text) + 1 : 0, done = put_and_flush(c, text, n, lines);
    bool all = end && c->block < 128 && done == n;
    return all && flush_now(c) == EOF ? lines : done;
}

/* Line buffered.  What does not fit the buffer is treated as in a full one, and
 * the lines in what is left of it go out, as glibc has it. */
static size_t put_lines(struct asf_cios *c, const char *text, size_t n) {
    bool new_buffer = c->unprimed || (asf__is_putting(c) && !c->out && !c->resident);
    if (new_buffer && asf__drain(c, 1) < 0)
        return 0;
    bool fits = asf__is_putting(c) && n <= (size_t)(c->buf_end - c->write_ptr);
    if (fits)
        return put_fitting(c, text, n);
    asf__before_wait();
    size_t whole = put_whole(c, n), done = append(c, text, whole);
    if (done < whole || whole == n || flush_now(c) == EOF)
        return done;
    return whole + put_rest(c, text + whole, n - whole);
}

size_t asf__put_bytes(struct asf_cios *c, const void *p, size_t n) {
    const char *text = p;
    if (!asf__stdio_started)
        asf__stdio_start();
    if (!asf__bytes(c) || n == 0)
        return 0;
    if (!asf__ours(c))
        return asf__jump(c)->xsputn(c, p, n);
    if (c->flags & ASF_NO_WRITES)
        return asf__error(c, -EBADF), 0;
    if (asf__choose(c))
        errno = EBADF;
    if (asf__room(c) < n)
        c->stats.slow++;
    if (c->flags & ASF_UNBUFFERED)
        return put_at_once(c, text, n);
    if (c->flags & ASF_LINE_BUF)
        return put_lines(c, text, n);
    return append(c, text, n);
}

/* --- both ------------------------------------------------------------------- */

int asf__flush_stream(struct asf_cios *c) {
    if (!asf__ours(c))
        return asf__jump(c)->sync(c);
    if (asf__is_putting(c)) {
        int r = flush_now(c);
        if (r == 0)
            asf__forget_place(c);
        return r;
    }
    int rc = asf__sync_input(c);
    if (rc < 0)
        asf__set_errno(rc);
    return rc < 0 ? EOF : 0;
}

/* setvbuf's second half: size 0 means unbuffered. */
int asf__set_buffer(struct asf_cios *c, size_t size) {
    if (asf__flush_stream(c) == EOF)
        return EOF;
    if (size == 0)
        c->flags |= ASF_UNBUFFERED;
    else
        c->flags &= ~ASF_UNBUFFERED;
    c->user_size = size ? size : 1;
    c->indent = 0;
    c->unprimed = asf__is_putting(c) && !c->resident && !(c->flags & ASF_LINE_BUF);
    c->late_line = false;
    if (!asf__is_putting(c))
        asf__leave_window(c);
    if (!c->chosen)
        return 0;
    asf__mark_grown(c, false);
    c->may_grow = false;
    asf__set_block(c);
    if (!c->resident) /* no room until the first write */
        asf__drop_output_buffer(c);
    return 0;
}

static int jump_overflow(struct asf_cios *c, int ch) {
    return ASF_JUMP(c, asf__overflow(c, ch));
}

static int jump_underflow(struct asf_cios *c) {
    return ASF_JUMP(c, asf__underflow(c)) == EOF ? EOF : (unsigned char)*c->read_ptr;
}

static int jump_uflow(struct asf_cios *c) {
    return ASF_JUMP(c, asf__uflow(c));
}

static int jump_pbackfail(struct asf_cios *c, int ch) {
    return ASF_JUMP(c, asf__pushback(c, ch));
}

/* libc's formatter pads 16 bytes at a time. */
static size_t jump_xsputn(struct asf_cios *c, const void *p, size_t n) {
    asf__claim(c);
    if (n - 1 < 64 && n < asf__room(c) && c->orientation < 0 && asf__likely(!asf__counting)) {
        asf__copy_short(c->write_ptr, p, n);
        c->write_ptr += n;
        return n;
    }
    return ASF_JUMP(c, asf__put_bytes(c, p, n));
}

static size_t jump_xsgetn(struct asf_cios *c, void *p, size_t n) {
    return ASF_JUMP(c, asf__get_bytes(c, p, n));
}

static void jump_finish(struct asf_cios *c, int unused) {
    (void)unused;
    asf__cios_close(c);
}

static off64_t jump_seekoff(struct asf_cios *c, off64_t offset, int whence, int mode) {
    off64_t at = ASF_JUMP(c, mode == 0 ? asf__tell(c) : asf__seek(c, offset, whence));
    if (at < -ASF_BEFORE_START)
        return at + ASF_BEFORE_START;
    if (at >= 0) {
        if (mode != 0)
            c->flags &= ~ASF_EOF;
        return at;
    }
    asf__set_errno((int)at);
    return -1;
}

static off64_t jump_seekpos(struct asf_cios *c, off64_t offset, int mode) {
    return jump_seekoff(c, offset, SEEK_SET, mode);
}

static struct asf_cios *jump_setbuf(struct asf_cios *c, char *p, ssize_t size) {
    return ASF_JUMP(c, asf__set_buffer(c, p && size > 0 ? (size_t)size : 0)) == EOF ? NULL : c;
}

int asf__jump_doallocate(struct asf_cios *c) {
    asf__choose(c);
    return 1;
}

static ssize_t returned(ssize_t r) {
    if (r >= 0)
        return r;
    errno = (int)-r;
    return -1;
}

ssize_t asf__jump_read(struct asf_cios *c, void *p, ssize_t n) {
    return returned(c->ops->get ? c->ops->get(c, p, (size_t)n) : -EBADF);
}

ssize_t asf__jump_write(struct asf_cios *c, const void *p, ssize_t n) {
    return returned(c->ops->put ? c->ops->put(c, p, (size_t)n) : -EBADF);
}

off64_t asf__jump_seek(struct asf_cios *c, off64_t offset, int whence) {
    return returned(c->ops->seek ? c->ops->seek(c, offset, whence) : -ESPIPE);
}

int asf__jump_close(struct asf_cios *c) {
    return (int)returned(c->ops->close ? c->ops->close(c) : 0);
}

int asf__jump_stat(struct asf_cios *c, void *st) {
    return (int)returned(asf__sys.fstat(c->fd, st));
}

int asf__jump_showmanyc(struct asf_cios *c) {
    (void)c;
    return -1;
}

void asf__jump_imbue(struct asf_cios *c, void *locale) {
    (void)c;
    (void)locale;
}

static int jump_sync(struct asf_cios *c) {
    return ASF_JUMP(c, asf__flush_stream(c));
}

const struct asf_jumps asf__jumps = {
    .finish = jump_finish,
    .overflow = jump_overflow,
    .underflow = jump_underflow,
    .uflow = jump_uflow,
    .pbackfail = jump_pbackfail,
    .xsputn = jump_xsputn,
    .xsgetn = jump_xsgetn,
    .seekoff = jump_seekoff,
    .seekpos = jump_seekpos,
    .setbuf = jump_setbuf,
    .sync = jump_sync,
    ASF_COMMON_JUMPS,
};
