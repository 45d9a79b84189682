/* SPDX-License-Identifier: MIT
 *
 * state.c - a stream's flags, buffering and lock: fflush, setvbuf, feof,
 * <stdio_ext.h>, flockfile.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/wide/wide.h"

#include <stdio_ext.h>

#include "lib/sys/guard.h"

extern int _IO_setvbuf(FILE *, char *, int, size_t);

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
    if (asf__alone() && asf__ours(c) && asf__is_putting(c) && asf__nothing_to_put(c)) {
        c->written = c->exact = 0;
        asf__forget_place(c);
        return 0;
    }
    asf__enter(c);
    asf__count(c);
    int r = asf__flush_stream(c) == 0 ? 0 : EOF;
    asf__leave(c);
    return r;
}

ASF_RACY static bool has_lines(const struct asf_cios *c) {
    return c->flags & ASF_LINE_BUF && asf__is_putting(c);
}

static void flush_lines(void *walk) {
    struct asf_cios *c;
    while ((c = asf__walk_on(walk, has_lines))) {
        if (!asf__trylock(&c->lk))
            continue;
        if (c->listed && asf__ours_wide(c))
            asf__wide_flush(c);
        else if (c->listed)
            asf__flush_output(c);
        asf__unlock(&c->lk);
    }
}

EXPORT void _flushlbf(void) {
    struct asf_walk w;
    asf__walk_begin(&w);
    asf__guarded(flush_lines, &w, asf__walk_end, &w);
    asf__walk_end(&w);
}

/* --- setvbuf ------------------------------------------------------------------ */

static bool room_is_exposed(const struct asf_cios *c) {
    return c->late_line || !(c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED) || c->unprimed);
}

/* In the middle of output glibc changes the mode and not the room that putc
 * sees, until the next flush. */
static void keep_room(struct asf_cios *c, bool exposed) {
    bool lines = c->flags & ASF_LINE_BUF;
    asf__stop_growing(c);
    c->late_line = lines && exposed;
    c->unprimed = !lines && !exposed;
    c->write_end = lines || !exposed ? c->write_base : c->buf_end;
}

static int set_mode(struct asf_cios *c, char *buf, int mode, size_t size) {
    bool exposed = room_is_exposed(c);
    switch (mode) {
    case _IOFBF:
        if (!buf) {
            /* Chosen now, or a terminal would make it line buffered again. */
            c->flags &= ~(ASF_LINE_BUF | ASF_UNBUFFERED);
            asf__choose(c);
            size = SIZE_MAX;
        }
        c->flags &= ~(ASF_LINE_BUF | ASF_UNBUFFERED);
        break;
    case _IOLBF:
        c->flags &= ~ASF_UNBUFFERED;
        c->flags |= ASF_LINE_BUF;
        size = buf ? size : SIZE_MAX;
        break;
    case _IONBF: /* so, even if the flush then fails */
        c->flags &= ~ASF_LINE_BUF;
        c->flags |= ASF_UNBUFFERED;
        size = 0;
        break;
    default:
        errno = EINVAL;
        return EOF;
    }
    if (size != SIZE_MAX)
        return asf__set_buffer(c, size);
    if (asf__is_putting(c) && !c->resident)
        keep_room(c, exposed);
    return 0;
}

