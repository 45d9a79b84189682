/* SPDX-License-Identifier: MIT
 *
 * musl_lines.c - reads the lines of a file by musl's getline, since musl-gcc compiles it.  Prints the CPU
 * nanoseconds that a pass took, the lines and the sum of their lengths.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    unsigned long long lines = 0, sum = 0;
    long long start = cpu_now();
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file)
        return 1;
    while ((n = getline(&line, &room, file)) > 0) {
        lines++;
        sum += (unsigned long long)(n - (line[n - 1] == '\n'));
    }
    fclose(file);
    printf("%lld %llu %llu\n", cpu_now() - start, lines, sum);
    free(line);
    return 0;
}
