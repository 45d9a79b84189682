/* SPDX-License-Identifier: MIT
 *
 * bridge.c - musl FILEs that read and write this library's streams.
 */
#include "interfaces/stdio/print/print.h"

/* Saves the last bytes of p[0..n): return_bytes needs them when the window has other bytes. */
static void save_last_bytes(struct asf_bridge *b, const char *p, size_t n) {
    b->n = (unsigned char)(n < sizeof b->last_bytes ? n : sizeof b->last_bytes);
    if (n > 0)
        memcpy(b->last_bytes, p + n - b->n, b->n);
}

/* Reads no more than the window has, so that return_bytes can return all of it. */
static ssize_t bridge_read(void *bridge, char *p, size_t n) {
    struct asf_bridge *b = bridge;
    struct asf_cios *c = b->c;
    if (b->window_start)
        save_last_bytes(b, b->window_start, (size_t)(c->read_ptr - b->window_start));
    b->window_start = NULL;
    if (asf__avail(c) == 0 && asf__underflow(c) == EOF)
        return c->flags & ASF_ERR ? -1 : 0;
    if (n > asf__avail(c))
        n = asf__avail(c);
    memcpy(p, c->read_ptr, n);
    b->window_start = c->read_ptr;
    c->read_ptr += n;
    return (ssize_t)n;
}

static int return_bytes(struct asf_bridge *b, size_t n) {
    struct asf_cios *c = b->c;
    size_t here = b->window_start ? (size_t)(c->read_ptr - b->window_start) : 0, step = n < here ? n : here;
    c->read_ptr -= step;
    for (n -= step; n > 0; n--)
        if (b->n == 0 || asf__unget(c, b->last_bytes[--b->n]) == EOF)
            return -1;
    c->flags &= ~ASF_EOF;
    return 0;
}

static ssize_t bridge_write(void *bridge, const char *p, size_t n) {
    struct asf_bridge *b = bridge;
    bool put = b->c ? asf__put_bytes(b->c, p, n) == n : asf__print_bytes(b->fd, p, n);
    return put ? (ssize_t)n : -1;
}

/* musl seeks back over bytes that it read but did not use, and asks for the stream's offset. */
static int bridge_seek(void *bridge, off_t *offset, int whence) {
    struct asf_bridge *b = bridge;
    if (whence == SEEK_CUR && *offset < 0)
        return return_bytes(b, (size_t) - *offset);
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
    b->file = ASF_LIBC_OWN(fopencookie)(
        b, "r+", (cookie_io_functions_t){bridge_read, bridge_write, bridge_seek, NULL});
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
    b->window_start = NULL;
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
