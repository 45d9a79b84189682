/* SPDX-License-Identifier: MIT
 *
 * state.c - a stream's flags, buffering and lock: fflush, setvbuf, feof,
 * <stdio_ext.h>, flockfile.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <stdio_ext.h>

#include "backplane/backplane.h"

int asf__flush_stream(struct asf_cios *c) {
    size_t pushed = 0;
    if (!asf__ours(c))
        return asf__other_sync(c);
    if (c->flags & ASF_IN_BACKUP && ASF_LIBC(fflush_pushed_back)) {
        pushed = asf__avail(c);
        asf__free_backup(c);
    }
    int rc = asf__whole(asf__sync(c, pushed));
    return rc < 0 ? asf__output_error(rc) : 0;
}

EXPORT int fflush_unlocked(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (!f)
        return asf__flush_all();
    asf__count(c);
    return ASF_UNLOCKED(c, asf__flush_stream(c)) == 0 ? 0 : EOF;
}

EXPORT int fflush(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (!f)
        return asf__flush_all();
    asf__enter(c);
    asf__count(c);
    int r = asf__flush_stream(c) == 0 ? 0 : EOF;
    if (asf__is_own_object(c) && !asf__is_putting(c))
        asf__share_offset(c); /* the offset is set back: another descriptor may move it now */
    asf__leave(c);
    return r;
}

static bool flush_line(struct asf_cios *c, void *unused) {
    (void)unused;
    if (!(c->flags & ASF_LINE_BUF) || !asf__is_putting(c) || !asf__trylock(&c->lk))
        return true;
    c->use = ASF_LOCKED;
    if (asf__ours_wide(c))
        asf__wide_flush(c);
    else
        asf__flush_output(c);
    asf__end_call(c);
    return true;
}

EXPORT void _flushlbf(void) {
    asf__each(flush_line, NULL);
}

/* --- setvbuf ------------------------------------------------------------------ */

/* Allocates the buffer now, since on a terminal a later allocation would make the stream line buffered again.
 * The stream has no windows yet, as it neither reads nor writes; it may have bytes that ungetc pushed back.
 */
static void allocate_early(struct asf_cios *c) {
    if (!c->buffer) {
        if (asf__ours_wide(c))
            asf__wide_prepare(c);
        asf__allocate(c);
        if (!(c->flags & ASF_IN_BACKUP))
            asf__set_read(c, NULL, NULL, NULL);
        asf__set_write(c, NULL);
    }
    c->flags &= ~ASF_LINE_BUF;
}

bool asf__replace_buffer(struct asf_cios *c, char *p, size_t size) {
    if (!asf__ours(c))
        return asf__other_set_buffer(c, p, size);
    if (c->flags & ASF_IN_BACKUP && asf__flush_stream(c) == EOF)
        return false;
    int rc = asf__set_buffer(c, p, size);
    if (rc < 0)
        asf__set_errno(rc);
    return rc >= 0;
}

static int set_buffering(struct asf_cios *c, char *buf, int mode, size_t size) {
    switch (mode) {
    case _IOFBF:
        c->flags &= ~(ASF_LINE_BUF | ASF_UNBUFFERED);
        if (!buf) {
            allocate_early(c);
            return 0;
        }
        break;
    case _IOLBF:
        c->flags &= ~ASF_UNBUFFERED;
        c->flags |= ASF_LINE_BUF;
        if (asf__is_putting(c) && c->orientation <= 0)
            asf__show_room(c); /* the window then shows no room: each newline must reach __overflow */
        if (!buf)
            return 0;
        break;
    case _IONBF: /* the flags stay changed even if the flush fails */
        c->flags &= ~ASF_LINE_BUF;
        c->flags |= ASF_UNBUFFERED;
        buf = NULL;
        break;
    default:
        errno = EINVAL;
        return EOF;
    }
    return asf__replace_buffer(c, buf, buf ? size : 0) ? 0 : EOF;
}

EXPORT int setvbuf(FILE *f, char *buf, int mode, size_t size) {
    struct asf_cios *c = asf__cios(f);
    if (!asf__is_own_object(c))
        return asf__other_setvbuf(c, buf, mode, size);
    if (ASF_LIBC(keeps_bytes_for_ungetc) && buf) {
        enum { UNGETC_BYTES = 8 };
        mode = size == UNGETC_BYTES ? _IONBF : mode;
        buf = size > UNGETC_BYTES ? buf + UNGETC_BYTES : NULL;
        size -= UNGETC_BYTES;
    }
    asf__enter(c);
    c->flags2 &= ~ASF_LINES_AT_FIRST;
    asf__end_bulk(c);
    int r = set_buffering(c, buf, mode, size);
    asf__leave(c);
    return r;
}

EXPORT void setbuffer(FILE *f, char *buf, size_t size) {
    setvbuf(f, buf, buf ? _IOFBF : _IONBF, size);
}

EXPORT void setbuf(FILE *f, char *buf) {
    setbuffer(f, buf, BUFSIZ);
}

EXPORT void setlinebuf(FILE *f) {
    setvbuf(f, NULL, _IOLBF, 0);
}

/* --- flags ---------------------------------------------------------------------- */

EXPORT int feof_unlocked(FILE *f) {
    return (asf__cios(f)->flags & ASF_EOF) != 0;
}

