/* SPDX-License-Identifier: MIT
 *
 * asi.c - the Alloc Stream Interface: the backplane's own calls under the
 * paper's names, with the stream locked around them.
 * Layer: interfaces.  May include: backplane, lib, include/asf, streams/streams.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "backplane/check.h"
#include "backplane/hooks.h"
#include "backplane/regions.h"
#include "backplane/report.h"
#include "lib/sys/syscalls.h"
#include "streams/streams.h"

static struct asf_cios *opened(struct asf_cios *c, int flags, int *error) {
    if (error)
        *error = c ? 0 : -ENOMEM;
    if (!c)
        return NULL;
    if (flags & O_APPEND)
        c->flags |= ASF_APPENDING;
    asf__cios_link(c);
    asf__join(c);
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
    return opened(asf__cios_new(&asf__for_asi, fd, flags), flags, error);
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
    struct asf_cios *c = asf_sopen_fd(fd, flags, error);
    if (!c) {
        asf__sys.close(fd);
        return NULL;
    }
    c->exclusive = true;
    if (!(flags & O_APPEND))
        c->offset = c->place = 0;
    asf__set_name(c, filename);
    return c;
}

static bool acceptable(const struct asf_stream_ops *ops, int flags) {
    int access = flags & O_ACCMODE;
    return ops && ops->size == sizeof *ops && ops->version == ASF_STREAM_VERSION && ops->name &&
           has_access(flags) &&
           !(ops->fill || ops->drain || ops->flushed || ops->attach || ops->trim || ops->lost) &&
           (access == O_WRONLY || ops->get) && (access == O_RDONLY || ops->put) &&
           (ops->seek || !ops->length);
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
    int rc = asf__cios_close(c);
    if (rc == ASF_HAS_REGIONS)
        return -EBUSY;
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

/* The region given back and allocated anew with the other length; where that fails it is
 * taken again, if the buffer is still there. */
static void *regrow_input(struct asf_cios *c, char *p, ssize_t *newlen) {
    size_t old = c->last_length;
    c->read_ptr = p;
    c->buffer->refs--;
    void *q = asf__u_salloc(c, newlen, false);
    if (!q && asf__within(c->buffer, p)) {
        c->read_ptr = p + old;
        c->buffer->refs++;
    }
    return q;
}

static void *regrow_output(struct asf_cios *c, char *p, ssize_t *newlen) {
    size_t old = c->last_length;
    char *kept = malloc(old);
    if (!kept)
        return asf__no_region(newlen, -ENOMEM);
    memcpy(kept, p, old);
    c->write_ptr = p;
    c->buffer->refs--;
    char *q = asf__u_salloc(c, newlen, false);
    if (q) {
        memcpy(q, kept, old);
    } else if (c->buffer && c->write_ptr == p) { /* nothing has moved: the region stays */
        c->write_ptr = p + old;
        c->buffer->refs++;
    }
    free(kept);
    return q;
}

/* Within the window. */
static void *resize(struct asf_cios *c, char *p, size_t n) {
    if (asf__is_putting(c)) {
        c->write_ptr = p + n;
        asf__show_room(c);
    } else {
        c->read_ptr = p + n;
    }
    c->last_length = n;
    if (c->buffer->lengths)
        c->buffer->lengths->of[(c->buffer->lengths->count - 1) % 32].n = n;
    return p;
}

void *asf_u_srealloc(struct asf_cios *c, void *ptr, ssize_t *newlen) {
    char *p = ptr;
    bool putting = asf__is_putting(c);
    const char *next = putting ? c->write_ptr : c->read_ptr, *end = putting ? c->buf_end : c->read_end;
    if (*newlen < 0)
        return asf__no_region(newlen, -EINVAL);
    if (!p || p != c->last || c->flags & ASF_IN_BACKUP || !asf__within(c->buffer, p) ||
        p + c->last_length != next)
        return asf__no_region(newlen, -EBUSY);
    size_t n = (size_t)*newlen;
    if (n <= c->last_length || (end > p && n <= (size_t)(end - p)))
        return resize(c, p, n);
    return putting ? regrow_output(c, p, newlen) : regrow_input(c, p, newlen);
}

void *asf_u_sallocAt(struct asf_cios *c, ssize_t *length, off64_t offset, int whence) {
    bool writes = asf__is_putting(c); /* which a seek would end */
    off64_t at = asf__seek(c, offset, whence);
    if (at >= 0 && writes)
        at = asf__to_write(c);
    return at < 0 ? asf__no_region(length, at) : asf__u_salloc(c, length, false);
}

int asf_u_sflush(struct asf_cios *c) {
    return asf__is_putting(c) ? asf__flush_output(c) : asf__sync(c);
}

static int set_mode(struct asf_cios *c, enum asf_mode mode) {
    asf__attach(c);
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
        asf__check(c);                                                                                       \
        type result = call;                                                                                  \
        asf__check(c);                                                                                       \
        asf__unlock(&c->lk);                                                                                 \
        return result;                                                                                       \
    }

LOCKED(void *, salloc, (struct asf_cios * c, ssize_t *length), asf_u_salloc(c, length))
LOCKED(void *, salloc_some, (struct asf_cios * c, ssize_t *length), asf_u_salloc_some(c, length))
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

void asf_lockAsfStream(struct asf_cios *c) {
    asf__lock(&c->lk);
}

void asf_unlockAsfStream(struct asf_cios *c) {
    asf__unlock(&c->lk);
}

/* The program may move the offset from now on. */
int asf_fileno(struct asf_cios *c) {
    asf__lock(&c->lk);
    c->exclusive = false;
    asf__unlock(&c->lk);
    return c->fd >= 0 ? c->fd : -EBADF;
}

struct asf_cios *asf_stream(FILE *file) {
    struct asf_cios *c = (struct asf_cios *)(void *)file;
    if (!asf__vtable || c->vtable != asf__vtable)
        return NULL;
    asf__lock(&c->lk);
    if (c->orientation == 0)
        c->orientation = -1;
    asf__unlock(&c->lk);
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
