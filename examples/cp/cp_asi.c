/* SPDX-License-Identifier: MIT
 *
 * cp_asi.c - cp on the Alloc Stream Interface: asf_copy copies from stream to stream; the program has no
 * buffer.
 */
#include <asf/asf.h>
#include <fcntl.h>

#include "cp.h"
#include "examples/common/whole_lines.h"

static bool copy(struct asf_cios *in, struct cp_file from, struct asf_cios *out, struct cp_file to) {
    int64_t n = asf_copy(in, out, INT64_MAX);
    int write_error = asf_sflush(out);
    if (write_error)
        return cp_write_failed(to, -write_error);
    return n >= 0 || cp_read_failed(from, (int)-n);
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
