/* SPDX-License-Identifier: MIT
 *
 * stack.c - streams on streams: stack [FILE [COPY]] writes FILE, decoded if it is compressed, to standard
 * output and to COPY, and prints the number of bytes and lines to stderr.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <asf/decode.h>

#include "stack.h"

static int fail(const char *what, int64_t error) {
    fprintf(stderr, "stack: %s: %s\n", what, asf_error_text((int)error));
    return 1;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "/dev/stdin", *copy = argc > 2 ? argv[2] : "/dev/null";
    int error = 0, ended[5];
    struct asf_cios *file = asf_sopen(name, O_RDONLY, 0, &error);
    struct asf_cios *plain = file ? asf_decode(file, &error) : NULL;
    if (!plain)
        return fail(name, error);
    struct tee tee = {.below = plain, .copy = asf_sopen(copy, O_WRONLY | O_CREAT | O_TRUNC, 0666, &error)};
    struct count count = {.below = tee.copy ? open_tee(&tee, &error) : NULL};
    struct asf_cios *in = count.below ? open_count(&count, &error) : NULL;
    struct asf_cios *out = in ? asf_sopen_fd(1, O_WRONLY, &error) : NULL;
    if (!out)
        return fail(copy, error);
    int64_t n = asf_copy(in, out, INT64_MAX);
    if (n < 0)
        return fail(name, n);
    ended[0] = asf_sclose(out);
    ended[1] = asf_sclose(in);
    ended[2] = asf_sclose(count.below);
    ended[3] = asf_sclose(tee.copy);
    ended[4] = asf_sclose(plain); /* closes `file`, too */
    for (int i = 0; i < 5; i++)
        if (ended[i] < 0)
            return fail("close", ended[i]);
    fprintf(stderr, "%" PRId64 " bytes, %" PRId64 " lines\n", count.bytes, count.lines);
    return 0;
}
