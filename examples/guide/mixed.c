/* SPDX-License-Identifier: MIT
 *
 * mixed.c - sums up columns of a table: stdio reads the heading, and the Alloc Stream Interface reads the
 * lines after it from the same stream.
 */
#include <asf/lines.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char head[100];
    struct asf_cios *in = asf_stream(stdin);
    if (!in || !fgets(head, sizeof head, stdin)) {
        fputs("mixed: standard input: there is no head, or asf_stdio is not linked\n", stderr);
        return EXIT_FAILURE;
    }
    struct asf_lines lines;
    const char *line;
    ssize_t n;
    double sum = 0;
    asf_lines_begin(&lines, in, '\n', 0);
    while ((line = asf_lines_next(&lines, &n)))
        sum += strtod(line, NULL); /* stops at the newline, which is there */
    asf_lines_end(&lines);
    printf("%s%.3f\n", head, sum);
    return n < 0;
}
