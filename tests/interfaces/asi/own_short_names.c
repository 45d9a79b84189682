/* SPDX-License-Identifier: MIT
 *
 * own_short_names.c - a program that defines its own functions with the paper's names, and calls the
 * library's by their prefix.
 */
#undef ASF_SHORT_NAMES /* the compiler options of the tests define it */
#include <asf/asf.h>
#include <asf/lines.h>
#include <asf/numbers.h>
#include <asf/parts.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *sopen;
    size_t sflush;
};

static char *salloc(size_t length) {
    return malloc(length + 1);
}

static void sfree(char *text) {
    free(text);
}

static size_t srealloc(struct text *text, int set_stream_mode) {
    text->sopen = realloc(text->sopen, (size_t)set_stream_mode);
    return text->sflush = (size_t)set_stream_mode;
}

/* Reads the beginning of a file. */
static int read_by_prefix(const char *path, char *own, size_t length) {
    struct asf_cios *in = asf_sopen(path, O_RDONLY, 0, NULL);
    ssize_t n = (ssize_t)length;
    void *region = in ? asf_salloc(in, &n) : NULL;
    if (!region || n != (ssize_t)length)
        return 1;
    memcpy(own, region, length);
    return asf_sfree(in, region) || asf_sclose(in);
}

int main(int argc, char **argv) {
    struct text text = {.sopen = salloc(4), .sflush = 4};
    int rc = argc != 1 || srealloc(&text, 8) != 8 || !text.sopen || read_by_prefix(argv[0], text.sopen, 4) ||
             memcmp(text.sopen, "\177ELF", 4);
    sfree(text.sopen);
    return rc;
}
