/* SPDX-License-Identifier: MIT
 *
 * bridge.c - FILEs of musl's own over streams of ours.
 */
#include "interfaces/stdio/stdio_cios.h"

/* Keeps the last bytes of p[0..n), to give them back when the window has others. */
static void keep_last(struct asf_bridge *b, const char *p, size_t n) {
    b->n = (unsigned char)(n < sizeof b->before ? n : sizeof b->before);
    if (n > 0)
        memcpy(b->before, p + n - b->n, b->n);
}

/* Takes no more than the window has, so that all of it can be given back. */
static ssize_t take(void *bridge, char *p, size_t n) {
    struct asf_bridge *b = bridge;
    struct asf_cios *c = b->c;
    if (b->from)
        keep_last(b, b->from, (size_t)(c->read_ptr - b->from));
    b->from = NULL;
    if (asf__avail(c) == 0 && asf__underflow(c) == EOF)
        return c->flags & ASF_ERR ? -1 : 0;
    if (n > asf__avail(c))
        n = asf__avail(c);
    memcpy(p, c->read_ptr, n);
    b->from = c->read_ptr;
    c->read_ptr += n;
    return (ssize_t)n;
}

static int give_back(struct asf_bridge *b, size_t n) {
    struct asf_cios *c = b->c;
    size_t here = b->from ? (size_t)(c->read_ptr - b->from) : 0, step = n < here ? n : here;
    c->read_ptr -= step;
    for (n -= step; n > 0; n--)
        if (b->n == 0 || asf__unget(c, b->before[--b->n]) == EOF)
            return -1;
    c->flags &= ~ASF_EOF;
    return 0;
}

static ssize_t put(void *bridge, const char *p, size_t n) {
    struct asf_bridge *b = bridge;
    size_t taken = asf__put_bytes(b->c, p, n);
    return taken == n ? (ssize_t)n : -1;
}

/* musl steps back over bytes that it has read and not used, and asks where the stream stands. */
static int seek(void *bridge, off_t *offset, int whence) {
    struct asf_bridge *b = bridge;
    if (whence == SEEK_CUR && *offset < 0)
        return give_back(b, (size_t) - *offset);
    off_t at = asf__seek(b->c, *offset, whence);
    if (asf__failed(at)) {
        asf__set_errno((int)at);
        return -1;
    }
    *offset = at;
    return 0;
}

FILE *asf__bridge_open(struct asf_bridge *b, struct asf_cios *c) {
    cookie_io_functions_t calls = {take, put, seek, NULL};
    *b = (struct asf_bridge){.c = c};
    b->file = ASF_LIBC_OWN(fopencookie)(b, "r+", calls);
    return b->file;
}

void asf__bridge_close(struct asf_bridge *b) {
    int saved = errno;
    ASF_LIBC_OWN(fclose)(b->file);
    errno = saved;
}
