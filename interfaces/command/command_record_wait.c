/* SPDX-License-Identifier: MIT
 *
 * command_record_wait.c - a stream module for pipes, terminals and other input that a read may wait for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <asf/stream.h>

#include "interfaces/command/command_record.h"

/* Flushes the output before a read waits: a reader of the output must not wait for records that are in a
 * buffer here.  Only the call that reads knows that it is going to wait. */
struct waiting {
    int fd;
    void (*flush)(void *arg);
    void *arg;
};

static ssize_t waiting_get(struct asf_cios *c, void *buf, size_t n) {
    const struct waiting *w = asf_stream_data(c);
    struct pollfd one = {.fd = w->fd, .events = POLLIN};
    if (poll(&one, 1, 0) <= 0)
        w->flush(w->arg);
    ssize_t r = read(w->fd, buf, n);
    return r < 0 ? -errno : r;
}

static int waiting_close(struct asf_cios *c) {
    struct waiting *w = asf_stream_data(c);
    int rc = close(w->fd) < 0 ? -errno : 0;
    free(w);
    return rc;
}

static const struct asf_stream_ops waiting_ops = {
    .size = sizeof(struct asf_stream_ops),
    .version = ASF_STREAM_VERSION,
    .name = "waiting",
    .get = waiting_get,
    .close = waiting_close,
};

struct asf_cios *asf__record_open_waiting(int fd, void (*flush)(void *arg), void *arg, int *error) {
    struct waiting *w = malloc(sizeof *w);
    struct asf_cios *c = NULL;
    *error = fd < 0 ? -errno : -ENOMEM;
    if (w && fd >= 0) {
        *w = (struct waiting){fd, flush, arg};
        c = asf_sopen_with(&waiting_ops, w, O_RDONLY, error);
    }
    if (!c)
        free(w);
    return c;
}
