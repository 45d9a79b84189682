/* SPDX-License-Identifier: MIT
 *
 * asi.c - the Alloc Stream Interface: the backplane's own calls under the
 * paper's names, with the stream locked around them.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "backplane/backplane.h"
#include "backplane/pipe_ring.h"
#include "lib/sys/syscalls.h"

static struct asf_cios *opened(struct asf_cios *c, int flags, int *error) {
    if (error)
        *error = c ? 0 : -ENOMEM;
    if (!c)
        return NULL;
    c->own = true;
    asf__join(c);
    if (flags & O_APPEND)
        c->flags |= ASF_APPENDING;
    asf__cios_link(c);
    return c;
}

static bool has_access(int flags) {
    return (flags & O_ACCMODE) != O_ACCMODE;
}

struct asf_cios *asf_sopen_fd(int fd, int flags, int *error) {
    struct stat64 st;
    int rc = has_access(flags) ? asf__sys.fstat(fd, &st) : -EINVAL;
    if (rc < 0) {
        if (error)
            *error = rc;
        return NULL;
    }
    return opened(asf__cios_new(&asf__first_use, fd, flags), flags, error);
}

struct asf_cios *asf_sopen(const char *filename, int flags, mode_t mode, int *error) {
    /* Told before the file is created or emptied.  Neither buffers nor the ends
     * of files lie as O_DIRECT wants them. */
    bool refused = !has_access(flags) || flags & O_DIRECT;
    int fd = refused ? -EINVAL : asf__sys.open(filename, flags, mode);
    if (fd < 0) {
        if (error)
            *error = fd;
        return NULL;
    }
    if (asf__rings())
        asf__pipe_opened(fd);
    struct asf_cios *c = asf_sopen_fd(fd, flags, error);
    if (!c) {
        asf__sys.close(fd);
        return NULL;
    }
    if (!(flags & O_APPEND))
        c->offset = 0;
    asf__set_name(c, filename);
    return c;
}

static bool acceptable(const struct asf_stream_ops *ops, int flags) {
    int access = flags & O_ACCMODE;
    return ops && ops->size == sizeof *ops && ops->version == ASF_STREAM_VERSION && ops->name &&
           has_access(flags) && !ops->fill && !ops->drain && (access == O_WRONLY || ops->get) &&
           (access == O_RDONLY || ops->put);
}

struct asf_cios *asf_sopen_with(const struct asf_stream_ops *ops, void *data, int flags, int *error) {
    struct asf_cios *c = NULL;
    if (error)
        *error = -EINVAL;
    if (!acceptable(ops, flags))
        return NULL;
    c = asf__open_module(ops, data, flags & O_ACCMODE);
    if (!c)
        return opened(NULL, flags, error);
    c->why = "the program's own module";
    return opened(c, flags, error);
}

void *asf_stream_data(struct asf_cios *c) {
    return c->data;
}

int asf_sclose(struct asf_cios *c) {
    asf__lock(&c->lk);
    if (asf__has_regions(c)) {
        asf__unlock(&c->lk);
        return -EBUSY;
    }
    int rc = asf__cios_close(c);
    asf__unlock(&c->lk); /* fflush(NULL) may wait for it */
    asf__cios_free(c);
    return rc == -EBUSY ? -EIO : rc; /* a module's own: the stream is gone */
}

void *asf_u_salloc(struct asf_cios *c, ssize_t *length) {
    return asf__u_salloc(c, length, false);
}

void *asf_u_salloc_some(struct asf_cios *c, ssize_t *length) {
    if (!asf__is_putting(c) && *length > 0) {
        size_t avail = asf__avail(c);
        if (avail > 0 && (size_t)*length > avail)
            *length = (ssize_t)avail;
    }
    return asf__u_salloc(c, length, true);
}

int asf_u_sfree(struct asf_cios *c, void *ptr) {
    return asf__u_sfree(c, ptr);
}

/* Take the latest region back and allocate it anew with the other length. */
static void *regrow_input(struct asf_cios *c, char *p, ssize_t *newlen) {
    size_t old = c->last_len;
    c->read_ptr = p;
    c->in->refs--;
    void *q = asf__u_salloc(c, newlen, false);
    if (q)
        return q;
    c->read_ptr = p + old;
    c->in->refs++;
    return NULL;
}

static void *regrow_output(struct asf_cios *c, char *p, ssize_t *newlen) {
    size_t old = c->last_len;
    if ((size_t)(c->buf_end - p) >= (size_t)*newlen) {
        c->write_ptr = p + *newlen;
        asf__note_region(c, p, (size_t)*newlen);
        return p;
    }
    char *kept = malloc(old);
    if (!kept)
        return asf__no_region(newlen, -ENOMEM);
    memcpy(kept, p, old);
    c->write_ptr = p;
    c->out->refs--;
    char *q = asf__u_salloc(c, newlen, false);
    if (q) {
        memcpy(q, kept, old);
    } else if (c->out && c->write_ptr == p) { /* nothing has moved: the region stays */
        c->write_ptr = p + old;
        c->out->refs++;
        if (c->buf_end < c->write_ptr) /* the buffer has stopped growing */
            c->buf_end = c->write_ptr;
    }
    free(kept);
    return q;
}

