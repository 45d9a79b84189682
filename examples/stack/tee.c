/* SPDX-License-Identifier: MIT
 *
 * tee.c - a module that reads another stream, and copies its bytes to a second stream.
 */
#include <fcntl.h>
#include <string.h>

#include "stack.h"

static ssize_t tee_get(struct asf_cios *c, void *buf, size_t n) {
    struct tee *data = asf_stream_data(c);
    ssize_t got = (ssize_t)n;
    void *p = asf_salloc_some(data->below, &got), *q;
    if (!p)
        return got;
    memcpy(buf, p, (size_t)got);
    asf_sfree(data->below, p);
    ssize_t room = got;
    if (!(q = asf_salloc(data->copy, &room)))
        return room;
    memcpy(q, buf, (size_t)got);
    int rc = asf_sfree(data->copy, q);
    return rc < 0 ? rc : got;
}

struct asf_cios *open_tee(struct tee *data, int *error) {
    static const struct asf_stream_ops ops = {
        .size = sizeof ops, .version = ASF_STREAM_VERSION, .name = "tee", .get = tee_get};
    return asf_sopen_with(&ops, data, O_RDONLY, error);
}
