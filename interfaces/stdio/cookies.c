/* SPDX-License-Identifier: MIT
 *
 * cookies.c - fopencookie: streams on the program's own callbacks.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <fcntl.h>
#include <stdlib.h>

#include "lib/sys/guard.h"
#include "streams/streams.h"

/* --- fopencookie ---------------------------------------------------------------- */

struct cookie {
    bool short_write; /* the last write took fewer bytes than it was given */
    void *program;
    cookie_io_functions_t call;
};

/* The code of a callback that failed: -errno, or -ASF_NO_ERRNO if it set no errno. */
static int callback_error(void) {
    return errno > 0 ? -errno : -ASF_NO_ERRNO;
}

/* One call of a callback: its arguments and its result.  If the thread is cancelled or ends in the callback,
 * or an exception leaves the callback, asf__cancelled ends the stream's call. */
struct callback_call {
    const struct cookie *k;
    struct asf_cios *c;
    void *buf;
    size_t n;
    off64_t *offset;
    int whence;
    ssize_t r;
};

static ssize_t run_callback(struct asf_cios *c, void (*call)(void *argument), struct callback_call t) {
    t.k = c->data;
    t.c = c;
    if (t.k->call.close == asf__area_close) /* fmemopen's callbacks always return */
        call(&t);
    else
        asf__guarded(call, &t, asf__cancelled, c);
    return t.r;
}

static void call_read(void *argument) {
    struct callback_call *t = argument;
    t->r = t->k->call.read(t->k->program, t->buf, t->n);
}

static void call_write(void *argument) {
    struct callback_call *t = argument;
    t->r = t->k->call.write(t->k->program, t->buf, t->n);
}

static void call_seek(void *argument) {
    struct callback_call *t = argument;
    t->r = t->k->call.seek(t->k->program, t->offset, t->whence);
}

static void call_close(void *argument) {
    struct callback_call *t = argument;
    t->r = t->k->call.close(t->k->program);
}

static ssize_t cookie_get(struct asf_cios *c, void *buf, size_t n) {
    const struct cookie *k = c->data;
    if (!k->call.read)
        return callback_error();
    ssize_t r = run_callback(c, call_read, (struct callback_call){.buf = buf, .n = n});
    c->stats.syscalls++;
    if (r < 0)
        return callback_error();
    c->stats.in += (uint64_t)r;
    return r;
}

static ssize_t cookie_put(struct asf_cios *c, const void *buf, size_t n) {
    struct cookie *k = c->data;
    bool short_write = k->short_write; /* as in libc, the rest is not tried again */
    k->short_write = false;
    ssize_t r = 0;
    if (k->call.write && !short_write)
        r = run_callback(c, call_write, (struct callback_call){.buf = (void *)(uintptr_t)buf, .n = n});
    c->stats.syscalls++;
    if (r <= 0)
        return callback_error();
    if ((size_t)r > n)
        return -ASF_NO_ERRNO;
    k->short_write = (size_t)r < n;
    c->stats.out += (uint64_t)r;
    return r;
}

static off64_t cookie_seek(struct asf_cios *c, off64_t offset, int whence) {
    const struct cookie *k = c->data;
    if (!k->call.seek)
        return ASF_LIBC(callbacks_append) ? callback_error() : -ENOTSUP;
    ssize_t r = run_callback(c, call_seek, (struct callback_call){.offset = &offset, .whence = whence});
    if (r == -1 || offset == -1)
        return callback_error();
    c->seek_error = offset < 0 ? offset : 0;
    if (offset >= 0)
        return offset;
    /* As in glibc, a seek to a negative offset succeeds, but SEEK_SET on a readable stream fails without an
     * errno. */
    return whence == SEEK_SET && !(c->flags & ASF_NO_READS) ? -ASF_NO_ERRNO : 0;
}

static int cookie_close(struct asf_cios *c) {
    struct cookie *k = c->data;
    int r = k->call.close ? (int)run_callback(c, call_close, (struct callback_call){0}) : 0;
    free(k);
    return r < 0 ? callback_error() : r;
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
    c->flags2 |= ASF_AS_LIBC;
    c->orientation = ASF_LIBC(never_wide) ? -1 : 0;
    if (append && ASF_LIBC(callbacks_append))
        c->flags |= ASF_APPENDING;
    asf__cios_link(c);
    return asf__file(c);
}