void *asf_u_srealloc(struct asf_cios *c, void *ptr, ssize_t *newlen) {
    char *p = ptr;
    bool input = asf__within(c->in, p) && p + c->last_len == c->read_ptr;
    bool output = asf__within(c->out, p) && p + c->last_len == c->write_ptr;
    if (*newlen < 0)
        return asf__no_region(newlen, -EINVAL);
    if (!p || p != c->last || c->flags & ASF_IN_BACKUP || (!input && !output))
        return asf__no_region(newlen, -EBUSY);
    size_t n = (size_t)*newlen;
    if (input && c->read_base > p) /* a piece, whose bytes are there now */
        c->buf_base = c->read_base = p;
    if (n > c->last_len)
        return input ? regrow_input(c, p, newlen) : regrow_output(c, p, newlen);
    if (input)
        c->read_ptr = p + n;
    else
        c->write_ptr = p + n;
    asf__note_region(c, p, n);
    return p;
}

void *asf_u_sallocAt(struct asf_cios *c, ssize_t *length, off64_t offset, int whence) {
    bool writes = asf__is_putting(c); /* which a seek would end */
    off64_t at = asf__seek(c, offset, whence);
    if (at >= 0 && writes)
        at = asf__to_write(c);
    return at < 0 ? asf__no_region(length, at) : asf__u_salloc(c, length, false);
}

int asf_u_sflush(struct asf_cios *c) {
    return asf__flush(c);
}

static int set_mode(struct asf_cios *c, enum asf_mode mode) {
    asf__choose(c);
    return mode == ASF_READ ? asf__to_read(c) : asf__to_write(c);
}

struct asf_cios *asf_u_set_stream_mode(struct asf_cios *c, enum asf_mode mode) {
    return set_mode(c, mode) == 0 ? c : NULL;
}

void *asf_u_Salloc(struct asf_cios *c, enum asf_mode mode, ssize_t *length) {
    int rc = set_mode(c, mode);
    return rc < 0 ? asf__no_region(length, rc) : asf__u_salloc(c, length, false);
}

void *asf_u_SallocAt(struct asf_cios *c, enum asf_mode mode, ssize_t *length, off64_t offset, int whence) {
    off64_t at = asf__seek(c, offset, whence);
    return at < 0 ? asf__no_region(length, at) : asf_u_Salloc(c, mode, length);
}

/* The locked forms are the unlocked ones with the lock held around them. */
#define LOCKED(type, name, params, call)                                                                     \
    type asf_##name params {                                                                                 \
        asf__lock(&c->lk);                                                                                   \
        type result = call;                                                                                  \
        asf__unlock(&c->lk);                                                                                 \
        return result;                                                                                       \
    }

LOCKED(void *, salloc, (struct asf_cios * c, ssize_t *length), asf_u_salloc(c, length))
LOCKED(int, sfree, (struct asf_cios * c, void *ptr), asf_u_sfree(c, ptr))
LOCKED(void *, srealloc, (struct asf_cios * c, void *ptr, ssize_t *newlen), asf_u_srealloc(c, ptr, newlen))
LOCKED(void *, sallocAt, (struct asf_cios * c, ssize_t *length, off64_t offset, int whence),
       asf_u_sallocAt(c, length, offset, whence))
LOCKED(int, sflush, (struct asf_cios * c), asf_u_sflush(c))
LOCKED(struct asf_cios *, set_stream_mode, (struct asf_cios * c, enum asf_mode mode),
       asf_u_set_stream_mode(c, mode))
LOCKED(void *, Salloc, (struct asf_cios * c, enum asf_mode mode, ssize_t *length),
       asf_u_Salloc(c, mode, length))
LOCKED(void *, SallocAt,
       (struct asf_cios * c, enum asf_mode mode, ssize_t *length, off64_t offset, int whence),
       asf_u_SallocAt(c, mode, length, offset, whence))

/* Threads that share a file read their regions at once. */
void *asf_salloc_some(struct asf_cios *c, ssize_t *length) {
    struct asf_piece piece;
    asf__lock(&c->lk);
    bool taken = *length > 0 && asf__take_piece(c, (size_t)*length, &piece);
    void *region = taken ? NULL : asf_u_salloc_some(c, length);
    asf__unlock(&c->lk);
    return taken ? asf__read_piece(c, &piece, length) : region;
}

void asf_lockAsfStream(struct asf_cios *c) {
    asf__lock(&c->lk);
}

void asf_unlockAsfStream(struct asf_cios *c) {
    asf__unlock(&c->lk);
}

int asf_fileno(struct asf_cios *c) {
    return c->fd >= 0 ? c->fd : -EBADF;
}

struct asf_cios *asf_stream(FILE *file) {
    struct asf_cios *c = (struct asf_cios *)(void *)file;
    if (!asf__vtable || c->vtable != asf__vtable)
        return NULL;
    asf__join(c);
    return c;
}

FILE *asf_file(struct asf_cios *c) {
    return (FILE *)(void *)c;
}

const char *asf_module_name(struct asf_cios *c) {
    return c->ops->name;
}

const char *asf_module_why(struct asf_cios *c) {
    return c->why;
}
