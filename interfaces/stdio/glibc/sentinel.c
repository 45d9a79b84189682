/* SPDX-License-Identifier: MIT
 *
 * sentinel.c - an entry of ours in glibc's chain of streams.  Through this entry glibc flushes our streams
 * after the last destructor.
 *
 * The standard streams replace glibc's own under its names.  glibc finds that their table is not its own, and
 * switches off its check of tables.
 */
#include "interfaces/stdio/stdio_cios.h"

extern void _IO_link_in(struct asf_cios *);

static int sentinel_overflow(struct asf_cios *unused, int ch) {
    (void)unused;
    (void)ch;
    return asf__flush_at_exit();
}

static struct asf_cios *sentinel_setbuf(struct asf_cios *c, char *p, ssize_t n) {
    (void)p;
    (void)n;
    asf__finish_all();
    return c;
}

static const struct asf_jumps sentinel_jumps = {.overflow = sentinel_overflow, .setbuf = sentinel_setbuf};

/* The sentinel always has a byte of output, so that libc calls its table when it flushes all streams.  It is
 * glibc's part of a FILE, and no CIOS. */
static struct asf_lock sentinel_lock;
static char byte[1];
static struct {
    FILE file;
    const void *vtable;
} sentinel = {
    .file =
        {
            ._flags = ASF_MAGIC | ASF_USER_BUF,
            ._fileno = -1,
            ._IO_write_base = byte,
            ._IO_write_ptr = byte + 1,
            ._IO_write_end = byte + 1,
            ._lock = (void *)&sentinel_lock,
            ._mode = -1,
        },
    .vtable = &sentinel_jumps,
};

void asf__link_sentinel(void) {
    _IO_link_in(asf__cios(&sentinel.file));
}

#ifdef ASF_STATIC
/* With these definitions a static program does not link libc's stdfiles.o; and a static libc accepts our
 * table if __dlopen is defined. */
EXPORT struct asf_cios *_IO_list_all = &asf__stderr;
EXPORT __attribute__((weak)) const char __dlopen[1] = "";
#endif
