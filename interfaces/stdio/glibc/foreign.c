/* SPDX-License-Identifier: MIT
 *
 * foreign.c - calls on a FILE that glibc made, and on a wide stream of ours, by its table, as glibc's own
 * code makes them.
 */
#include "interfaces/stdio/stdio_cios.h"

extern void _IO_flockfile(FILE *);
extern void _IO_funlockfile(FILE *);
extern int _IO_ftrylockfile(FILE *);
extern int _IO_setvbuf(FILE *, char *, int, size_t);
extern int _IO_fclose(FILE *);
extern off64_t _IO_seekoff(FILE *, off64_t, int, int);
extern int __underflow(FILE *);

void asf__other_lock(struct asf_cios *c) {
    _IO_flockfile(asf__file(c));
}

void asf__other_unlock(struct asf_cios *c) {
    _IO_funlockfile(asf__file(c));
}

int asf__other_trylock(struct asf_cios *c) {
    return _IO_ftrylockfile(asf__file(c));
}

size_t asf__other_get(struct asf_cios *c, void *p, size_t n) {
    return asf__jump(c)->xsgetn(c, p, n);
}

size_t asf__other_put(struct asf_cios *c, const void *p, size_t n) {
    return asf__jump(c)->xsputn(c, p, n);
}

int asf__other_put_char(struct asf_cios *c, int ch) {
    return asf__jump(c)->overflow(c, ch);
}

int asf__other_unget(struct asf_cios *c, int ch) {
    return asf__jump(c)->pbackfail(c, ch);
}

int asf__other_sync(struct asf_cios *c) {
    return asf__jump(c)->sync(c);
}

bool asf__other_set_buffer(struct asf_cios *c, char *p, size_t size) {
    return asf__jump(c)->setbuf(c, p, (ssize_t)size) != NULL;
}

off64_t asf__other_seek(struct asf_cios *c, off64_t offset, int whence) {
    enum { BOTH = 3 }; /* glibc's _IOS_INPUT | _IOS_OUTPUT */
    return _IO_seekoff(asf__file(c), offset, whence, BOTH);
}

int asf__other_setvbuf(struct asf_cios *c, char *buf, int mode, size_t size) {
    return _IO_setvbuf(asf__file(c), buf, mode, size);
}

int asf__other_close(struct asf_cios *c) {
    return _IO_fclose(asf__file(c));
}

/* --- glibc's functions that a static program cannot reach, since this library defines their names ---------
 */

#ifdef ASF_STATIC
int asf__other_underflow(struct asf_cios *c) {
    return asf__jump(c)->underflow(c);
}

off64_t asf__other_tell(struct asf_cios *c) {
    return _IO_seekoff(asf__file(c), 0, SEEK_CUR, 0);
}

FILE *asf__other_reopen(const char *path, const char *mode, struct asf_cios *c) {
    (void)path, (void)mode, (void)c;
    errno = EBADF;
    return NULL;
}
#else
/* glibc's __underflow drops the backup before it calls the table, as the table's function expects. */
int asf__other_underflow(struct asf_cios *c) {
    return ASF_NEXT(__underflow)(asf__file(c));
}

off64_t asf__other_tell(struct asf_cios *c) {
    return asf__is_own_object(c) ? _IO_seekoff(asf__file(c), 0, SEEK_CUR, 0) : ASF_NEXT(ftello)(asf__file(c));
}

FILE *asf__other_reopen(const char *path, const char *mode, struct asf_cios *c) {
    return ASF_NEXT(freopen)(path, mode, asf__file(c));
}
#endif
