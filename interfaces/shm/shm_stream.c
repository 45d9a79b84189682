/* SPDX-License-Identifier: MIT
 *
 * shm_stream.c - opens a segment as a stream.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "lib/shm/segment.h"
#include "streams/streams.h"

static struct asf_cios *sopen_segment(const char *label, int access, int *error) {
    char *shm;
    *error = asf__segment_open(label, access != O_RDONLY, &shm);
    if (*error < 0)
        return NULL;
    struct asf_cios *c = asf__open_segment(shm, access);
    if (!c) {
        asf__segment_close(shm);
        *error = asf__segment_fail(-ENOMEM, "there is no memory for a stream");
        return NULL;
    }
    asf__set_name(c, label);
    asf__cios_link(c);
    return c;
}

struct asf_cios *asf_shm_sopen(const char *label, int flags, int *error) {
    int access = flags & O_ACCMODE, unused;
    if (!error)
        error = &unused;
    if (flags == access && access != O_ACCMODE)
        return sopen_segment(label, access, error);
    *error = asf__segment_fail(-EINVAL, "a segment is opened O_RDONLY, O_WRONLY or O_RDWR");
    return NULL;
}
