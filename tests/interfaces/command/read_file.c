/* SPDX-License-Identifier: MIT
 *
 * read_file.c - a program that reads a file by fopen, fread and fclose, and prints how many bytes it has.
 */
#include <stdio.h>

int main(int argc, char **argv) {
    char block[4096];
    size_t all = 0, n;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file)
        return 1;
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        all += n;
    printf("%zu\n", all);
    return fclose(file) != 0;
}
