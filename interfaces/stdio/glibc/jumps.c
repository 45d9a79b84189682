/* SPDX-License-Identifier: MIT
 *
 * jumps.c - glibc's table of a byte stream's functions.  Functions inside libc (perror, error, getopt,
 * vfscanf, the flush at exit) call our streams through the table.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <sys/stat.h>

#include "lib/sys/syscalls.h"

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

/* Short writes have a fast path: libc's formatter pads by 16 bytes a call. */
static size_t jump_xsputn(struct asf_cios *c, const void *p, size_t n) {
    asf__remove_foreign_bias(c);
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
    int result;
    asf__cios_close(c, &result);
    asf__cios_reset(c); /* libc frees the object */
}

static off64_t jump_seekoff(struct asf_cios *c, off64_t offset, int whence, int mode) {
    off64_t at = ASF_JUMP(c, mode == 0 ? asf__tell_file(c) : asf__seek(c, offset, whence));
    if (!asf__failed(at) && mode != 0)
        c->flags &= ~ASF_EOF;
    return asf__jump_result(at);
}

static off64_t jump_seekpos(struct asf_cios *c, off64_t offset, int mode) {
    return jump_seekoff(c, offset, SEEK_SET, mode);
}

static int jump_sync(struct asf_cios *c) {
    return ASF_JUMP(c, asf__flush_stream(c));
}

static struct asf_cios *jump_setbuf(struct asf_cios *c, char *p, ssize_t size) {
    return ASF_JUMP(c, asf__replace_buffer(c, p, p && size > 0 ? (size_t)size : 0)) ? c : NULL;
}

int asf__jump_doallocate(struct asf_cios *c) {
    asf__allocate(c);
    return 1;
}

ssize_t asf__jump_read(struct asf_cios *c, void *p, ssize_t n) {
    return asf__jump_result(c->ops->get ? c->ops->get(c, p, (size_t)n) : -EBADF);
}

ssize_t asf__jump_write(struct asf_cios *c, const void *p, ssize_t n) {
    return asf__jump_result(c->ops->put ? c->ops->put(c, p, (size_t)n) : -EBADF);
}

off64_t asf__jump_seek(struct asf_cios *c, off64_t offset, int whence) {
    return asf__jump_result(c->ops->seek ? c->ops->seek(c, offset, whence) : -ESPIPE);
}

int asf__jump_close(struct asf_cios *c) {
    return (int)asf__jump_result(c->ops->close ? c->ops->close(c) : 0);
}

int asf__jump_stat(struct asf_cios *c, void *st) {
    return (int)asf__jump_result(asf__sys.fstat(c->fd, st));
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
