/* SPDX-License-Identifier: MIT
 *
 * bridge.c - musl FILEs that read and write this library's streams.
 */
#include "interfaces/stdio/print/print.h"

/* Saves the last bytes of p[0..n): give_back needs them when the window has other bytes. */
static void keep_last(struct asf_bridge *b, const char *p, size_t n) {
    b->n = (unsigned char)(n < sizeof b->before ? n : sizeof b->before);
    if (n > 0)
        memcpy(b->before, p + n - b->n, b->n);
}

/* Reads no more than the window has, so that give_back can return all of it. */
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
    bool put = b->c ? asf__put_bytes(b->c, p, n) == n : asf__print_bytes(b->fd, p, n);
    return put ? (ssize_t)n : -1;
}

/* musl seeks back over bytes that it read but did not use, and asks for the stream's offset. */
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

/* A closed bridge, which the next call reuses; changed by atomic exchange. */
static struct asf_bridge *spare;

static struct asf_bridge *swap_spare(struct asf_bridge *b) {
    return __atomic_exchange_n(&spare, b, __ATOMIC_ACQ_REL);
}

static void end_bridge(struct asf_bridge *b) {
    if (b)
        ASF_LIBC_OWN(fclose)(b->file);
    free(b);
}

static struct asf_bridge *new_bridge(void) {
    struct asf_bridge *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->width = MB_CUR_MAX;
    b->file = ASF_LIBC_OWN(fopencookie)(b, "r+", (cookie_io_functions_t){take, put, seek, NULL});
    if (b->file)
        return b;
    free(b);
    return NULL;
}

struct asf_bridge *asf__bridge_open(struct asf_cios *c, size_t room) {
    struct asf_bridge *b = swap_spare(NULL);
    if (b && b->width != MB_CUR_MAX) {
        end_bridge(b);
        b = NULL;
    }
    if (!b && !(b = new_bridge()))
        return NULL;
    ASF_LIBC_OWN(setvbuf)(b->file, b->buffer, _IOFBF, ASF_KEPT_FOR_UNGETC + room);
    b->c = c;
    b->from = NULL;
    b->n = 0;
    return b;
}

void asf__bridge_close(struct asf_bridge *b) {
    int saved = errno;
    ASF_LIBC_OWN(fflush)(b->file);
    ASF_LIBC_OWN(clearerr)(b->file);
    end_bridge(swap_spare(b));
    errno = saved;
}
