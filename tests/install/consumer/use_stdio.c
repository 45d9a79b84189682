/* SPDX-License-Identifier: MIT
 *
 * use_stdio.c FILE - uses stdio, relinked with asf: the FILE must be asf's, and stdio and the ASI must use
 * the same stream.
 */
#include <asf/asf.h>
#include <stdio.h>

static int fill(const char *path) {
    FILE *out = fopen(path, "w");
    return !out || !asf_stream(out) || fprintf(out, "%s and %d\n", "one", 2) != 10 || fclose(out);
}

static int show(const char *path) {
    char word[5] = "";
    FILE *in = fopen(path, "r");
    if (!in || !asf_stream(in) || fread(word, 1, 4, in) != 4)
        return 1;
    ssize_t n = 100;
    char *rest = (char *)asf_salloc(asf_stream(in), &n);
    if (!rest || n != 6)
        return 1;
    printf("%s%.*s", word, (int)n, rest);
    return asf_sfree(asf_stream(in), rest) || fclose(in);
}

int main(int argc, char **argv) {
    if (argc != 2 || !asf_stream(stdout) || fill(argv[1]) || show(argv[1]))
        return 1;
    printf("asf %s\n", asf_version());
    return 0;
}
