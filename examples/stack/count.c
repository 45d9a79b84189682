/* SPDX-License-Identifier: MIT
 *
 * count.c - a module that reads another stream, and counts the bytes and lines.
 */
#include <fcntl.h>
#include <string.h>

#include <asf/scan.h>

#include "stack.h"

static ssize_t count_get(struct asf_cios *c, void *buf, size_t n) {
    struct count *data = asf_stream_data(c);
    ssize_t got = (ssize_t)n;
    void *p = asf_salloc_some(data->below, &got);
    if (!p)
        return got;
    memcpy(buf, p, (size_t)got);
    data->bytes += got;
    data->lines += (int64_t)asf_scan_count(buf, '\n', (size_t)got);
    asf_sfree(data->below, p);
    return got;
}

struct asf_cios *open_count(struct count *data, int *error) {
    static const struct asf_stream_ops ops = {
        .size = sizeof ops, .version = ASF_STREAM_VERSION, .name = "count", .get = count_get};
    return asf_sopen_with(&ops, data, O_RDONLY, error);
}
