/* SPDX-License-Identifier: MIT
 *
 * errors_threads.c - counts the lines of a log that begin with ERROR, with one thread for each processor.
 */
#include <asf/lines.h>
#include <asf/parts.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count(struct asf_cios *in, const struct asf_part *part, void *total) {
    struct asf_lines lines;
    const char *line;
    long errors = 0;
    ssize_t n;
    (void)part;
    asf_lines_begin(&lines, in, '\n', 0);
    while ((line = asf_lines_next(&lines, &n)))
        errors += n >= 5 && memcmp(line, "ERROR", 5) == 0;
    if (n == 0)
        n = asf_lines_end(&lines);
    atomic_fetch_add((atomic_long *)total, errors);
    return (int)n;
}

int main(int argc, char **argv) {
    atomic_long errors = 0;
    if (argc != 2) {
        fputs("usage: errors_threads FILE\n", stderr);
        return EXIT_FAILURE;
    }
    int error = asf_each_part(argv[1], NULL, 0, count, NULL, &errors);
    if (error) {
        fprintf(stderr, "errors_threads: %s: %s\n", argv[1], asf_error_text(error));
        return EXIT_FAILURE;
    }
    printf("%ld\n", errors);
    return EXIT_SUCCESS;
}
