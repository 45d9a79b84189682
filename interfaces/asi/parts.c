/* SPDX-License-Identifier: MIT
 *
 * parts.c - cut files into parts, and open streams on parts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <asf/decode.h>

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

/* The state of cutting a file. */
struct cutting {
    int fd;
    const struct asf_cut *how;
    struct asf_frame_cuts *frames; /* NULL if the file is not to be decoded */
    int64_t size;
    char block[FURTHER_LOOK];
};

/* Returns the offset after the first delimiter at or after `from`; the size if there is none; or an
 * error. */
static int64_t find_end(struct cutting *k, int64_t from) {
    for (size_t look = FIRST_LOOK; from < k->size; look = FURTHER_LOOK) {
        ssize_t n = read_at(k->fd, k->block, look, from);
        if (n < 0)
            return n;
        if (n == 0) /* the file was truncated */
            return -EIO;
        const char *found = memchr(k->block, (unsigned char)k->how->delimiter, (size_t)n);
        if (found)
            return from + (found - k->block) + 1 < k->size ? from + (found - k->block) + 1 : k->size;
        from += n;
    }
    return k->size;
}

/* Returns the end of the part that should end near `offset`: the first end of a line or frame there, or
 * the last end of a record. */
static int64_t end_near(struct cutting *k, int64_t offset) {
    if (offset == k->size)
        return offset;
    if (k->frames)
        return asf__frames_end_near(k->frames, offset);
    return k->how->record ? offset - offset % k->how->record : find_end(k, offset - 1);
}

