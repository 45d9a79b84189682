/* SPDX-License-Identifier: MIT
 *
 * memory_streams.c - open_memstream, fmemopen and fopencookie: streams on
 * memory and on the program's own callbacks.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <fcntl.h>
#include <stdlib.h>

#include "lib/sys/guard.h"
#include "streams/streams.h"

EXPORT FILE *open_memstream(char **location, size_t *size) {
    asf__stdio_start();
    struct asf_cios *c = asf__open_memory(location, size);
    if (!c) {
        errno = ENOMEM;
        return NULL;
    }
    c->orientation = -1; /* as glibc: never a wide stream; nor are the other streams of this file */
    asf__cios_link(c);
    return asf__file(c);
}

/* --- fopencookie ---------------------------------------------------------------- */

struct cookie {
    bool cut_short; /* the last write took fewer bytes than it was given */
    void *program;
    cookie_io_functions_t call;
};

/* The code of a callback that failed: -errno, or -ASF_NO_ERRNO if it set no errno. */
static int failure(void) {
    return errno > 0 ? -errno : -ASF_NO_ERRNO;
}

/* One call of a callback: its arguments and its result.  The callback may not return, since the thread may be
 * cancelled or end in it, or an exception may pass through it: asf__cancelled then ends the stream's call. */
struct turn {
    const struct cookie *k;
    struct asf_cios *c;
    void *buf;
    size_t n;
    off64_t *offset;
    int whence;
    ssize_t r;
};

static int area_close(void *cookie);

static ssize_t take_turn(struct asf_cios *c, void (*call)(void *turn), struct turn t) {
    t.k = c->data;
    t.c = c;
    if (t.k->call.close == area_close) /* fmemopen's callbacks always return */
        call(&t);
    else
        asf__guarded(call, &t, asf__cancelled, c);
    return t.r;
}

static void take_read(void *turn) {
    struct turn *t = turn;
    t->r = t->k->call.read(t->k->program, t->buf, t->n);
}

static void take_write(void *turn) {
    struct turn *t = turn;
    t->r = t->k->call.write(t->k->program, t->buf, t->n);
}

static void take_seek(void *turn) {
    struct turn *t = turn;
    t->r = t->k->call.seek(t->k->program, t->offset, t->whence);
}

static void take_close(void *turn) {
    struct turn *t = turn;
    t->r = t->k->call.close(t->k->program);
}

static ssize_t cookie_get(struct asf_cios *c, void *buf, size_t n) {
    const struct cookie *k = c->data;
    if (!k->call.read)
        return failure();
    ssize_t r = take_turn(c, take_read, (struct turn){.buf = buf, .n = n});
    c->stats.syscalls++;
    if (r < 0)
        return failure();
    c->stats.in += (uint64_t)r;
    return r;
}

static ssize_t cookie_put(struct asf_cios *c, const void *buf, size_t n) {
    struct cookie *k = c->data;
    bool cut_short = k->cut_short; /* as in libc, the rest is not tried again */
    k->cut_short = false;
    ssize_t r = 0;
    if (k->call.write && !cut_short)
        r = take_turn(c, take_write, (struct turn){.buf = (void *)(uintptr_t)buf, .n = n});
    c->stats.syscalls++;
    if (r <= 0)
        return failure();
    if ((size_t)r > n)
        return -ASF_NO_ERRNO;
    k->cut_short = (size_t)r < n;
    c->stats.out += (uint64_t)r;
    return r;
}

static off64_t cookie_seek(struct asf_cios *c, off64_t offset, int whence) {
    const struct cookie *k = c->data;
    if (!k->call.seek)
        return failure();
    ssize_t r = take_turn(c, take_seek, (struct turn){.offset = &offset, .whence = whence});
    if (r == -1 || offset == -1)
        return failure();
    c->told = offset < 0 ? offset : 0;
    if (offset >= 0)
        return offset;
    /* As in glibc, a seek to a negative offset succeeds, but no block is read there. */
    return whence == SEEK_SET && !(c->flags & ASF_NO_READS) ? -ASF_NO_ERRNO : 0;
}

static int cookie_close(struct asf_cios *c) {
    struct cookie *k = c->data;
    int r = k->call.close ? (int)take_turn(c, take_close, (struct turn){0}) : 0;
    free(k);
    return r < 0 ? failure() : r;
}

