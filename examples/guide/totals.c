/* SPDX-License-Identifier: MIT
 *
 * totals.c - a table with a count and a price on each line: adds their product, and writes all three.
 */
#include <asf/numbers.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000 };

static int write_row(struct asf_cios *out, int64_t count, double price) {
    asf_put_int(out, count);
    asf_put_text(out, "\t", 1);
    asf_put_double(out, price);
    asf_put_text(out, "\t", 1);
    asf_put_double(out, (double)count * price);
    return asf_put_text(out, "\n", 1);
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
    while ((n = asf_scan_columns(in, '\t', columns, 2, ROWS)) > 0)
        for (int64_t i = 0; i < n; i++)
            write_row(out, counts[i], prices[i]);
    int error = asf_sclose(out); /* tells of every write that failed */
    if (n < 0 || error < 0) {
        fprintf(stderr, "totals: standard %s: %s\n", n < 0 ? "input" : "output",
                strerror((int)-(n < 0 ? n : error)));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
