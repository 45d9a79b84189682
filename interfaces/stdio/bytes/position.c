/* SPDX-License-Identifier: MIT
 *
 * position.c - fseek, ftell, fgetpos, rewind.
 */
#include "interfaces/stdio/stdio_cios.h"

static inline int seek_locked(struct asf_cios *c, off64_t offset, int whence) {
    if (!asf__ours(c))
        return asf__other_seek(c, offset, whence) == -1 ? -1 : 0;
    off64_t at = asf__seek(c, offset, whence);
    c->stats.calls++;
    if (!asf__failed(at)) {
        c->flags &= ~ASF_EOF;
        return 0;
    }
    asf__set_errno((int)at);
    return -1;
}

EXPORT int fseeko(FILE *f, off_t offset, int whence) {
    struct asf_cios *c = asf__cios(f);
    if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) {
        errno = EINVAL;
        return -1;
    }
    asf__enter(c);
    int r = seek_locked(c, offset, whence);
    asf__leave(c);
    return r;
}

int fseek(FILE *, long, int) ALIAS(fseeko);
GLIBC_NAME(int fseeko64(FILE *, off64_t, int), fseeko)

off64_t asf__tell_file(struct asf_cios *c) {
    off64_t below, at = asf__tell_from(c, &below);
    return at == -EINVAL && below == 0 && ASF_LIBC(tell_nowhere) ? -ESPIPE : at;
}

EXPORT off_t ftello(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    asf__enter(c);
    asf__count(c);
    off64_t at = asf__ours(c) ? asf__tell_file(c) : asf__other_tell(c);
    if (at >= 0 && asf__ours(c) && c->flags & ASF_IN_BACKUP) {
        at -= c->save_end - c->save_base;
        errno = at == -1 ? EIO : errno; /* glibc returns other negative offsets as they are */
        asf__leave(c);
        return at;
    }
    asf__leave(c);
    if (at >= 0)
        return at;
    if (asf__ours(c))
        asf__set_errno((int)at);
    if (errno == 0)
        errno = EIO;
    return -1;
}

long ftell(FILE *) ALIAS(ftello);
GLIBC_NAME(off64_t ftello64(FILE *), ftello)

EXPORT void rewind(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    asf__enter(c);
    seek_locked(c, 0, SEEK_SET);
    c->flags &= ~(ASF_ERR | ASF_EOF);
    asf__leave(c);
}

/* Whether it is a wide stream in an encoding with shift states. */
static bool has_shift_states(const struct asf_cios *c) {
    return asf__ours_wide(c) && asf__wide_width(c) < 0;
}

EXPORT int fgetpos(FILE *f, fpos_t *pos) {
    off_t at = ftello(f);
    if (at == -1) {
        if (errno == 0)
            errno = EIO;
        return -1;
    }
    asf__set_offset_in(pos, at);
    if (has_shift_states(asf__cios(f)))
        *asf__state_in(pos) = *asf__wide_state(asf__cios(f));
    return 0;
}

/* Drops pushed-back bytes before the seek.  fseek does so only on a byte stream. */
EXPORT int fsetpos(FILE *f, const fpos_t *pos) {
    struct asf_cios *c = asf__cios(f);
    asf__enter(c);
    if (asf__ours(c))
        asf__free_backup(c);
    int r = seek_locked(c, asf__offset_in(pos), SEEK_SET);
    if (r == 0 && has_shift_states(c))
        *asf__wide_state(c) = *asf__state_in((fpos_t *)(uintptr_t)pos);
    asf__leave(c);
    if (r < 0 && errno == 0)
        errno = EIO;
    return r;
}

GLIBC_NAME(int fgetpos64(FILE *, fpos64_t *), fgetpos)
GLIBC_NAME(int fsetpos64(FILE *, const fpos64_t *), fsetpos)
