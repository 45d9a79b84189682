/* SPDX-License-Identifier: MIT
 *
 * golden_writer.c - writes the golden records to standard output in this machine's layout. The record
 * interface is compiled for another machine, with simple versions of the few ASI calls that it needs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

static void *region;
static size_t region_length;

void *asf_Salloc(struct asf_cios *stream, enum asf_mode mode, ssize_t *length) {
    (void)stream;
    (void)mode;
    region = calloc(1, (size_t)*length);
    region_length = (size_t)*length;
    return region;
}

int asf_sfree(struct asf_cios *stream, void *ptr) {
    (void)stream;
    int rc = fwrite(ptr, 1, region_length, stdout) == region_length ? 0 : -1;
    free(region);
    return rc;
}

void *asf_srealloc(struct asf_cios *stream, void *ptr, ssize_t *newlen) {
    (void)stream;
    region_length = (size_t)*newlen;
    return ptr;
}

const char *asf_error_text(int error) {
    return strerror(-error);
}

int main(void) {
    struct asf_record_options options = {.size = sizeof options, .indexed = 1};
    struct asf_record_format *format;
    struct asf_record_writer *writer;
    if (asf_record_declare(&golden_type, &format) != 0 ||
        asf_record_writer_new(NULL, &options, &writer) != 0) {
        fprintf(stderr, "%s\n", asf_record_why());
        return 1;
    }
    for (int i = 0; i < GOLDEN_RECORDS; i++) {
        struct golden g = golden_record(i);
        if (asf_record_write(writer, format, &g) != 0) {
            fprintf(stderr, "%s\n", asf_record_why());
            return 1;
        }
    }
    asf_record_format_free(format);
    return asf_record_writer_close(writer) != 0 || fflush(stdout) != 0;
}
