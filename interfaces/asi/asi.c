/* SPDX-License-Identifier: MIT
 *
 * asi.c - the Alloc Stream Interface: the backplane's calls under the paper's names, each in a form that
 * locks the stream and a u_ form that does not.
 */
#define _GNU_SOURCE
#define ASF_NO_INLINE /* this file defines the functions that <asf/inline.h> would define inline */
#include <errno.h>

#include "backplane/backplane.h"
#include "backplane/regions.h"
#include "interfaces/asi/locked.h"
#include "lib/sys/clock.h"
#include "lib/sys/syscalls.h"
#include "streams/streams.h"

static struct asf_cios *enter_opened_stream(struct asf_cios *c, int flags, int *error) {
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
    return enter_opened_stream(asf__cios_new(&asf__for_asi, fd, flags), flags, error);
}

struct asf_cios *asf_sopen(const char *filename, int flags, mode_t mode, int *error) {
    /* Checked before the open, which may create or truncate the file.  O_DIRECT needs aligned addresses
     * and lengths, which buffers and the ends of files do not have. */
    bool refused = !has_access(flags) || flags & O_DIRECT;
    int fd = refused ? -EINVAL : asf__open(filename, flags, mode);
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

/* Copies the program's table, which may be of an older or newer <asf/stream.h>: functions that it lacks
 * become NULL.  Returns false if it has a function that this library does not know. */
static bool read_table(const struct asf_stream_ops *theirs, struct asf_stream_ops *ops) {
    enum { FIRST_SIZE = offsetof(struct asf_stream_ops, close) + sizeof theirs->close, MOST = 4096 };
    *ops = (struct asf_stream_ops){0};
    if (!theirs || theirs->version != ASF_STREAM_VERSION || theirs->size < FIRST_SIZE || theirs->size > MOST)
        return false;
    memcpy(ops, theirs, theirs->size < sizeof *ops ? theirs->size : sizeof *ops);
    for (size_t i = sizeof *ops; i < theirs->size; i++)
        if (((const char *)theirs)[i])
            return false;
    return true;
}

struct asf_cios *asf_sopen_with(const struct asf_stream_ops *ops, void *data, int flags, int *error) {
    struct asf_stream_ops known;
    const int access = flags & O_ACCMODE;
    if (error)
        *error = -EINVAL;
    if (!read_table(ops, &known) || !known.name || !has_access(flags) || (access != O_WRONLY && !known.get) ||
        (access != O_RDONLY && !known.put))
        return NULL;
    return enter_opened_stream(asf__open_users_module(&known, data, access), flags, error);
}

void *asf_stream_data(struct asf_cios *c) {
    return c->data;
}

int asf_sclose(struct asf_cios *c) {
    int rc;
    if (!asf__cios_close(c, &rc))
        return -EBUSY;
    asf__cios_free(c);
    return rc == -EBUSY ? -EIO : rc; /* the module's own -EBUSY: unlike ours, the stream is closed */
}

void *asf_v1_u_salloc(struct asf_cios *c, ssize_t *length) {
    int rc = asf__to_bytes(c);
    return rc < 0 ? asf__no_region(length, rc) : asf__u_salloc(c, length, false);
}

void *asf_u_salloc_some(struct asf_cios *c, ssize_t *length) {
    int rc = asf__to_bytes(c);
    if (rc == 0 && !asf__is_putting(c) && *length > 0) {
        size_t avail = asf__avail(c);
        if (avail > 0 && (size_t)*length > avail)
            *length = (ssize_t)avail;
    }
    return rc < 0 ? asf__no_region(length, rc) : asf__u_salloc(c, length, true);
}

int asf_v1_u_sfree(struct asf_cios *c, void *ptr) {
    int rc = asf__free_apart(c, ptr, true);
    return rc == ASF_NOT_APART ? asf__u_sfree(c, ptr) : rc;
}

int asf_u_sabandon(struct asf_cios *c, void *ptr) {
    int rc = asf__free_apart(c, ptr, false);
    return rc == ASF_NOT_APART ? asf__abandon(c, ptr) : rc == -EIO ? 0 : rc;
}

/* Allocates a positional call's region again with the other length.  For length 0 it only moves the
 * stream to the region's beginning. */
static void *resize_apart(struct asf_cios *c, char *p, ssize_t *newlen) {
    size_t old = asf__is_putting(c) ? 0 : asf__latest_at(c, p);
    if (old == 0)
        return asf__no_region(newlen, -EBUSY);
    off64_t at = asf__tell(c);
    if (at >= 0)
        at -= (off64_t)old;
    if (at >= 0 && *newlen == 0)
        at = asf__seek(c, at, SEEK_SET);
    if (at < 0 || *newlen == 0)
        return at < 0 ? asf__no_region(newlen, at) : p;
    void *q = asf__read_at(c, newlen, at, 0);
    if (q)
        asf_v1_u_sfree(c, p);
    else if (*newlen == 0)
        *newlen = -EBUSY; /* the file now ends before the region */
    return q;
}

void *asf_u_srealloc(struct asf_cios *c, void *ptr, ssize_t *newlen) {
    int rc = asf__is_putting(c) ? asf__arrive(c) : 0;
    if (*newlen < 0 || rc < 0)
        return asf__no_region(newlen, *newlen < 0 ? -EINVAL : rc);
    struct asf_region *r = asf__latest(c, ptr);
    return r ? asf__resize(c, r, newlen) : resize_apart(c, ptr, newlen);
}

/* --- positional calls -------------------------------------------------------------------- */

/* Whether a positional read allocates its region outside the current buffer, which then does not change. */
static bool is_positional(const struct asf_cios *c) {
    return c->ops->positional && !asf__is_putting(c) && !(c->flags & ASF_NO_READS);
}

static bool is_in_window(struct asf_cios *c, off64_t at, size_t n) {
    off64_t start = c->offset - (c->read_end - c->buf_base);
    bool shown = c->buffer && c->offset >= 0 && !(c->flags & ASF_IN_BACKUP) && !(c->gate & ASF_MOVED);
    return shown && c->read_end > c->buf_base && at >= start && at <= c->offset &&
           n <= (uint64_t)(c->offset - at);
}

/* Whether a positional write allocates its region outside the current buffer.  It does not if output is
 * put at the end of the file, or as soon as its region is given back, or from the program's buffer. */
static bool writes_apart(const struct asf_cios *c) {
    return c->ops->put_at && !(c->flags & (ASF_APPENDING | ASF_LINE_BUF | ASF_UNBUFFERED | ASF_NO_WRITES)) &&
           c->buffer != &c->single;
}

static void *write_at(struct asf_cios *c, ssize_t *length, off64_t offset, int whence) {
    const bool apart = writes_apart(c) && *length > 0;
    off64_t at = apart            ? asf__absolute_offset(c, offset, whence)
                 : c->ops->put_at ? 0
                 : c->ops->seek   ? c->ops->seek(c, 0, SEEK_CUR)
                                  : -ESPIPE;
    int rc = at < 0 ? (int)at : asf__put_or_detach(c);
    if (rc < 0)
        return asf__no_region(length, rc);
    if (apart)
        return asf__write_at(c, length, at);
    at = asf__seek(c, offset, whence);
    rc = asf__to_write(c); /* the seek has ended output */
    return at < 0 || rc < 0 ? asf__no_region(length, at < 0 ? at : rc) : asf__u_salloc(c, length, false);
}

/* Allocates the region from the window, if it has the bytes.  Returns true if the caller must call
 * asf__read_at, with *offset now from the beginning of the file. */
static bool salloc_from_window_at(struct asf_cios *c, ssize_t *length, off64_t *offset, int whence,
                                  void **region) {
    *offset = asf__absolute_offset(c, *offset, whence);
    if (*offset < 0) {
        *region = asf__no_region(length, *offset);
        return false;
    }
    if (!is_in_window(c, *offset, (size_t)*length))
        return true;
    c->read_ptr = c->read_end - (c->offset - *offset);
    *region = asf__u_salloc(c, length, false);
    return false;
}

/* The part of sallocAt that needs the lock.  Returns true if the caller must call asf__read_at without
 * the lock; else *region is the result. */
static bool salloc_at_with_lock(struct asf_cios *c, ssize_t *length, off64_t *offset, int whence,
                                void **region) {
    int rc = asf__to_bytes(c);
    off64_t at = rc;
    asf__look_below(c);
    if (rc == 0 && (asf__is_putting(c) || c->flags & ASF_NO_READS)) {
        *region = write_at(c, length, *offset, whence);
        return false;
    }
    if (rc == 0 && *length > 0 && is_positional(c))
        return salloc_from_window_at(c, length, offset, whence, region);
    if (rc == 0)
        at = asf__seek(c, *offset, whence);
    *region = at < 0 ? asf__no_region(length, at) : asf__u_salloc(c, length, false);
    return false;
}

void *asf_u_sallocAt(struct asf_cios *c, ssize_t *length, off64_t offset, int whence) {
    void *region;
    bool apart = salloc_at_with_lock(c, length, &offset, whence, &region);
    return apart ? asf__read_at(c, length, offset, 0) : region;
}

/* Whether sallocAt needs no lock: the stream is open for one mode only, and its window is empty
 * (ASF_MOVED). */
static bool is_apart(const struct asf_cios *c, ssize_t length, off64_t offset, int whence) {
    return c->access != O_RDWR && whence == SEEK_SET && length > 0 && offset >= 0 &&
           __atomic_load_n(&c->gate, __ATOMIC_ACQUIRE) & ASF_MOVED;
}

void *asf_sallocAt(struct asf_cios *c, ssize_t *length, off64_t offset, int whence) {
    void *region = NULL;
    bool apart = is_apart(c, *length, offset, whence);
    if (apart && c->access == O_RDONLY)
        return asf__read_at(c, length, offset, 0);
    if (apart && (region = asf__write_apart(c, (size_t)*length, offset)))
        return region;
    asf__begin_call(c);
    apart = salloc_at_with_lock(c, length, &offset, whence, &region);
    const uint64_t when = c->access == O_RDWR ? asf__ticks() : 0;
    asf__end_call(c);
    return apart ? asf__read_at(c, length, offset, when) : region;
}

static off64_t tell(struct asf_cios *c) {
    int rc = asf__to_bytes(c);
    return rc < 0 ? rc : asf__tell(c);
}

int asf_u_sflush(struct asf_cios *c) {
    int rc = asf__to_bytes(c);
    if (rc < 0 || !asf__is_putting(c))
        return rc < 0 ? rc : asf__whole(asf__sync(c, 0));
    rc = asf__arrive(c);
    if (rc == 0)
        rc = asf__flush_output(c);
    int left = asf__flush_detached(c);
    return rc < 0 ? rc : left < 0 ? left : asf__whole(rc ? rc : left);
}

static int set_direction(struct asf_cios *c, enum asf_mode mode) {
    int rc = asf__to_bytes(c);
    if (rc < 0)
        return rc;
    rc = asf__attach(c);
    if (rc < 0)
        return rc;
    return mode == ASF_READ ? asf__to_read(c) : asf__to_write(c);
}

struct asf_cios *asf_u_set_stream_mode(struct asf_cios *c, enum asf_mode mode) {
    return set_direction(c, mode) == 0 ? c : NULL;
}

void *asf_u_Salloc(struct asf_cios *c, enum asf_mode mode, ssize_t *length) {
    int rc = set_direction(c, mode);
    return rc < 0 ? asf__no_region(length, rc) : asf__u_salloc(c, length, false);
}

/* Ends output before a read at another offset: makes *offset absolute, and puts or detaches the output. */
static int leave_output(struct asf_cios *c, off64_t *offset, int *whence) {
    *offset = asf__absolute_offset(c, *offset, *whence);
    *whence = SEEK_SET;
    int rc = *offset < 0 ? (int)*offset : asf__put_or_detach(c);
    return rc == 0 && c->gate & ASF_MOVED ? asf__end_output(c) : rc;
}

void *asf_u_SallocAt(struct asf_cios *c, enum asf_mode mode, ssize_t *length, off64_t offset, int whence) {
    int rc = asf__to_bytes(c);
    asf__look_below(c);
    if (rc == 0 && mode == ASF_WRITE && writes_apart(c))
        return write_at(c, length, offset, whence);
    bool leaves = mode == ASF_READ && asf__is_putting(c) && !(c->flags & ASF_NO_READS);
    if (rc == 0 && leaves && c->ops->put_at)
        rc = leave_output(c, &offset, &whence);
    if (rc == 0 && !(mode == ASF_READ && is_positional(c)))
        rc = set_direction(c, mode);
    return rc < 0 ? asf__no_region(length, rc) : asf_u_sallocAt(c, length, offset, whence);
}

LOCKED(int, sabandon, (struct asf_cios * c, void *ptr), asf_u_sabandon(c, ptr))
LOCKED(void *, srealloc, (struct asf_cios * c, void *ptr, ssize_t *newlen), asf_u_srealloc(c, ptr, newlen))
LOCKED(int64_t, tell, (struct asf_cios * c), tell(c))
LOCKED(int, sflush, (struct asf_cios * c), asf_u_sflush(c))
LOCKED(struct asf_cios *, set_stream_mode, (struct asf_cios * c, enum asf_mode mode),
       asf_u_set_stream_mode(c, mode))
LOCKED(void *, SallocAt,
       (struct asf_cios * c, enum asf_mode mode, ssize_t *length, off64_t offset, int whence),
       asf_u_SallocAt(c, mode, length, offset, whence))

int asf_v1_sfree(struct asf_cios *c, void *ptr) {
    int rc = asf__free_apart(c, ptr, true);
    if (rc != ASF_NOT_APART)
        return rc;
    asf__begin_call(c);
    rc = asf__u_sfree(c, ptr);
    asf__end_call(c);
    return rc;
}

/* Defines a call that locks the stream.  If too much output waits for regions (asf_set_bound), the call
 * waits with the stream unlocked until a region is freed. */
#define LOCKED_OR_WAITING(name, params, call)                                                                \
    void *asf_##name params {                                                                                \
        const ssize_t wanted = *length;                                                                      \
        for (;;) {                                                                                           \
            asf__begin_call(c);                                                                              \
            c->full = false;                                                                                 \
            const unsigned wakeups = c->wakeups;                                                             \
            void *p = call;                                                                                  \
            const bool again = asf__unlikely(!p) && c->full && c->waits;                                     \
            asf__end_call(c);                                                                                \
            if (!again)                                                                                      \
                return p;                                                                                    \
            asf__await_regions(c, wakeups);                                                                  \
            *length = wanted;                                                                                \
        }                                                                                                    \
    }

