/* SPDX-License-Identifier: MIT
 *
 * totals.c - reads a table of counts and prices, and writes each row with the product of both.
 */
#include <asf/numbers.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000 };

/* Returns 0, or something below 0 if any of the calls failed. */
static int write_row(struct asf_cios *out, int64_t count, double price) {
    int failed = asf_put_int(out, count);
    failed |= asf_put_text(out, "\t", 1);
    failed |= asf_put_double(out, price);
    failed |= asf_put_text(out, "\t", 1);
    failed |= asf_put_double(out, (double)count * price);
    return failed | asf_put_text(out, "\n", 1);
}

int main(void) {
    static int64_t counts[ROWS];
    static double prices[ROWS];
    const struct asf_column columns[] = {{0, ASF_INT64, counts}, {1, ASF_DOUBLE, prices}};
    struct asf_cios *in = asf_sopen_fd(0, O_RDONLY, NULL), *out = asf_sopen_fd(1, O_WRONLY, NULL);
    int64_t n = -1;
    if (!in || !out) {
        fputs("totals: standard input or output is closed, or memory is short\n", stderr);
        return EXIT_FAILURE;
    }
    int64_t rows = 0;
    int failed = 0;
    for (; (n = asf_get_columns(in, '\t', columns, 2, ROWS)) > 0; rows += n)
        for (int64_t i = 0; i < n; i++)
            failed |= write_row(out, counts[i], prices[i]);
    failed |= asf_sclose(out); /* puts the rest */
    if (failed)
        fputs("totals: standard output could not be written\n", stderr);
    if (n < 0)
        fprintf(stderr, "totals: standard input: row %" PRId64 ": %s\n", rows + 1, asf_error_text((int)n));
    return n < 0 || failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