/* Cuts near each multiple of `step`.  Returns the number of parts, or an error. */
static ssize_t cut_at(struct cutting *k, int64_t step, const struct asf_part *whole, struct asf_part *parts) {
    ssize_t count = 0;
    int64_t begin = 0;
    for (int64_t near = 0; begin < k->size;) {
        near = step < k->size - near ? near + step : k->size;
        if (near <= begin) /* the previous part ends after this multiple */
            continue;
        int64_t end = end_near(k, near);
        if (end < 0)
            return (ssize_t)end;
        if (end <= begin)
            continue;
        parts[count] = *whole;
        parts[count].begin = begin;
        parts[count].end = begin = end;
        parts[count].index = count;
        if (k->frames)
            asf__note_frames(k->frames, &parts[count]);
        count++;
    }
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

/* Whether the file has bytes although its size is 0, as files of /proc. */
static bool has_more_than_its_size(int fd, const struct stat64 *st) {
    char byte;
    return st->st_size == 0 && read_at(fd, &byte, 1, 0) == 1;
}

static ssize_t as_one(const struct asf_cut *how, struct asf_part **parts) {
    *parts = malloc(sizeof **parts);
    if (!*parts)
        return -ENOMEM;
    const int32_t form = how && how->decode ? ASF_PART_WHOLE : ASF_PART_PLAIN;
    **parts = (struct asf_part){.end = -1, .count = 1, .delimiter = -1, .form = form};
    return 1;
}

static struct asf_part *room_for(int64_t count) {
    size_t bytes;
    return __builtin_mul_overflow((size_t)count, sizeof(struct asf_part), &bytes) ? NULL : malloc(bytes);
}

static ssize_t cut_file(struct cutting *k, int64_t least, const struct stat64 *st, struct asf_part **parts) {
    const int64_t step = step_of(k->how, least, st->st_size);
    const struct asf_part whole = {.size = st->st_size,
                                   .modified = time_of(st),
                                   .inode = st->st_ino,
                                   .delimiter = k->how->record ? -1 : (unsigned char)k->how->delimiter,
                                   .form = k->frames ? ASF_PART_FRAMES : ASF_PART_PLAIN};
    *parts = room_for(st->st_size / step + 1);
    ssize_t count = *parts ? cut_at(k, step, &whole, *parts) : -ENOMEM;
    for (ssize_t i = 0; i < count; i++)
        (*parts)[i].count = count;
    if (k->frames && count == 1)
        (*parts)->form = ASF_PART_WHOLE;
    if (count <= 0) {
        free(*parts);
        *parts = NULL;
    }
    return count;
}

static ssize_t cut_regular(int fd, const struct asf_cut *how, int64_t least, const struct stat64 *st,
                           struct asf_part **parts) {
    struct cutting *k = malloc(sizeof *k);
    if (!k)
        return -ENOMEM;
    k->fd = fd;
    k->how = how;
    k->frames = NULL;
    k->size = st->st_size;
    int rc = how->decode ? asf__cut_frames(fd, how, k->size, &k->frames) : 0;
    ssize_t count = rc < 0 ? rc : cut_file(k, least, st, parts);
    asf__cut_frames_end(k->frames);
    free(k);
    return count;
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
        return as_one(how, parts);
    return cut_regular(fd, how, least, &st, parts);
}

ssize_t asf_parts(const char *path, const struct asf_cut *how, struct asf_part **parts) {
    struct statx st;
    int rc = asf__sys.statx(AT_FDCWD, path, 0, STATX_TYPE, &st);
    if (rc == 0 && !S_ISREG(st.stx_mode)) /* opening and closing a FIFO would end its writer with SIGPIPE */
        return as_one(how, parts);
    int fd = rc < 0 ? rc : asf__open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    ssize_t count = asf__cut(fd, how, 1, parts);
    asf__close(fd);
    return count;
}

/* --- streams on parts ------------------------------------------------------------------------ */

static struct asf_cios *open_frames(int fd, bool own, const struct asf_part *part, const int *stop,
                                    int *error) {
    const struct asf_decoder *decoder;
    *error = asf__decoder_of_file(fd, &decoder);
    struct asf_cios *c = decoder ? asf__open_frames(fd, own, part, decoder, stop) : NULL;
    if (c)
        asf__cios_link(c);
    else if (*error == 0)
        *error = decoder ? -ENOMEM : -ESTALE;
    return c;
}

static struct asf_cios *open_range(int fd, bool own, const struct asf_part *part, const int *stop,
                                   int *error) {
    struct asf_cios *c = asf__open_range(fd, own, part->begin, part->end, stop);
    *error = c ? 0 : -ENOMEM;
    if (c)
        asf__cios_link(c);
    return c;
}

static struct asf_cios *decode_whole(struct asf_cios *c, int *error) {
    struct asf_cios *decoded = asf_decode(c, error);
    if (!decoded)
        asf_sclose(c);
    return decoded;
}

struct asf_cios *asf__open_part(int fd, bool own, const struct asf_part *part, const int *stop, int *error) {
    int rc;
    struct asf_cios *c = part->form == ASF_PART_FRAMES ? open_frames(fd, own, part, stop, &rc)
                                                       : open_range(fd, own, part, stop, &rc);
    if (!c && own)
        asf__close(fd);
    if (c && part->form == ASF_PART_WHOLE)
        c = decode_whole(c, &rc);
    if (error)
        *error = rc;
    return c;
}

/* Whether the file can be cut at `offset`: at its beginning or end, after a delimiter, or where a frame
 * begins. */
static bool is_cut_there(int fd, const struct asf_part *part, int64_t offset) {
    char last;
    if (offset == 0 || offset == part->size)
        return true;
    if (part->form == ASF_PART_FRAMES)
        return asf__begins_frame(fd, part->size, offset);
    return part->delimiter < 0 ||
           (read_at(fd, &last, 1, offset - 1) == 1 && (unsigned char)last == part->delimiter);
}

/* Checks that the file is unchanged.  A file that has only grown has another time: then the parts' ends
 * must still be ends.  Returns 0, -ESTALE, or an error of fstat. */
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
    if (p->form < ASF_PART_PLAIN || p->form > ASF_PART_WHOLE || p->before < 0 || p->after < 0)
        return false;
    if (p->end < 0)
        return p->begin == 0 && p->form != ASF_PART_FRAMES;
    return p->begin >= 0 && p->begin <= p->end && p->end <= p->size;
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
