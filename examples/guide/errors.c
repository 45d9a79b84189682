/* SPDX-License-Identifier: MIT
 *
 * errors.c - counts the lines of standard input that begin with ERROR, by asf_lines: the lines are read in
 * place, and nothing is copied.
 */
#include <asf/lines.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    struct asf_cios *in = asf_sopen_fd(0, O_RDONLY, NULL);
    struct asf_lines lines;
    const char *line;
    ssize_t n;
    long errors = 0;
    if (!in) {
        fputs("errors: standard input: it is closed, or memory is short\n", stderr);
        return EXIT_FAILURE;
    }
    asf_lines_begin(&lines, in, '\n', 0);
    while ((line = asf_lines_next(&lines, &n)))
        errors += n >= 5 && memcmp(line, "ERROR", 5) == 0;
    if (n == 0)
        n = asf_lines_end(&lines); /* whether the file was cut off meanwhile */
    if (n < 0) {
        fprintf(stderr, "errors: standard input: %s\n", asf_error_text((int)n));
        return EXIT_FAILURE;
    }
    printf("%ld\n", errors);
    return EXIT_SUCCESS;
}
