/* SPDX-License-Identifier: MIT
 *
 * errors_plain.c - counts the lines of standard input that begin with ERROR, by getline.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    long errors = 0;
    while ((n = getline(&line, &size, stdin)) > 0)
        errors += n >= 5 && memcmp(line, "ERROR", 5) == 0;
    if (!feof(stdin)) {
        perror("errors: standard input");
        return EXIT_FAILURE;
    }
    printf("%ld\n", errors);
    free(line);
    return EXIT_SUCCESS;
}
