/* SPDX-License-Identifier: MIT
 *
 * ring_interface.c - the calls of <asf/ring.h>: create rings, and open them as streams.
 */
#define _GNU_SOURCE
#include <asf/ring.h>
#include <errno.h>

#include "lib/shm/ring.h"
#include "lib/shm/segment.h"
#include "lib/sys/syscalls.h"
#include "streams/streams.h"

_Static_assert(ASF_RING_LABEL == ASF_SEGMENT_TEXT, "a ring's label is a segment's");

int asf_ring_create(size_t size) {
    uint32_t rounded = asf__ring_size(size ? size : ASF_RING_USUAL);
    return rounded ? asf__ring_new(rounded) : -EINVAL;
}

int asf_ring_create_named(const char *name, mode_t mode, size_t size, char *label) {
    char *shm;
    uint32_t rounded = asf__ring_size(size ? size : ASF_RING_USUAL);
    if (!rounded)
        return asf__segment_fail(-EINVAL, "a ring has at most 32 MiB");
    int rc = asf__segment_create("posix", name, mode, ASF_RING_DATA + rounded - ASF_SHM_HEAD, &shm);
    if (rc < 0)
        return rc;
    size_t n = strcspn(shm, "\n");
    memcpy(label, shm, n);
    label[n] = '\0';
    asf__ring_format((struct asf_ring_control *)(void *)(shm + ASF_RING_CONTROL), rounded);
    return asf__segment_close(shm);
}

static struct asf_cios *open_ring_stream(int fd, int flags, int *error) {
    struct asf_ring *r;
    if (flags != O_RDONLY && flags != O_WRONLY) {
        *error = -EINVAL;
        return NULL;
    }
    *error = asf__ring_attach(fd, flags == O_RDONLY ? ASF_RING_READER : ASF_RING_WRITER, &r);
    if (*error < 0)
        return NULL;
    struct asf_cios *c = asf__open_ring(r);
    if (!c) {
        asf__ring_detach(r);
        *error = -ENOMEM;
        return NULL;
    }
    asf__set_name(c, "ring");
    asf__cios_link(c);
    return c;
}

struct asf_cios *asf_ring_sopen_fd(int fd, int flags, int *error) {
    int unused;
    return open_ring_stream(fd, flags, error ? error : &unused);
}

struct asf_cios *asf_ring_sopen(const char *label, int flags, int *error) {
    int unused, fd = asf__segment_fd(label, true);
    if (!error)
        error = &unused;
    *error = fd < 0 ? fd : 0;
    if (fd < 0)
        return NULL;
    struct asf_cios *c = open_ring_stream(fd, flags, error);
    asf__sys.close(fd);
    return c;
}
