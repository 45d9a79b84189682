/* SPDX-License-Identifier: MIT
 *
 * diff_asi.c - diff's I/O on the Alloc Stream Interface: a file is one region of its stream, and is compared
 * and printed in place.
 */
#include <asf/asf.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "diff.h"

enum { LEAST_REGION = 64 * 1024 };

static const char nothing[1];

int text_read(struct text *text, int fd, size_t size) {
    int error;
    *text = (struct text){.data = nothing};
    struct asf_cios *stream = text->source = asf_sopen_fd(fd, O_RDONLY, &error);
    if (!stream)
        return -error;
    /* If the region is shorter than requested, the file ends there. */
    ssize_t asked = (ssize_t)size < LEAST_REGION ? LEAST_REGION : (ssize_t)size + 1, length = asked;
    const char *region = asf_u_salloc(stream, &length);
    while (region && length == asked) {
        text->data = region;
        length = asked *= 2;
        region = asf_u_srealloc(stream, (void *)region, &length);
    }
    if (!region)
        return (int)-length;
    text->data = region;
    text->size = (size_t)length;
    return 0;
}

int text_free(struct text *text) {
    int error = 0;
    if (!text->source)
        return 0;
    if (text->data != nothing)
        error = asf_u_sfree(text->source, (void *)text->data);
    asf_sclose(text->source);
    return -error;
}

/* The output stream, and the region that is being filled. */
static struct asf_cios *output;
static char *region;
static size_t region_used, region_size;

static void check_output(ssize_t code) {
    if (code < 0)
        error(EXIT_TROUBLE, (int)-code, "standard output");
}

static void open_output(void) {
    int error = 0, flags = fcntl(STDOUT_FILENO, F_GETFL);
    output = asf_sopen_fd(STDOUT_FILENO, flags < 0 ? O_WRONLY : (flags & ~O_ACCMODE) | O_WRONLY, &error);
    check_output(error);
}

static void free_region(void) {
    ssize_t length = (ssize_t)region_used;
    if (!region)
        return;
    region = asf_u_srealloc(output, region, &length);
    check_output(length);
    check_output(asf_u_sfree(output, region));
    region = NULL;
    region_size = region_used = 0;
}

static void alloc_region(size_t least) {
    ssize_t length = least > LEAST_REGION ? (ssize_t)least : LEAST_REGION;
    free_region();
    if (!output)
        open_output();
    region = asf_u_salloc(output, &length);
    check_output(length);
    region_size = (size_t)length;
}

void text_write(const char *bytes, size_t n) {
    if (n > region_size - region_used)
        alloc_region(n);
    memcpy(region + region_used, bytes, n);
    region_used += n;
}

void text_flush(void) {
    free_region();
    if (output)
        check_output(asf_u_sflush(output));
}

void text_end(void) {
    free_region();
    if (output)
        check_output(asf_sclose(output));
}
