/* SPDX-License-Identifier: MIT
 *
 * record_seek.c - finds record number n of a file: by the index at its end or, without an index, by reading
 * the headers of all frames.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_reader.h"

enum { END_FRAME = FRAME_HEAD + FRAME_END_BYTES };

/* Returns the bytes at an offset; *got is their number. */
static const unsigned char *bytes_at(struct asf_record_reader *r, int64_t at, int whence, ssize_t *got) {
    return asf_SallocAt(r->stream, ASF_READ, got, at, whence);
}

static void free_region(struct asf_record_reader *r, const unsigned char *p) {
    if (p)
        asf_sfree(r->stream, (void *)(uintptr_t)p);
}

/* Moves the stream to an offset: allocates a byte there and shortens the region to nothing. */
static int seek_to(struct asf_record_reader *r, uint64_t at) {
    ssize_t got = 1;
    const unsigned char *p = bytes_at(r, (int64_t)at, SEEK_SET, &got);
    if (!p)
        return got < 0 ? asf__record_fail((int)got, "the stream cannot seek") : 0;
    ssize_t none = 0;
    const unsigned char *shortened = asf_srealloc(r->stream, (void *)(uintptr_t)p, &none);
    free_region(r, shortened ? shortened : p);
    return shortened ? 0 : asf__record_fail((int)none, "the stream cannot seek");
}

/* --- by the index ------------------------------------------------------------------------ */

static bool is_end(const unsigned char *p, ssize_t got) {
    struct asf__frame frame;
    return got == END_FRAME && asf__frame_get(p, &frame) == 0 && frame.kind == FRAME_END && frame.gap == 0 &&
           frame.length == FRAME_END_BYTES &&
           asf__load(p + FRAME_HEAD + 24, 8, ASF__FOREIGN) == FRAME_END_MARK;
}

/* Whether a frame at `at` with the length of an END frame would end exactly at the end of the file. */
static bool would_end_file(struct asf_record_reader *r, uint64_t at) {
    ssize_t got = END_FRAME, beyond = 1;
    const unsigned char *p = at < INT64_MAX / 2 ? bytes_at(r, (int64_t)at, SEEK_SET, &got) : NULL;
    if (!p)
        return false;
    bool whole = got == END_FRAME;
    const unsigned char *after = whole ? bytes_at(r, (int64_t)at + END_FRAME, SEEK_SET, &beyond) : NULL;
    free_region(r, after);
    free_region(r, p);
    return whole && !after;
}

/* Reads the END frame: the offset of the last INDEX frame, and the number of records.  -ENODATA: the file has
 * no END frame, or one that was copied from another file. */
static int find_end(struct asf_record_reader *r, uint64_t *index, uint64_t *records) {
    ssize_t got = END_FRAME;
    const unsigned char *p = bytes_at(r, -END_FRAME, SEEK_END, &got);
    if (!p)
        return got < 0 && got != -EINVAL ? asf__record_fail((int)got, "the stream cannot seek") : -ENODATA;
    bool found = is_end(p, got);
    if (found) {
        *records = asf__load(p + FRAME_HEAD, 8, ASF__FOREIGN);
        *index = asf__load(p + FRAME_HEAD + 8, 8, ASF__FOREIGN);
        r->records_end = asf__load(p + FRAME_HEAD + 16, 8, ASF__FOREIGN);
    }
    free_region(r, p);
    return found && would_end_file(r, r->records_end) ? 0 : -ENODATA;
}

/* Reads the frame at an offset.  -EBADMSG: the file ends before it. */
static int frame_at(struct asf_record_reader *r, uint64_t at, struct asf__frame *frame,
                    const unsigned char **payload) {
    int rc = at < INT64_MAX ? seek_to(r, at) : -EBADMSG;
    if (rc == 0)
        rc = asf__reader_frame(r, frame, payload);
    return rc > 0 ? 0 : rc == 0 ? -EBADMSG : rc;
}

/* Reads the INDEX frame at an offset. */
static int read_index(struct asf_record_reader *r, uint64_t at, struct asf__index *index) {
    struct asf__frame frame;
    const unsigned char *payload = NULL;
    *index = (struct asf__index){0};
    int rc = frame_at(r, at, &frame, &payload);
    if (rc == 0)
        rc = frame.kind == FRAME_INDEX && payload ? asf__index_parse(index, payload, frame.length) : -EBADMSG;
    asf__reader_release(r);
    return rc;
}

/* Whether the offsets increase and are all below `end`. */
static bool are_in_order(const struct asf__offsets *offsets, uint64_t end) {
    for (size_t i = offsets->count; i > 0; end = offsets->all[--i])
        if (offsets->all[i - 1] >= end)
            return false;
    return true;
}

/* Reads the INDEX frames from the last to the first.  Each must be before the one that refers to it, so the
 * loop ends.  Stores the offsets of the records by their numbers. */
static int read_chain(struct asf_record_reader *r, uint64_t at, uint64_t records,
                      struct asf__offsets *formats) {
    struct asf__index index;
    uint64_t next = records, end = at;
    int rc = 0;
    while (rc == 0 && at > 0) {
        rc = read_index(r, at, &index);
        if (rc < 0)
            return rc;
        bool fits = index.previous < at && index.first + index.records.count == next && index.first <= next &&
                    are_in_order(&index.records, end);
        for (size_t i = 0; fits && i < index.records.count; i++)
            r->records.all[index.first + i] = index.records.all[i];
        for (size_t i = index.formats.count; fits && rc == 0 && i > 0; i--)
            rc = asf__offsets_add(formats, index.formats.all[i - 1]);
        next = index.first;
        end = fits && index.records.count > 0 ? index.records.all[0] : end;
        at = index.previous;
        asf__index_free(&index);
        if (!fits)
            return -EBADMSG;
    }
    return rc < 0 ? rc : next == 0 ? 0 : -EBADMSG;
}

