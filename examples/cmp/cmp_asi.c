/* SPDX-License-Identifier: MIT
 *
 * cmp_asi.c - cmp on the Alloc Stream Interface: compares the bytes in the streams' buffers with the scanning
 * kernels of <asf/scan.h>.
 */
#include <asf/asf.h>
#include <asf/scan.h>
#include <fcntl.h>

#include "cmp.h"

/* Small enough that a block is still in the cache when its newlines are counted. */
enum { REGION = 256 << 10 };

struct side {
    struct asf_cios *stream;
    char *region;
    ssize_t length;
};

size_t cmp_difference(const char *a, const char *b, size_t n) {
    return asf_scan_differ(a, b, n);
}

size_t cmp_newlines(const char *p, size_t n) {
    return asf_scan_count(p, '\n', n);
}

static void open_side(struct side *side, const struct cmp_file *file) {
    int error;
    side->stream = asf_sopen_fd(file->fd, O_RDONLY, &error);
    if (!side->stream)
        cmp_failed(file, -error);
}

/* Allocate the next region, of at most `want` bytes; NULL at the end of the file. */
static void take(struct side *side, const struct cmp_file *file, size_t want) {
    side->length = (ssize_t)want;
    side->region = asf_salloc_some(side->stream, &side->length);
    if (!side->region && side->length < 0)
        cmp_failed(file, (int)-side->length);
}

/* Shorten a region to n bytes.  The remaining bytes stay in the stream. */
static void keep(struct side *side, const struct cmp_file *file, ssize_t n) {
    if (side->length == n)
        return;
    side->length = n;
    side->region = asf_srealloc(side->stream, side->region, &side->length);
    if (!side->region)
        cmp_failed(file, (int)-side->length);
}

static void give_back(struct side *side, const struct cmp_file *file) {
    int error = side->region ? asf_sfree(side->stream, side->region) : 0;
    if (error)
        cmp_failed(file, -error);
}

static void skip(struct side *side, struct cmp_file *file) {
    while (file->skip > 0) {
        take(side, file, file->skip < REGION ? (size_t)file->skip : REGION);
        file->skip = side->region ? file->skip - side->length : 0;
        give_back(side, file);
    }
}

/* Compare the next region of each file.  returns  whether to compare more. */
static bool compare_next(struct side sides[2], struct cmp_file files[2]) {
    size_t want = cmp_want(REGION);
    if (want == 0)
        return false;
    take(&sides[0], &files[0], want);
    take(&sides[1], &files[1], sides[0].region ? (size_t)sides[0].length : 1);
    bool both = sides[0].region && sides[1].region;
    if (both)
        keep(&sides[0], &files[0], sides[1].length);
    bool more = both && cmp_blocks(sides[0].region, sides[1].region, (size_t)sides[1].length);
    if (!both && sides[0].region != sides[1].region)
        cmp_ended(sides[0].region != NULL);
    give_back(&sides[0], &files[0]);
    give_back(&sides[1], &files[1]);
    return more;
}

void cmp_files(struct cmp_file files[2]) {
    struct side sides[2];
    for (int which = 0; which < 2; which++) {
        open_side(&sides[which], &files[which]);
        skip(&sides[which], &files[which]);
    }
    while (compare_next(sides, files))
        continue;
    for (int which = 0; which < 2; which++) {
        int error = asf_sclose(sides[which].stream);
        if (error)
            cmp_failed(&files[which], -error);
    }
}