/* asf_v1_salloc, asf_salloc_some and asf_Salloc */
LOCKED_OR_WAITING(v1_salloc, (struct asf_cios * c, ssize_t *length), asf_v1_u_salloc(c, length))
LOCKED_OR_WAITING(salloc_some, (struct asf_cios * c, ssize_t *length), asf_u_salloc_some(c, length))
LOCKED_OR_WAITING(Salloc, (struct asf_cios * c, enum asf_mode mode, ssize_t *length),
                  asf_u_Salloc(c, mode, length))

/* The exported names of the functions that <asf/inline.h> also defines inline. */
void *asf_salloc(struct asf_cios *c, ssize_t *length) ALIAS(asf_v1_salloc);
void *asf_u_salloc(struct asf_cios *c, ssize_t *length) ALIAS(asf_v1_u_salloc);
int asf_sfree(struct asf_cios *c, void *ptr) ALIAS(asf_v1_sfree);
int asf_u_sfree(struct asf_cios *c, void *ptr) ALIAS(asf_v1_u_sfree);

void asf_v1_leave(struct asf_cios *c) {
    __atomic_store_n(&c->lk.busy, 0, __ATOMIC_RELEASE);
    asf__bias_wake(&c->lk);
}

void asf_set_bound(struct asf_cios *c, size_t bytes, int wait) {
    asf__lock(&c->lk);
    asf__set_bound(c, bytes, wait != 0);
    asf__unlock(&c->lk);
}

