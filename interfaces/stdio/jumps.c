/* SPDX-License-Identifier: MIT
 *
 * jumps.c - the jump table: the door from libc's inside (perror, error,
 * getopt, vfscanf, the exit flush…) to our streams, and the steps that the
 * interposed functions share with it.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <sys/stat.h>

#include "backplane/pushback.h"
#include "interfaces/stdio/libc_differences.h"
#include "lib/sys/guard.h"
#include "lib/sys/next.h"
#include "lib/sys/syscalls.h"

extern int __underflow(FILE *);

int asf__error(struct asf_cios *c, int code) {
    c->flags |= ASF_ERR;
    asf__set_errno(code);
    return EOF;
}

/* Of output: the backplane has set the flag, where what failed was a write. */
static int output_error(int code) {
    asf__set_errno(code);
    return EOF;
}

/* --- input ---------------------------------------------------------------- */

static void show(void *arg) {
    struct asf_cios *out = arg;
    asf__enter(out);
    if (out->write_ptr > out->write_base ||
        (out->orientation > 0 && out->wide.write_ptr > out->wide.write_base))
        asf__jump(out)->overflow(out, EOF);
    asf__leave(out);
}

void asf__show_stdout(struct asf_cios *reader) {
    enum { LOOKED_AT = ASF_LINKED | ASF_NO_WRITES | ASF_LINE_BUF };
    struct asf_cios *out = asf__cios(stdout);
    if (!out || (out->flags & LOOKED_AT) != (ASF_LINKED | ASF_LINE_BUF))
        return;
    if (out == reader || __libc_single_threaded)
        show(out);
    else
        asf__guarded(show, out, asf__cancelled, reader);
}

static int fill(struct asf_cios *c) {
    if (!asf__stdio_started)
        asf__stdio_start();
    if (asf__has_ended(c))
        return EOF;
    if (c->flags & ASF_NO_READS)
        return asf__error(c, -EBADF);
    if (!c->ops->fill)
        asf__allocate(c); /* which tells a terminal */
    if (c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED))
        asf__show_stdout(c);
    ssize_t n = asf__fill(c, 1);
    if (n > 0)
        return 0;
    if (n < 0)
        return asf__error(c, (int)n);
    c->flags |= ASF_EOF;
    if (c->stats.in == 0 || c->kind != ASF_REGULAR)
        c->flags2 &= ~ASF_FOLLOWS; /* as in glibc: a file that is empty at first is none to map */
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
    int rc = asf__is_putting(c) && !c->ops->memory_is_the_stream ? asf__end_output(c) : 0;
    if (rc < 0)
        return output_error(rc);
    if (asf__avail(c) == 0)
        asf__free_backup(c);
    return asf__avail(c) > 0 ? 0 : fill(c);
}

int asf__uflow(struct asf_cios *c) {
    if (!asf__ours(c) && asf__avail(c) == 0)
        return asf__bytes(c) ? uflow_of_libc(c) : EOF;
    if (asf__underflow(c) == EOF)
        return EOF;
    return (unsigned char)*c->read_ptr++;
}

int asf__unget(struct asf_cios *c, int ch) {
    int r = asf__is_putting(c) ? asf__to_read(c) : 0;
    if (r < 0)
        return asf__error(c, r);
    r = asf__push_back(c, ch);
    if (r == -ENOMEM && ASF_LIBC(ungetc_one))
        r = asf__push_back_one(c, ch);
    return r < 0 ? EOF : r;
}

size_t asf__get_bytes(struct asf_cios *c, void *p, size_t n) {
    int error;
    if (!asf__stdio_started)
        asf__stdio_start();
    if (c->orientation > 0 || n == 0)
        return 0;
    if (!asf__ours(c))
        return asf__jump(c)->xsgetn(c, p, n);
    if (asf__avail(c) < n) {
        if (!c->ops->fill)
            asf__allocate(c);
        if (c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED) && !(c->flags & ASF_NO_READS))
            asf__show_stdout(c);
    }
    size_t done = asf__take(c, p, n, &error);
    if (c->flags & ASF_NO_READS && done < n)
        asf__bytes(c); /* glibc has it pass the buffer before it is refused */
    if (error)
        asf__error(c, error);
    else if (done < n)
        c->flags |= ASF_EOF;
    return done;
}

