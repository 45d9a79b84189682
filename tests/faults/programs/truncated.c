/* SPDX-License-Identifier: MIT
 *
 * truncated.c - reads a file that is truncated meanwhile.
 *
 *     truncated CALL FILE FIRST KEEP [AGAIN]
 *
 * FILE contains the numbered text of emit.h. The program reads FIRST bytes by the stdio call, truncates
 * the file to KEEP bytes (and extends it with zeros to AGAIN), and reads the rest. The length of the
 * read-ahead may differ between libraries. But each byte must be the file's, up to its new end, and end of
 * file follows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "../../filters/programs/emit.h"

/* Reads up to n bytes by the named call; 0 at the end. */
static size_t take(FILE *file, const char *call, size_t piece, char *to, size_t n) {
    static char *line;
    static size_t size;
    if (piece > n)
        piece = n;
    if (!strcmp(call, "fread"))
        return fread(to, 1, piece, file);
    if (!strcmp(call, "fgets"))
        return fgets(to, (int)piece + 1, file) ? strlen(to) : 0;
    if (!strcmp(call, "getline")) {
        ssize_t got = getline(&line, &size, file);
        if (got > 0)
            memcpy(to, line, (size_t)got);
        return got > 0 ? (size_t)got : 0;
    }
    if (!strcmp(call, "chars") || !strcmp(call, "set")) {
        char format[40];
        int got = 0;
        sprintf(format, !strcmp(call, "set") ? "%%%zu[^\1]%%n" : "%%%zuc%%n", piece);
        return fscanf(file, format, to, &got) == 1 ? (size_t)got : 0;
    }
    int c = !strcmp(call, "getc") ? getc(file) : !strcmp(call, "fgetc") ? fgetc(file) : getc_unlocked(file);
    *to = (char)c;
    return c != EOF;
}

int main(int count, char **arguments) {
    char call[32], *data = calloc(1, 32 << 20);
    size_t piece = 8, total = 0, got, wrong = 0;
    if (count < 5 || !data || sscanf(arguments[1], "%31[^:]:%zu", call, &piece) < 1)
        return 9;
    size_t first = (size_t)atol(arguments[3]), keep = (size_t)atol(arguments[4]);
    size_t again = count > 5 ? (size_t)atol(arguments[5]) : 0;
    FILE *file = fopen(arguments[2], "r");
    while (file && total < first && (got = take(file, call, piece, data + total, first - total)) > 0)
        total += got;
    if (truncate(arguments[2], (off_t)keep) || (again && truncate(arguments[2], (off_t)again)))
        return 9;
    while ((got = take(file, call, piece, data + total, (32 << 20) - total - 1)) > 0)
        total += got;
    while (wrong < total && (data[wrong] == emit_byte(wrong) || (again && wrong >= keep && !data[wrong])))
        wrong++;
    if (wrong < total)
        printf("wrong byte %d at %zu of %zu\n", data[wrong], wrong, total);
    printf("%s: first %zu, then cut to %zu: %s, %s, %s%s\n", arguments[1], first, keep,
           wrong < total ? "wrong" : "right bytes", total < keep ? "some missing" : "none missing",
           feof(file) ? "eof" : "", ferror(file) ? "error" : "");
    return fclose(file);
}
