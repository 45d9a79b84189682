/* SPDX-License-Identifier: MIT
 *
 * counting_wrappers.c - a library to preload, as a tracer's: it counts the calls of fopen, fread and
 * fclose on their way to the next definition, and prints the counts on stderr at exit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static int opened, read_from, closed;

FILE *fopen(const char *restrict path, const char *restrict mode) {
    opened++;
    return NEXT(fopen)(path, mode);
}

size_t fread(void *restrict to, size_t size, size_t n, FILE *restrict file) {
    read_from++;
    return NEXT(fread)(to, size, n, file);
}

int fclose(FILE *file) {
    closed++;
    return NEXT(fclose)(file);
}

__attribute__((destructor)) static void print_counts(void) {
    char text[100];
    snprintf(text, sizeof text, "%d %d %d\n", opened, read_from, closed);
    if (opened && write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(1);
}