/* --- output --------------------------------------------------------------- */

static int flush_now(struct asf_cios *c) {
    int rc = asf__flush_output(c);
    return rc < 0 ? output_error(rc) : 0;
}

int asf__put_char(struct asf_cios *c, int ch) {
    if (!asf__stdio_started)
        asf__stdio_start();
    asf__bytes(c);
    if (!asf__ours(c)) /* glibc: putc writes to a wide stream, too, though nothing else does */
        return asf__jump(c)->overflow(c, ch);
    if (ch == EOF)
        return flush_now(c);
    int r = asf__overflow(c, (unsigned char)ch);
    return r < 0 ? output_error(r) : r;
}

size_t asf__put_bytes(struct asf_cios *c, const void *p, size_t n) {
    int error = 0;
    if (!asf__stdio_started)
        asf__stdio_start();
    if (!asf__bytes(c) || n == 0)
        return 0;
    if (!asf__ours(c))
        return asf__jump(c)->xsputn(c, p, n);
    size_t done = asf__append(c, p, n, &error);
    if (error == 0)
        return done;
    output_error(error);
    return done < n ? done : (size_t)EOF; /* all is in the buffer: glibc says EOF then */
}

/* --- both ------------------------------------------------------------------- */

int asf__flush_stream(struct asf_cios *c) {
    size_t pushed = 0;
    if (!asf__ours(c))
        return asf__jump(c)->sync(c);
    if (c->flags & ASF_IN_BACKUP && ASF_LIBC(fflush_pushed_back)) {
        pushed = asf__avail(c);
        asf__free_backup(c);
    }
    int rc = asf__sync_behind(c, pushed);
    return rc < 0 ? output_error(rc) : 0;
}

off64_t asf__tell_file(struct asf_cios *c) {
    off64_t below, at = asf__tell_from(c, &below);
    return at == -EINVAL && below == 0 && ASF_LIBC(tell_nowhere) ? -ESPIPE : at;
}

static int jump_overflow(struct asf_cios *c, int ch) {
    return ASF_JUMP(c, asf__put_char(c, ch));
}

static int jump_underflow(struct asf_cios *c) {
    return ASF_JUMP(c, asf__underflow(c)) == EOF ? EOF : (unsigned char)*c->read_ptr;
}

static int jump_uflow(struct asf_cios *c) {
    return ASF_JUMP(c, asf__uflow(c));
}

static int jump_pbackfail(struct asf_cios *c, int ch) {
    return ASF_JUMP(c, asf__unget(c, ch));
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
    asf__cios_reset(c); /* libc frees the object */
}

static off64_t jump_seekoff(struct asf_cios *c, off64_t offset, int whence, int mode) {
    off64_t at = ASF_JUMP(c, mode == 0 ? asf__tell_file(c) : asf__seek(c, offset, whence));
    if (!asf__failed(at) && mode != 0)
        c->flags &= ~ASF_EOF;
    if (!asf__failed(at))
        return at;
    asf__set_errno((int)at);
    return -1;
}

static off64_t jump_seekpos(struct asf_cios *c, off64_t offset, int mode) {
    return jump_seekoff(c, offset, SEEK_SET, mode);
}

static int jump_sync(struct asf_cios *c) {
    return ASF_JUMP(c, asf__flush_stream(c));
}

static struct asf_cios *jump_setbuf(struct asf_cios *c, char *p, ssize_t size) {
    if (c->flags & ASF_IN_BACKUP && jump_sync(c) == EOF)
        return NULL;
    int rc = ASF_JUMP(c, asf__set_buffer(c, p, p && size > 0 ? (size_t)size : 0));
    if (rc < 0)
        asf__set_errno(rc);
    return rc < 0 ? NULL : c;
}

int asf__jump_doallocate(struct asf_cios *c) {
    asf__allocate(c);
    return 1;
}

static ssize_t returned(ssize_t r) {
    if (!asf__failed(r))
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
