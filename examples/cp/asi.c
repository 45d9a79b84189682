/* SPDX-License-Identifier: MIT
 *
 * asi.c - cp on the Alloc Stream Interface: from the input's own buffer into
 * the output's, with no buffer of the program's between.
 */
#include <asf/asf.h>
#include <fcntl.h>
#include <string.h>

#include "cp.h"
#include "examples/common/streams.h"

enum { REGION = 128 << 10 };

/* returns  0 or a negated errno value. */
static int put(struct asf_cios *out, const char *p, size_t n) {
    ssize_t length = (ssize_t)n;
    char *region = asf_salloc(out, &length);
    if (!region)
        return (int)length;
    memcpy(region, p, n);
    return asf_sfree(out, region);
}

static bool copy(struct asf_cios *in, struct cp_file from, struct asf_cios *out, struct cp_file to) {
    ssize_t length = REGION;
    for (char *region; (region = asf_salloc_some(in, &length)); length = REGION) {
        int write_error = put(out, region, (size_t)length);
        int read_error = asf_sfree(in, region);
        if (write_error)
            return cp_write_failed(to, -write_error);
        if (read_error)
            return cp_read_failed(from, -read_error);
    }
    return length == 0 || cp_read_failed(from, (int)-length);
}

bool cp_contents(struct cp_file from, struct cp_file to) {
    int read_error = 0, write_error = 0;
    struct asf_cios *in = stream_on(from.fd, O_RDONLY, &read_error);
    struct asf_cios *out = stream_on(to.fd, O_WRONLY, &write_error);
    bool ok = in && out && copy(in, from, out, to);
    if (!in)
        cp_read_failed(from, -read_error);
    else
        asf_sclose(in);
    if (out)
        write_error = asf_sclose(out);
    if (write_error && (ok || !out))
        ok = cp_write_failed(to, -write_error);
    return ok;
}
