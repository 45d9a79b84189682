/* SPDX-License-Identifier: MIT
 *
 * wide_jumps.c - glibc's table of a wide stream's functions.  Functions inside libc (vfwprintf, vfwscanf,
 * the flush at exit) call our streams through the table.  libc's fwide replaces the table of byte streams by
 * this one.
 */
#include "interfaces/stdio/stdio_cios.h"

static int wide_overflow(struct asf_cios *c, int ch) {
    return (int)ASF_JUMP(c, asf__wide_overflow(c, (wint_t)ch));
}

static int wide_underflow(struct asf_cios *c) {
    return (int)ASF_JUMP(c, asf__wide_underflow(c));
}

static int wide_uflow(struct asf_cios *c) {
    return (int)ASF_JUMP(c, asf__wide_uflow(c));
}

static int wide_pushback(struct asf_cios *c, int ch) {
    return (int)ASF_JUMP(c, asf__wide_pushback(c, (wint_t)ch));
}

static size_t wide_put(struct asf_cios *c, const void *p, size_t n) {
    return ASF_JUMP(c, asf__wide_put(c, p, n));
}

/* fread reads nothing from a wide stream. */
static size_t wide_get_bytes(struct asf_cios *c, void *p, size_t n) {
    (void)c, (void)p, (void)n;
    return 0;
}

static off64_t wide_seek(struct asf_cios *c, off64_t offset, int whence, int mode) {
    return asf__jump_result(ASF_JUMP(c, mode == 0 ? asf__wide_tell(c) : asf__wide_seek(c, offset, whence)));
}

static off64_t wide_seek_to(struct asf_cios *c, off64_t offset, int mode) {
    return wide_seek(c, offset, SEEK_SET, mode);
}

/* Replaces the buffer of bytes.  The buffer of characters stays, with those that were converted.  Bytes that
 * were not converted yet are dropped, as in libc. */
static int set_byte_buffer(struct asf_cios *c, char *p, size_t n) {
    if (asf__wide_sync(c) == EOF)
        return EOF;
    c->read_end = c->read_ptr;
    int rc = asf__set_buffer(c, p, n);
    if (rc < 0)
        asf__set_errno(rc);
    return rc < 0 ? EOF : 0;
}

static struct asf_cios *wide_set_buffer(struct asf_cios *c, char *p, ssize_t size) {
    return ASF_JUMP(c, set_byte_buffer(c, p, p && size > 0 ? (size_t)size : 0)) == EOF ? NULL : c;
}

static int wide_sync(struct asf_cios *c) {
    return ASF_JUMP(c, asf__wide_sync(c));
}

static void wide_finish(struct asf_cios *c, int unused) {
    (void)unused;
    asf__wide_close(c);
    int result;
    asf__cios_close(c, &result);
}

const struct asf_jumps asf__wide_jumps = {
    .finish = wide_finish,
    .overflow = wide_overflow,
    .underflow = wide_underflow,
    .uflow = wide_uflow,
    .pbackfail = wide_pushback,
    .xsputn = wide_put,
    .xsgetn = wide_get_bytes,
    .seekoff = wide_seek,
    .seekpos = wide_seek_to,
    .setbuf = wide_set_buffer,
    .sync = wide_sync,
    ASF_COMMON_JUMPS,
};