void asf_lockAsfStream(struct asf_cios *c) {
    asf__lock(&c->lk);
}

void asf_unlockAsfStream(struct asf_cios *c) {
    asf__unlock(&c->lk);
}

/* Gives up the stream's exclusive use of the offset: the program may move it from now on. */
int asf_fileno(struct asf_cios *c) {
    asf__share_offset(c);
    return c->fd >= 0 ? c->fd : -EBADF;
}

struct asf_cios *asf_stream(FILE *file) {
    struct asf_cios *c = (struct asf_cios *)(void *)file;
    if (!asf__vtable || (c->vtable != asf__vtable && c->vtable != asf__wide_vtable))
        return NULL;
    asf__lock(&c->lk);
    if (c->orientation == 0)
        c->orientation = -1;
    asf__end_bulk(c);
    c->bulk.state = ASF_BULK_NEVER;
    c->flags2 &= ~(ASF_NOT_LOOKED_AT | ASF_LOOKS_LATE);
    asf__unlock(&c->lk);
    asf__join(c);
    return c;
}

FILE *asf_file(struct asf_cios *c) {
    return (FILE *)(void *)c;
}

int asf_advise(struct asf_cios *c, enum asf_advice advice) {
    asf__begin_call(c);
    int rc = asf__advise(c, advice);
    asf__end_call(c);
    return rc;
}

const char *asf_module_name(struct asf_cios *c) {
    return c->ops->name;
}

const char *asf_module_why(struct asf_cios *c) {
    return c->why;
}

/* --- the end of the process ---------------------------------------------------------- */

/* Flushes the stream even if another thread holds its lock, as stdio does at exit, unless that thread is
 * in a system call on the stream. */
ASF_RACY static bool put_at_exit(struct asf_cios *c, void *unused) {
    (void)unused;
    bool locked = asf__trylock(&c->lk);
    if (locked || c->use != ASF_IN_SYSTEM_CALL)
        asf__put_without_regions(c);
    if (locked)
        asf__unlock(&c->lk);
    asf__report(c);
    return true;
}

/* Puts all pending output when the process ends.  In a library with the stdio interface, libc's flush of
 * all streams does this (interfaces/stdio/standard.c). */
__attribute__((destructor)) static void put_all_at_exit(void) {
    if (!asf__vtable)
        asf__each(put_at_exit, NULL);
}
