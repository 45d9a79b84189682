/* SPDX-License-Identifier: MIT
 *
 * input.c - fill a read window that has no more bytes: the slow path of getc and the other input calls.
 */
#include "interfaces/stdio/stdio_cios.h"

#include "lib/sys/guard.h"

static void flush_stdout_before_input(void *arg) {
    struct asf_cios *out = arg;
    asf__enter(out);
    if (out->write_ptr > out->write_base || (asf__is_wide(out) && asf__wide_pending(out) > 0))
        asf__put_char(out, EOF);
    asf__leave(out);
}

void asf__flush_stdout_before(struct asf_cios *reader) {
    enum { TESTED_FLAGS = ASF_LINKED | ASF_NO_WRITES | ASF_LINE_BUF };
    struct asf_cios *out = asf__cios(stdout);
    if (!ASF_LIBC(input_flushes_stdout) || !out || (out->flags & TESTED_FLAGS) != (ASF_LINKED | ASF_LINE_BUF))
        return;
    if (out == reader || __libc_single_threaded)
        flush_stdout_before_input(out);
    else
        asf__guarded(flush_stdout_before_input, out, asf__cancelled, reader);
}

bool asf__before_input(struct asf_cios *c) {
    if (asf__has_ended(c))
        return false;
    if (c->flags & (ASF_LINE_BUF | ASF_UNBUFFERED))
        asf__flush_stdout_before(c);
    return true;
}

static int fail_input(struct asf_cios *c, int code) {
    if (asf__is_putting(c) && !(c->flags & ASF_NO_READS)) /* a failed write has set the error flag already */
        return asf__output_error(code);
    return asf__error(c, asf__reported_error(c, code, ASF_NO_READS));
}

int asf__underflow(struct asf_cios *c) {
    if (!asf__orient_to_bytes(c))
        return EOF;
    if (!asf__ours(c))
        return asf__avail(c) > 0 || asf__other_underflow(c) != EOF ? 0 : EOF;
    ssize_t n = asf__fill(c, 1, asf__before_input);
    if (n > 0)
        return 0;
    if (n < 0)
        return fail_input(c, (int)n);
    c->flags |= ASF_EOF;
    if (c->stats.in == 0 || c->kind != ASF_REGULAR)
        c->flags2 &= ~ASF_FOLLOWS; /* as in glibc: m has no effect on a file that is empty at first */
    return EOF;
}