EXPORT int setvbuf(FILE *f, char *buf, int mode, size_t size) {
    struct asf_cios *c = asf__cios(f);
    if (!asf__ours(c))
        return _IO_setvbuf(f, buf, mode, size);
    asf__enter(c);
    int r = set_mode(c, buf, mode, size);
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

EXPORT int fileno_unlocked(FILE *f) {
    const struct asf_cios *c = asf__cios(f);
    if (c->fd >= 0 && c->flags & ASF_FILEBUF) /* libc's wide memory streams say 0 */
        return c->fd;
    errno = EBADF;
    return -1;
}

/* Beside other threads they wait for who reads, as libc's. */
static inline int flag_of(FILE *f, int flag) {
    struct asf_cios *c = asf__cios(f);
    if (asf__likely(__libc_single_threaded))
        return (c->flags & flag) != 0;
    asf__enter(c);
    int set = (c->flags & flag) != 0;
    asf__leave(c);
    return set;
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
int _IO_feof(FILE *) ALIAS(feof);
int _IO_ferror(FILE *) ALIAS(ferror);

/* --- <stdio_ext.h> ---------------------------------------------------------------- */

EXPORT size_t __fbufsize(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (c->orientation > 0) {
        const struct asf_wide *w = c->wide_data;
        return (size_t)(w->buf_end - w->buf_base); /* in characters, as glibc */
    }
    if (asf__ours(c))
        return c->user_size ? c->user_size : c->chosen ? c->block : 0;
    return (size_t)(c->buf_end - c->buf_base);
}

/* Blocks were read past libc's buffer, which is one of output as before. */
static bool still_writes(const struct asf_cios *c) {
    return asf__ours(c) && c->outlived;
}

EXPORT int __freading(FILE *f) {
    const struct asf_cios *c = asf__cios(f);
    return c->flags & ASF_NO_WRITES || (asf__ours(c) && c->resident) ||
           (!(c->flags & (ASF_PUTTING | ASF_NO_READS)) && c->read_base != NULL && !still_writes(c));
}

EXPORT int __fwriting(FILE *f) {
    const struct asf_cios *c = asf__cios(f);
    if (asf__ours(c) && c->resident)
        return 0;
    int writing = c->flags & (ASF_NO_READS | ASF_PUTTING);
    return still_writes(c) ? writing | ASF_PUTTING : writing;
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
    if (c->orientation > 0) {
        const struct asf_wide *w = c->wide_data;
        return (size_t)(w->write_ptr - w->write_base);
    }
    return asf__ours(c) && c->grown ? asf__libc_pending(c) : (size_t)(c->write_ptr - c->write_base);
}

EXPORT void __fpurge(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    bool ours = c->flags2 & ASF_OURS;
    if (ours && (c->grown || !asf__is_putting(c)))
        asf__settle_stream(c);
    if (c->flags & ASF_IN_BACKUP && ours)
        asf__free_backup(c);
    if (c->orientation > 0) {
        struct asf_wide *w = c->wide_data;
        w->read_end = w->read_ptr;
        w->write_ptr = w->write_base;
        return;
    }
    if (asf__ours(c) && !asf__is_putting(c) && c->offset >= 0)
        asf__libc_purged(c);
    c->read_end = c->read_ptr;
    c->write_ptr = c->write_base;
    if (ours) {
        c->written = c->indent;
        c->exact = 0;
    }
}

EXPORT int __fsetlocking(FILE *f, int type) {
    struct asf_cios *c = asf__cios(f);
    int was = c->flags & ASF_USER_LOCK ? FSETLOCKING_BYCALLER : FSETLOCKING_INTERNAL;
    if (type == FSETLOCKING_BYCALLER)
        c->flags |= ASF_USER_LOCK;
    else if (type == FSETLOCKING_INTERNAL)
        c->flags &= ~ASF_USER_LOCK;
    return was;
}

/* --- the lock ---------------------------------------------------------------------- */

extern int _IO_ftrylockfile(FILE *);

EXPORT void flockfile(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (c->flags2 & ASF_OURS)
        asf__lock(&c->lk);
    else
        _IO_flockfile(f);
}

EXPORT void funlockfile(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (c->flags2 & ASF_OURS)
        asf__unlock(&c->lk);
    else
        _IO_funlockfile(f);
}

EXPORT int ftrylockfile(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (c->flags2 & ASF_OURS)
        return asf__trylock(&c->lk) ? 0 : EBUSY;
    return _IO_ftrylockfile(f);
}