static int read_formats(struct asf_record_reader *r, const struct asf__offsets *formats) {
    uint64_t last = 0;
    int rc = 0;
    asf__reader_start(r);
    for (size_t i = formats->count; rc >= 0 && i > 0; i--) {
        if (formats->all[i - 1] <= last)
            return -EBADMSG;
        last = formats->all[i - 1];
        struct asf__frame frame;
        const unsigned char *payload = NULL;
        rc = frame_at(r, formats->all[i - 1], &frame, &payload);
        if (rc == 0)
            rc = frame.kind == FRAME_FORMAT && payload ? asf__reader_format(r, &frame, payload) : -EBADMSG;
        asf__reader_release(r);
    }
    return rc;
}

/* Finds the records by the index.  -ENODATA or -EBADMSG: there is no index, or it is invalid. */
static int by_index(struct asf_record_reader *r) {
    struct asf__offsets formats = {0};
    uint64_t at = 0, records = 0;
    int rc = find_end(r, &at, &records);
    if (rc < 0)
        return rc;
    if (at >= r->records_end || records > at / FRAME_HEAD) /* each record has at least a header */
        return -EBADMSG;
    free(r->records.all); /* of an earlier attempt that failed */
    r->records.all = calloc(records + 1, sizeof *r->records.all);
    if (!r->records.all)
        return asf__record_no_memory("for the index");
    r->records.count = r->records.room = records;
    rc = read_chain(r, at, records, &formats);
    if (rc == 0)
        rc = read_formats(r, &formats);
    free(formats.all);
    return rc;
}

/* --- by the frames ------------------------------------------------------------------------- */

static int note_frame(struct asf_record_reader *r, const struct asf__frame *frame, uint64_t at) {
    if (frame->kind == FRAME_DATA || frame->kind == FRAME_HASHED)
        return asf__offsets_add(&r->records, at);
    if (frame->kind == FRAME_START && at > 0)
        return asf__record_fail(-EINVAL, "joined streams have no record numbers");
    if (frame->kind != FRAME_FORMAT)
        return 0;
    const unsigned char *payload = NULL;
    struct asf__frame again;
    int rc = seek_to(r, at);
    if (rc == 0)
        rc = asf__reader_frame(r, &again, &payload);
    if (rc > 0)
        rc = payload ? asf__reader_format(r, &again, payload) : -EBADMSG;
    asf__reader_release(r);
    return rc < 0 ? rc : 0;
}

/* Finds the records by the headers of all frames.  An incomplete frame is the end: its writer was
 * interrupted. */
static int by_frames(struct asf_record_reader *r) {
    struct asf__frame frame;
    r->records.count = 0;
    asf__reader_start(r);
    for (uint64_t at = 0;; at += asf__frame_bytes(&frame)) {
        ssize_t got = FRAME_HEAD, last = 1;
        const unsigned char *p = bytes_at(r, (int64_t)at, SEEK_SET, &got);
        r->records_end = at;
        if (!p && got < 0)
            return asf__record_fail((int)got, "the stream cannot seek");
        int rc = p && got == FRAME_HEAD ? asf__frame_get(p, &frame) : 1;
        free_region(r, p);
        if (rc != 0)
            return rc < 0 ? rc : 0;
        if (frame.length > INT64_MAX / 2)
            return asf__record_fail(-E2BIG, "a record is longer than any file");
        p = bytes_at(r, (int64_t)(at + asf__frame_bytes(&frame) - 1), SEEK_SET, &last);
        free_region(r, p);
        if (!p)
            return last < 0 && last != -EINVAL /* EINVAL: the offset exceeds any file */
                       ? asf__record_fail((int)last, "the stream cannot be read")
                       : 0;
        rc = note_frame(r, &frame, at);
        if (rc < 0)
            return rc;
    }
}

/* Finds the records once.  Resets formats_total, so that check_work ignores the formats read before. */
static int find_records(struct asf_record_reader *r) {
    r->formats_total = 0;
    if (r->indexed)
        return 0;
    if (!r->stream)
        return asf__record_fail(-EINVAL, "the reader has no stream");
    asf__reader_release(r);
    int rc = by_index(r);
    if (rc < 0 && rc != -ESPIPE && rc != -ENOMEM)
        rc = by_frames(r); /* the index is missing or invalid */
    r->indexed = rc >= 0;
    return rc < 0 ? rc : 0;
}

int asf_record_count(struct asf_record_reader *r, uint64_t *count) {
    int rc = find_records(r);
    *count = rc < 0 ? 0 : r->records.count;
    asf__reader_release(r);
    return rc < 0 ? rc : seek_to(r, 0);
}

/* Whether there is a record frame at an offset that comes from the index. */
static bool is_record(struct asf_record_reader *r, uint64_t at) {
    struct asf__frame frame;
    ssize_t got = FRAME_HEAD;
    const unsigned char *p = bytes_at(r, (int64_t)at, SEEK_SET, &got);
    bool is = p && got == FRAME_HEAD && asf__frame_get(p, &frame) == 0 &&
              (frame.kind == FRAME_DATA || frame.kind == FRAME_HASHED);
    free_region(r, p);
    return is;
}

int asf_record_seek(struct asf_record_reader *r, uint64_t number) {
    int rc = find_records(r);
    asf__reader_release(r);
    if (rc == 0 && number < r->records.count && !is_record(r, r->records.all[number]))
        rc = by_frames(r);
    if (rc < 0)
        return rc;
    if (number > r->records.count)
        return asf__record_fail(-ERANGE, "the file has %zu records", r->records.count);
    return seek_to(r, number < r->records.count ? r->records.all[number] : r->records_end);
}
