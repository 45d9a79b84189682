/* SPDX-License-Identifier: MIT
 *
 * ring_stdio_end.c - a stdio program for either end of a pipeline:
 *   ring_stdio_end write WAY MEGABYTES     ring_stdio_end read WAY
 * WAY: block (fwrite and fread of 4096 bytes, every word accessed), lines (fputs and fgets), chars (putc and
 * getc, unlocked).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t words[512];

static void write_all(const char *way, unsigned long bytes) {
    uint64_t next = 0;
    for (unsigned long done = 0; done < bytes;) {
        if (way[0] == 'b') {
            for (int i = 0; i < 512; i++)
                words[i] = next++;
            done += fwrite(words, 1, sizeof words, stdout);
        } else if (way[0] == 'l') {
            fputs("a line of text as programs write it, some sixty bytes long\n", stdout);
            done += 59;
        } else {
            putc_unlocked((int)('a' + done++ % 26), stdout);
        }
    }
}

static uint64_t read_all(const char *way) {
    char line[256];
    uint64_t sum = 0;
    size_t n;
    if (way[0] == 'b')
        while ((n = fread(words, 8, 512, stdin)) > 0)
            for (size_t i = 0; i < n; i++)
                sum += words[i];
    else if (way[0] == 'l')
        while (fgets(line, sizeof line, stdin))
            sum += strlen(line);
    else
        for (int c; (c = getc_unlocked(stdin)) != EOF;)
            sum += (uint64_t)c;
    return sum;
}

int main(int argc, char **argv) {
    if (argc == 4)
        write_all(argv[2], strtoul(argv[3], NULL, 10) << 20);
    else if (argc == 3)
        printf("%llu\n", (unsigned long long)read_all(argv[2]));
    return fflush(stdout) ? 1 : 0;
}