EXPORT int ferror_unlocked(FILE *f) {
    return (asf__cios(f)->flags & ASF_ERR) != 0;
}

static void clear_flags(struct asf_cios *c) {
    c->flags &= ~(ASF_EOF | ASF_ERR);
}

EXPORT void clearerr_unlocked(FILE *f) {
    clear_flags(asf__cios(f));
}

/* Takes no lock: another thread may wait for input with the stream locked. */
ASF_RACY static int get_descriptor(struct asf_cios *c) {
    if (asf__is_own_object(c)) {
        asf__share_offset(c);
        asf__publish_streams(c->fd);
    }
    if (c->fd >= 0 && c->flags & ASF_FILEBUF) /* in libc's wide memory streams the descriptor is 0 */
        return c->fd;
    errno = EBADF;
    return -1;
}

EXPORT int fileno_unlocked(FILE *f) {
    return get_descriptor(asf__cios(f));
}

/* In a multithreaded process feof and ferror wait for another thread's call, as libc's do. */
static __attribute__((noinline)) int flag_with_lock(struct asf_cios *c, int flag) {
    asf__enter(c);
    int set = (c->flags & flag) != 0;
    asf__leave(c);
    return set;
}

static inline int flag_of(FILE *f, int flag) {
    struct asf_cios *c = asf__cios(f);
    return asf__likely(__libc_single_threaded) ? (c->flags & flag) != 0 : flag_with_lock(c, flag);
}

EXPORT int feof(FILE *f) {
    return flag_of(f, ASF_EOF);
}

EXPORT int ferror(FILE *f) {
    return flag_of(f, ASF_ERR);
}

EXPORT void clearerr(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    asf__enter(c);
    clear_flags(c);
    asf__leave(c);
}

int fileno(FILE *) ALIAS(fileno_unlocked);
GLIBC_NAME(int _IO_feof(FILE *), feof)
GLIBC_NAME(int _IO_ferror(FILE *), ferror)

/* --- <stdio_ext.h> ---------------------------------------------------------------- */

EXPORT size_t __fbufsize(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__is_wide(c))
        return asf__wide_buffer_size(c); /* in characters, as glibc */
    if (ASF_LIBC(tells_buffer_early) && (c->flags & ASF_UNBUFFERED || !c->buffer))
        return c->flags & ASF_UNBUFFERED ? 0 : c->block;
    return asf__ours(c) && c->bulk.own ? c->block : (size_t)(c->buf_end - c->buf_base);
}

EXPORT int __freading(FILE *f) {
    const struct asf_cios *c = asf__cios(f);
    return c->flags & ASF_NO_WRITES || (!(c->flags & (ASF_PUTTING | ASF_NO_READS)) && c->read_base != NULL);
}

EXPORT int __fwriting(FILE *f) {
    return asf__cios(f)->flags & (ASF_NO_READS | ASF_PUTTING);
}

EXPORT int __freadable(FILE *f) {
    return !(asf__cios(f)->flags & ASF_NO_READS);
}

EXPORT int __fwritable(FILE *f) {
    return !(asf__cios(f)->flags & ASF_NO_WRITES);
}

EXPORT int __flbf(FILE *f) {
    return (asf__cios(f)->flags & ASF_LINE_BUF) != 0;
}

EXPORT size_t __fpending(FILE *f) {
    const struct asf_cios *c = asf__cios(f);
    return asf__is_wide(c) ? asf__wide_pending(c) : (size_t)(c->write_ptr - c->write_base);
}

void asf__purge(struct asf_cios *c) {
    if (asf__is_wide(c)) {
        asf__wide_purge(c);
        return;
    }
    const bool ours = asf__ours(c);
    if (ours)
        asf__end_bulk(c);
    if (c->flags & ASF_IN_BACKUP && ours)
        asf__free_backup(c);
    if (ours && c->bulk.own && !asf__is_putting(c)) /* keep the bytes that libc would not have read yet */
        c->read_ptr = asf__own_end(c);
    else
        c->read_end = c->read_ptr;
    c->write_ptr = c->write_base;
}

EXPORT int __fsetlocking(FILE *f, int type) {
    struct asf_cios *c = asf__cios(f);
    if (!ASF_LIBC(caller_locks))
        return 0;
    int was = c->flags & ASF_USER_LOCK ? FSETLOCKING_BYCALLER : FSETLOCKING_INTERNAL;
    if (type == FSETLOCKING_BYCALLER)
        c->flags |= ASF_USER_LOCK;
    else if (type == FSETLOCKING_INTERNAL)
        c->flags &= ~ASF_USER_LOCK;
    return was;
}

/* --- the lock ---------------------------------------------------------------------- */

/* Takes the lock in the form that libc's code knows: the program may call libc's own code with it locked. */
EXPORT void flockfile(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (!asf__is_own_object(c)) {
        asf__other_lock(c);
        return;
    }
    if (!__libc_single_threaded)
        asf__unbias(&c->lk);
    asf__lock(&c->lk);
}

EXPORT void funlockfile(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__is_own_object(c))
        asf__unlock(&c->lk);
    else
        asf__other_unlock(c);
}

EXPORT int ftrylockfile(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__is_own_object(c))
        return asf__trylock(&c->lk) ? 0 : EBUSY;
    return asf__other_trylock(c);
}
