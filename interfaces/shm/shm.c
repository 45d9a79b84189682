/* SPDX-License-Identifier: MIT
 *
 * shm.c - the calls of <asf/shm.h> that create, attach, list and remove segments.  The calls that return a
 * segment, and asf_shm_close, set errno, as in Grosse's note.  The other calls return a negated errno value.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>

#include "lib/shm/segment.h"

static char *shm_or_errno(int rc, char *shm) {
    if (rc < 0)
        errno = -rc;
    return shm;
}

char *asf_shm_create_on(const char *backend, const char *name, mode_t mode, size_t nbytes) {
    char *shm;
    int rc = asf__segment_create(backend, name, mode, nbytes, &shm);
    return shm_or_errno(rc, shm);
}

char *asf_shm_create(const char *name, mode_t mode, size_t nbytes) {
    return asf_shm_create_on(NULL, name, mode, nbytes);
}

char *asf_shm_open(const char *label) {
    char *shm;
    int rc = asf__segment_open(label, false, &shm);
    return shm_or_errno(rc, shm);
}

char *asf_shm_open_update(const char *label) {
    char *shm;
    int rc = asf__segment_open(label, true, &shm);
    return shm_or_errno(rc, shm);
}

char *asf_shm_open_fd(int fd, int flags) {
    char *shm = NULL;
    int rc = flags == O_RDONLY || flags == O_RDWR
                 ? asf__segment_open_fd(fd, flags == O_RDWR, &shm)
                 : asf__segment_fail(-EINVAL, "a segment is attached O_RDONLY or O_RDWR");
    return shm_or_errno(rc, shm);
}

int asf_shm_close(char *shm) {
    int rc = asf__segment_close(shm);
    if (rc == 0)
        return 0;
    errno = -rc;
    return -1;
}

size_t asf_shm_size(const char *shm) {
    const struct asf_segment *s = asf__segment_of(shm);
    return s ? s->data : 0;
}

int asf_shm_fd(const char *label, int flags) {
    if (flags != O_RDONLY && flags != O_RDWR)
        return asf__segment_fail(-EINVAL, "a descriptor is opened O_RDONLY or O_RDWR");
    return asf__segment_fd(label, flags == O_RDWR);
}

const char *asf_shm_why(void) {
    return asf__segment_why;
}

int asf_shm_each(int (*visit)(const struct asf_shm_info *, void *), void *arg) {
    return asf__segment_each(visit, arg);
}

int asf_shm_remove(const char *label) {
    return asf__segment_remove(label);
}
