/* SPDX-License-Identifier: MIT
 *
 * parts.c - files cut into parts, and streams on parts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/asi/parts.h"
#include "lib/sys/syscalls.h"
#include "streams/streams.h"

enum { USUAL_PART = 16 << 20, LEAST_PART = 1 << 20, FIRST_LOOK = 4 << 10, FURTHER_LOOK = 64 << 10 };

/* --- cutting ------------------------------------------------------------------------------ */

static ssize_t read_at(int fd, void *to, size_t n, int64_t offset) {
    ssize_t r;
    do
        r = asf__sys.pread(fd, to, n, offset);
    while (r == -EINTR);
    return r;
}

/* The offset behind the first delimiter at or after `from`; the size if there is none. */
static int64_t find_end(int fd, int64_t from, int64_t size, int delimiter, char *block) {
    for (size_t look = FIRST_LOOK; from < size; look = FURTHER_LOOK) {
        ssize_t n = read_at(fd, block, look, from);
        if (n < 0)
            return n;
        if (n == 0) /* the file was truncated */
            return -EIO;
        const char *found = memchr(block, delimiter, (size_t)n);
        if (found)
            return from + (found - block) + 1 < size ? from + (found - block) + 1 : size;
        from += n;
    }
    return size;
}

int64_t asf__line_end(int fd, int64_t from, int64_t size, int delimiter) {
    char *block = malloc(FURTHER_LOOK);
    int64_t end = block ? find_end(fd, from - 1, size, (unsigned char)delimiter, block) : -ENOMEM;
    free(block);
    return end;
}

/* Where the part that is to end near `offset` ends: there, if a line or record ends there. */
static int64_t end_near(int fd, const struct asf_cut *how, int64_t offset, int64_t size, char *block) {
    if (how->record)
        return offset - offset % how->record;
    return find_end(fd, offset - 1, size, (unsigned char)how->delimiter, block);
}

/* Cuts near each multiple of `step`.  returns  the number of parts, or an error. */
static ssize_t cut_at(int fd, const struct asf_cut *how, int64_t step, const struct asf_part *whole,
                      struct asf_part *parts) {
    char *block = malloc(FURTHER_LOOK);
    ssize_t count = 0;
    int64_t begin = 0;
    if (!block)
        return -ENOMEM;
    for (int64_t near = 0; begin < whole->size;) {
        near = step < whole->size - near ? near + step : whole->size;
        if (near <= begin) /* within a long line, or a record */
            continue;
        int64_t end = near < whole->size ? end_near(fd, how, near, whole->size, block) : whole->size;
        if (end < 0) {
            count = (ssize_t)end;
            break;
        }
        if (end <= begin)
            continue;
        parts[count] = *whole;
        parts[count].begin = begin;
        parts[count].end = begin = end;
        parts[count].index = count;
        count++;
    }
    free(block);
    return count;
}

static int64_t step_of(const struct asf_cut *how, int64_t least, int64_t size) {
    int64_t step = how->size;
    if (step == 0) {
        step = USUAL_PART;
        if (size / step < least)
            step = size / least > LEAST_PART ? size / least : LEAST_PART;
    }
    return how->record > step ? how->record : step;
}

static int64_t time_of(const struct stat64 *st) {
    return (int64_t)((uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec);
}

/* As files of /proc, which have no size. */
static bool has_more_than_its_size(int fd, const struct stat64 *st) {
    char byte;
    return st->st_size == 0 && read_at(fd, &byte, 1, 0) == 1;
}

static ssize_t as_one(struct asf_part **parts) {
    *parts = malloc(sizeof **parts);
    if (!*parts)
        return -ENOMEM;
    **parts = (struct asf_part){.end = -1, .count = 1, .delimiter = -1};
    return 1;
}

ssize_t asf__cut(int fd, const struct asf_cut *how, int64_t least, struct asf_part **parts) {
    static const struct asf_cut newlines = {.delimiter = '\n'};
    struct stat64 st;
    int rc = asf__fstat(fd, &st);
    if (!how)
        how = &newlines;
    if (rc < 0)
        return rc;
    if (how->record < 0 || how->size < 0)
        return -EINVAL;
    if (!S_ISREG(st.st_mode) || has_more_than_its_size(fd, &st))
        return as_one(parts);
    const int64_t step = step_of(how, least, st.st_size);
    const struct asf_part whole = {.size = st.st_size,
                                   .modified = time_of(&st),
                                   .inode = st.st_ino,
                                   .delimiter = how->record ? -1 : (unsigned char)how->delimiter};
    size_t bytes;
    bool fits = !__builtin_mul_overflow((size_t)(st.st_size / step + 1), sizeof **parts, &bytes);
    *parts = fits ? malloc(bytes) : NULL;
    ssize_t count = *parts ? cut_at(fd, how, step, &whole, *parts) : -ENOMEM;
    for (ssize_t i = 0; i < count; i++)
        (*parts)[i].count = count;
    if (count <= 0) {
        free(*parts);
        *parts = NULL;
    }
    return count;
}

ssize_t asf_parts(const char *path, const struct asf_cut *how, struct asf_part **parts) {
    struct statx st;
    int rc = asf__sys.statx(AT_FDCWD, path, 0, STATX_TYPE, &st);
    if (rc == 0 && !S_ISREG(st.stx_mode)) /* to open and close a pipe would end who writes into it */
        return as_one(parts);
    int fd = rc < 0 ? rc : asf__open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    ssize_t count = asf__cut(fd, how, 1, parts);
    asf__close(fd);
    return count;
}

/* --- streams on parts ------------------------------------------------------------------------ */

struct asf_cios *asf__open_part(int fd, bool own, const struct asf_part *part, const int *stop, int *error) {
    struct asf_cios *c = asf__open_range(fd, own, part->begin, part->end, stop);
    if (c)
        asf__cios_link(c);
    else if (own)
        asf__close(fd);
    if (error)
        *error = c ? 0 : -ENOMEM;
    return c;
}

/* Whether a delimiter is the last byte before `offset`, which is neither the file's beginning nor its end. */
static bool is_cut_there(int fd, const struct asf_part *part, int64_t offset) {
    char last;
    return part->delimiter < 0 || offset == 0 || offset == part->size ||
           (read_at(fd, &last, 1, offset - 1) == 1 && (unsigned char)last == part->delimiter);
}

/* returns  0, or -ESTALE.  A file that has grown has another time; then the bytes at the ends must do. */
static int check_part(int fd, const struct asf_part *part) {
    struct stat64 st;
    int rc = asf__fstat(fd, &st);
    if (rc < 0 || part->end < 0)
        return rc;
    if (st.st_ino == part->inode && st.st_size == part->size && time_of(&st) == part->modified)
        return 0;
    const bool may_have_grown = S_ISREG(st.st_mode) && st.st_ino == part->inode && st.st_size > part->size;
    return may_have_grown && is_cut_there(fd, part, part->begin) && is_cut_there(fd, part, part->end)
               ? 0
               : -ESTALE;
}

static bool is_part(const struct asf_part *p) {
    return p->end < 0 ? p->begin == 0 : p->begin >= 0 && p->begin <= p->end && p->end <= p->size;
}

struct asf_cios *asf_sopen_part(const char *path, const struct asf_part *part, int *error) {
    int fd = is_part(part) ? asf__open(path, O_RDONLY | O_CLOEXEC, 0) : -EINVAL;
    int rc = fd < 0 ? fd : check_part(fd, part);
    if (rc == 0)
        return asf__open_part(fd, true, part, NULL, error);
    if (fd >= 0)
        asf__close(fd);
    if (error)
        *error = rc;
    return NULL;
}