static const struct asf_module cookie_module = {
    .name = "cookie",
    .get = cookie_get,
    .put = cookie_put,
    .seek = cookie_seek,
    .close = cookie_close,
    .asks_for_offset_each_time = true,
    .reads_by_whole_buffers = true,
};

static int parse_cookie_mode(const char *mode, bool *append) {
    if (*mode != 'r' && *mode != 'w' && *mode != 'a')
        return -1;
    *append = *mode == 'a';
    if (mode[1] == '+' || (mode[1] == 'b' && mode[2] == '+'))
        return O_RDWR;
    return *mode == 'r' ? O_RDONLY : O_WRONLY;
}

EXPORT FILE *fopencookie(void *program, const char *mode, cookie_io_functions_t call) {
    bool append;
    int access = parse_cookie_mode(mode, &append);
    if (access < 0) {
        errno = EINVAL;
        return NULL;
    }
    asf__stdio_start();
    struct cookie *k = malloc(sizeof *k);
    struct asf_cios *c = k ? asf__open_module(&cookie_module, k, access) : NULL;
    if (!c) {
        free(k);
        errno = ENOMEM;
        return NULL;
    }
    *k = (struct cookie){.program = program, .call = call};
    c->why = "the program's callbacks";
    if (ASF_LIBC(puts_whole))
        c->flags2 |= ASF_PUTS_WHOLE;
    if (append)
        c->flags |= ASF_APPENDING;
    asf__cios_link(c);
    return asf__file(c);
}

/* --- fmemopen: over callbacks of our own, with glibc's rules ----------------------- */

struct area {
    char *base;
    size_t size, at, end; /* bytes before `end` have been written, or were there */
    bool append, allocated;
};

static ssize_t area_read(void *cookie, char *buf, size_t n) {
    struct area *a = cookie;
    size_t left = a->at < a->end ? a->end - a->at : 0;
    if (n > left)
        n = left;
    memcpy(buf, a->base + a->at, n);
    a->at += n;
    return (ssize_t)n;
}

/* POSIX: a null byte follows the written bytes if there is room for it. */
static ssize_t area_write(void *cookie, const char *buf, size_t n) {
    struct area *a = cookie;
    size_t at = a->append ? a->end : a->at;
    size_t null = n == 0 || buf[n - 1] != '\0';
    if (at + n > a->size) {
        if (a->at + null >= a->size) {
            errno = ENOSPC;
            return 0;
        }
        n = a->size - at;
    }
    memcpy(a->base + at, buf, n);
    a->at = at + n;
    if (a->at > a->end) {
        a->end = a->at;
        if (a->end < a->size && null)
            a->base[a->end] = '\0';
        else if (!a->append && null)
            a->base[a->size - 1] = '\0';
    }
    return (ssize_t)n;
}

static int area_seek(void *cookie, off64_t *offset, int whence) {
    struct area *a = cookie;
    size_t from = whence == SEEK_CUR ? a->at : whence == SEEK_END ? a->end : 0;
    off64_t to;
    if (__builtin_add_overflow(*offset, from, &to) || to < 0 || (size_t)to > a->size) {
        errno = EINVAL;
        return -1;
    }
    a->at = (size_t)to;
    *offset = to;
    return 0;
}

static int area_close(void *cookie) {
    struct area *a = cookie;
    if (a->allocated)
        free(a->base);
    free(a);
    return 0;
}

static struct area *area_new(void *buf, size_t size, const char *mode) {
    struct area *a = malloc(sizeof *a);
    if (!a)
        return NULL;
    *a = (struct area){.base = buf ? buf : malloc(size), .size = size, .allocated = !buf};
    if (!a->base) {
        free(a);
        return NULL;
    }
    if (!buf && size > 0)
        a->base[0] = '\0';
    if (buf && mode[0] == 'w' && mode[1] == '+')
        a->base[0] = '\0';
    if (mode[0] == 'a')
        a->end = buf ? strnlen(buf, size) : 0;
    if (mode[0] == 'r')
        a->end = size;
    a->append = mode[0] == 'a';
    a->at = a->append ? a->end : 0;
    return a;
}

EXPORT FILE *fmemopen(void *buf, size_t size, const char *mode) {
    cookie_io_functions_t call = {area_read, area_write, area_seek, area_close};
    if (buf && size > -(uintptr_t)buf) {
        errno = EINVAL;
        return NULL;
    }
    struct area *a = area_new(buf, size, mode);
    FILE *f = a ? fopencookie(a, mode, call) : NULL;
    if (!f && a)
        area_close(a);
    return f;
}
