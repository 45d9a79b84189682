/* SPDX-License-Identifier: MIT
 *
 * count_matches.c - counts the lines of a file in which a string occurs, as grep -cF does; -j N: by N
 * threads.
 */
#define _GNU_SOURCE
#include <asf/lines.h>
#include <asf/parts.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct search {
    const char *string;
    size_t length;
    atomic_long found;
};

static int count(struct asf_cios *in, const struct asf_part *part, void *argument) {
    struct search *search = argument;
    struct asf_lines lines;
    const char *line;
    long found = 0;
    ssize_t n;
    (void)part;
    asf_lines_begin(&lines, in, '\n', SSIZE_MAX); /* lines of any length */
    while ((line = asf_lines_next(&lines, &n)))
        found += memmem(line, (size_t)n, search->string, search->length) != NULL;
    int rc = asf_lines_end(&lines);
    atomic_fetch_add(&search->found, found);
    return n < 0 ? (int)n : rc;
}

int main(int argc, char **argv) {
    unsigned threads = 1;
    int option;
    while ((option = getopt(argc, argv, "j:")) == 'j')
        threads = (unsigned)strtoul(optarg, NULL, 10);
    if (option != -1 || argc - optind != 2) {
        fputs("usage: count_matches [-j N] STRING FILE\n", stderr);
        return EXIT_FAILURE;
    }
    struct search search = {.string = argv[optind], .length = strlen(argv[optind])};
    int error = asf_each_part(argv[optind + 1], NULL, threads, count, NULL, &search);
    if (error) {
        fprintf(stderr, "count_matches: %s: %s\n", argv[optind + 1], strerror(-error));
        return EXIT_FAILURE;
    }
    printf("%ld\n", search.found);
    return EXIT_SUCCESS;
}
