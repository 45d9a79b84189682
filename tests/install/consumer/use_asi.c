/* SPDX-License-Identifier: MIT
 *
 * use_asi.c FILE - writes a line by the ASI's names in the paper, reads it back, prints it. A user's
 * program: it uses only the installed header and library.
 */
#define ASF_SHORT_NAMES
#include <asf/asf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const char line[] = "written by salloc\n";

static int fill(const char *path) {
    struct asf_cios *out = sopen(path, O_WRONLY | O_CREAT | O_TRUNC, 0600, NULL);
    ssize_t n = (ssize_t)strlen(line);
    char *region = out ? (char *)salloc(out, &n) : NULL;
    if (!region)
        return 1;
    memcpy(region, line, strlen(line));
    return sfree(out, region) || sclose(out);
}

static int show(const char *path) {
    struct asf_cios *in = sopen(path, O_RDONLY, 0, NULL);
    ssize_t n = 1000;
    char *region = in ? (char *)salloc(in, &n) : NULL;
    if (!region || n != (ssize_t)strlen(line))
        return 1;
    fwrite(region, 1, (size_t)n, stdout);
    return sfree(in, region) || sclose(in);
}

int main(int argc, char **argv) {
    if (argc != 2 || fill(argv[1]) || show(argv[1]))
        return 1;
    printf("asf %s\n", asf_version());
    return 0;
}
