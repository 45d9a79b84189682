/* SPDX-License-Identifier: MIT
 *
 * musl_print.c - the calls of the printf family that musl's own code makes, on a bridge or in memory.  musl
 * has no checked forms.
 */
#include "interfaces/stdio/print/print.h"

#include <limits.h>

int asf__libc_print_allocated(char **result, int fortify, const char *format, asf__arguments ap) {
    (void)fortify;
    return ASF_LIBC_OWN(vasprintf)(result, format, asf__list(ap));
}

int asf__libc_print_text(char *p, size_t room, int fortify, bool all, const char *format, asf__arguments ap) {
    (void)fortify, (void)all;
    if (room > SSIZE_MAX)
        return ASF_LIBC_OWN(vsprintf)(p, format, asf__list(ap));
    return ASF_LIBC_OWN(vsnprintf)(p, room + 1, format, asf__list(ap));
}

int asf__libc_print_checked(char *p, int fortify, size_t size, const char *format, asf__arguments ap) {
    (void)fortify, (void)size;
    return ASF_LIBC_OWN(vsprintf)(p, format, asf__list(ap));
}

/* Prints to the stream c, or if c is NULL to the descriptor.  The result may be larger than the text that
 * musl puts (`skips_padding` of libc_differences.def).  A buffered stream gets each chunk as musl makes it; a
 * chunk that does not fit is written together with the buffer. */
static int print(struct asf_cios *c, int fd, const char *format, asf__arguments ap) {
    struct asf_bridge *b = asf__bridge_open(c, c && !(c->flags & ASF_UNBUFFERED) ? 1 : BUFSIZ);
    if (!b)
        return -1;
    b->fd = fd;
    int n = ASF_LIBC_OWN(vfprintf)(b->file, format, asf__list(ap));
    if (ASF_LIBC_OWN(fflush)(b->file) == EOF)
        n = -1;
    asf__bridge_close(b);
    return n;
}

int asf__libc_print(struct asf_cios *c, int fortify, const char *format, asf__arguments ap) {
    (void)fortify;
    return print(c, -1, format, ap);
}

int asf__libc_print_fd(int fd, int fortify, const char *format, asf__arguments ap) {
    (void)fortify;
    return print(NULL, fd, format, ap);
}
