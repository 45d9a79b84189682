/* SPDX-License-Identifier: MIT
 *
 * record_reader.c - reads records from a stream or a message, and checks them in place.  Finds record number
 * n of a file: by the index at its end or, without an index, by reading the headers of all frames.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <asf/record_store.h>

#include "interfaces/record/record_frame.h"
#include "interfaces/record/record_reader.h"

enum { HASHED_MOST = 64 }; /* formats from the store that a reader keeps; the store itself keeps more */

/* --- the reader itself ------------------------------------------------------------------------- */

int asf_record_reader_new(struct asf_cios *stream, const struct asf_record_options *options,
                          struct asf_record_reader **reader) {
    *reader = NULL;
    struct asf_record_options o;
    int rc = asf__record_options(options, &o);
    if (rc < 0)
        return rc;
    if (stream && !asf_set_stream_mode(stream, ASF_READ))
        return asf__record_fail(-EBADF,
                                "the stream is not open for reading, or its output cannot be written");
    struct asf_record_reader *r = calloc(1, sizeof *r);
    if (!r)
        return asf__record_no_memory("for a reader");
    r->stream = stream;
    r->options = o;
    r->record.reader = r;
    *reader = r;
    return 0;
}

static void free_region(struct asf_record_reader *r, const unsigned char *p) {
    if (p)
        asf_sfree(r->stream, (void *)(uintptr_t)p);
}

/* Frees the current record's region. */
static void release_region(struct asf_record_reader *r) {
    if (r->region)
        asf_sfree(r->stream, r->region);
    r->region = NULL;
}

/* Frees the stream's formats. */
static void free_formats(struct asf_record_reader *r) {
    for (size_t i = 0; i < r->formats_count; i++)
        asf_record_format_free(r->formats[i]);
    r->formats_count = r->formats_memory = 0;
}

void asf_record_reader_free(struct asf_record_reader *r) {
    if (!r)
        return;
    release_region(r);
    free_formats(r);
    for (size_t i = 0; i < r->hashed_count; i++)
        asf_record_format_free(r->hashed[i]);
    asf__free_plans(r);
    free(r->formats);
    free(r->hashed);
    free(r->record.parts.all);
    free(r->records.all);
    free(r->converted);
    free(r);
}

/* --- formats ----------------------------------------------------------------------------------- */

/* Refuses a stream whose formats use much more memory than the stream has bytes.  A format with arrays of
 * strings may use a thousand times the memory of its description, but its records are long, too. */
static int check_work(struct asf_record_reader *r, const struct asf_record_format *f) {
    enum { FACTOR = 64 };
    r->formats_total += f->footprint;
    return r->formats_total / FACTOR <= r->bytes_read + r->options.most_memory / FACTOR
               ? 0
               : asf__record_fail(-E2BIG, "the stream's formats need %llu bytes, too many for its length",
                                  (unsigned long long)r->formats_total);
}

static int keep_format(struct asf_record_reader *r, struct asf_record_format *f) {
    int rc = asf__fits_stream(&r->options, r->formats_count, r->formats_memory, f);
    if (rc == 0)
        rc = check_work(r, f);
    if (rc < 0)
        return rc;
    if (r->formats_count == r->formats_room) {
        size_t room = 2 * r->formats_room + 8;
        struct asf_record_format **more = reallocarray(r->formats, room, sizeof *more);
        if (!more)
            return asf__record_no_memory("for one more format");
        r->formats = more;
        r->formats_room = room;
    }
    r->formats_memory += f->footprint;
    r->formats[r->formats_count++] = f;
    return 0;
}

/* Adds the format of a FORMAT frame. */
static int add_format(struct asf_record_reader *r, const struct asf__frame *frame,
                      const unsigned char *payload) {
    struct asf_record_format *f;
    if (frame->token < r->formats_count) { /* read before: the program has called asf_record_seek */
        f = r->formats[frame->token];
        if (frame->length == f->length && !memcmp(payload, f->description, f->length))
            return 0;
    }
    if (frame->token != r->formats_count)
        return asf__record_fail(-EBADMSG, "a format is out of sequence");
    int rc = asf_record_parse(payload, frame->length, &f);
    if (rc < 0)
        return rc;
    rc = keep_format(r, f);
    if (rc < 0)
        asf_record_format_free(f);
    return rc;
}

/* Returns the format with this hash, from the reader's list or from the store. */
static int format_of_hash(struct asf_record_reader *r, const unsigned char *hash,
                          struct asf_record_format **f) {
    for (size_t i = r->hashed_count; i > 0; i--)
        if (!memcmp(r->hashed[i - 1]->hash, hash, FRAME_HASH)) {
            *f = r->hashed[i - 1];
            return 0;
        }
    if (!r->hashed)
        r->hashed = calloc(HASHED_MOST, sizeof(void *));
    if (!r->hashed)
        return asf__record_no_memory("for one more format");
    if (!r->options.store)
        return asf__record_fail(-ENOENT, "the record's format is not in the stream, and there is no store");
    int rc = asf_record_store_get(r->options.store, hash, f);
    if (rc < 0)
        return rc;
    if (r->hashed_count == HASHED_MOST) { /* replace the oldest */
        asf_record_format_free(r->hashed[0]);
        memmove(r->hashed, r->hashed + 1, (HASHED_MOST - 1) * sizeof(void *));
        r->hashed_count--;
    }
    r->hashed[r->hashed_count++] = *f;
    return 0;
}

/* --- frames ------------------------------------------------------------------------------------ */

/* Reads the next bytes.  Returns 1; 0 at the end of the stream if `may_end`; or an error. */
static int read_bytes(struct asf_record_reader *r, size_t bytes, bool may_end, const unsigned char **at) {
    ssize_t got = (ssize_t)bytes;
    *at = asf_Salloc(r->stream, ASF_READ, &got);
    if (!*at && got == 0 && may_end)
        return 0;
    if (!*at && got < 0)
        return asf__record_fail((int)got, "the stream could not be read: %s", asf_error_text((int)got));
    if (*at && (size_t)got == bytes)
        return 1;
    free_region(r, *at);
    return asf__record_fail(-ENODATA, "the stream ends within a record");
}

/* Checks the length of a frame.  If the options set no limit, refuses lengths whose later sums would
 * overflow. */
static int check_length(const struct asf_record_reader *r, const struct asf__frame *frame) {
    const uint64_t countable = SIZE_MAX / 4;
    uint64_t most = frame->kind == FRAME_FORMAT ? DESCRIPTION_MOST : r->options.most_bytes;
    most = most < countable ? most : countable;
    if (frame->length > most)
        return asf__record_fail(-E2BIG, "a record of %llu bytes; the limit is %llu",
                                (unsigned long long)frame->length, (unsigned long long)most);
    return 0;
}

/* Reads the next header, and its payload as a region, valid until release_region.  Returns 1; 0 at the end;
 * or an error. */
static int read_frame(struct asf_record_reader *r, struct asf__frame *frame, const unsigned char **payload) {
    const unsigned char *at;
    int rc = read_bytes(r, FRAME_HEAD, true, &at);
    if (rc <= 0)
        return rc;
    rc = asf__frame_get(at, frame);
    free_region(r, at);
    if (rc == 0)
        rc = check_length(r, frame);
    uint64_t rest = rc == 0 ? asf__frame_bytes(frame) - FRAME_HEAD : 0;
    r->bytes_read += FRAME_HEAD + rest;
    if (rc < 0 || rest == 0)
        return rc < 0 ? rc : 1;
    rc = read_bytes(r, rest, false, &at);
    if (rc < 0)
        return rc;
    r->region = (void *)(uintptr_t)at;
    *payload = at;
    return 1;
}

/* --- records ----------------------------------------------------------------------------------- */

/* Reads a DATA or HASHED frame; `at` points after its header. */
static int take_record(struct asf_record_reader *r, const struct asf__frame *frame, const unsigned char *at) {
    struct asf_record *record = &r->record;
    int rc = 0;
    if (frame->kind == FRAME_HASHED)
        rc = format_of_hash(r, at, &record->format);
    else if (frame->token >= r->formats_count)
        rc = asf__record_fail(-EBADMSG, "a record has format %u, but the stream has only %zu formats",
                              frame->token, r->formats_count);
    else
        record->format = r->formats[frame->token];
    if (rc < 0)
        return rc;
    record->data = at + FRAME_HEAD * (size_t)frame->gap;
    record->length = frame->length;
    rc = asf__check_record(record->format, record->data, record->length, &record->parts);
    return rc < 0 ? rc : 1;
}

int asf_record_next(struct asf_record_reader *r, struct asf_record **record) {
    *record = NULL;
    if (!r->stream)
        return asf__record_fail(-EINVAL, "the reader has no stream");
    for (;;) {
        struct asf__frame frame;
        const unsigned char *at = NULL;
        release_region(r);
        int rc = read_frame(r, &frame, &at);
        if (rc <= 0)
            return rc;
        if (frame.kind == FRAME_DATA || frame.kind == FRAME_HASHED) {
            r->record.handed_over = false;
            rc = at ? take_record(r, &frame, at) : asf__record_fail(-EBADMSG, "a record has no bytes");
            *record = rc < 0 ? NULL : &r->record;
            return rc;
        }
        if (frame.kind == FRAME_START)
            free_formats(r);
        if (frame.kind == FRAME_START && frame.token != FRAME_TOKEN)
            return asf__record_fail(-EBADMSG, "this is not a stream of records");
        if (frame.kind == FRAME_FORMAT) {
            rc = at ? add_format(r, &frame, at) : asf__record_fail(-EBADMSG, "a format has no bytes");
            if (rc < 0)
                return rc;
        }
    }
}

static int take_message(struct asf_record_reader *r, const void *message, size_t length, bool handed_over,
                        struct asf_record **record) {
    struct asf__frame frame;
    *record = NULL;
    release_region(r);
    int rc = length < FRAME_HEAD ? asf__record_fail(-EBADMSG, "the message is shorter than a header")
                                 : asf__frame_get(message, &frame);
    if (rc == 0)
        rc = check_length(r, &frame);
    if (rc == 0 && frame.kind != FRAME_HASHED && frame.kind != FRAME_DATA)
        rc = asf__record_fail(-EBADMSG, "the message is not a record");
    if (rc == 0 && asf__frame_bytes(&frame) != length)
        rc = asf__record_fail(-EBADMSG, "the length of the message differs from its header");
    if (rc == 0)
        rc = take_record(r, &frame, (const unsigned char *)message + FRAME_HEAD);
    r->record.handed_over = handed_over;
    *record = rc > 0 ? &r->record : NULL;
    return rc;
}

int asf_record_take(struct asf_record_reader *r, const void *message, size_t length,
                    struct asf_record **record) {
    return take_message(r, message, length, false, record);
}

int asf_record_take_over(struct asf_record_reader *r, void *message, size_t length,
                         struct asf_record **record) {
    return take_message(r, message, length, true, record);
}

struct asf_record_format *asf_record_format_of(const struct asf_record *record) {
    return record->format;
}

/* --- moving in a file -------------------------------------------------------------------------- */

enum { END_FRAME = FRAME_HEAD + FRAME_END_BYTES };

/* Returns the bytes at an offset; *got is their number. */
static const unsigned char *bytes_at(struct asf_record_reader *r, int64_t at, int whence, ssize_t *got) {
    return asf_SallocAt(r->stream, ASF_READ, got, at, whence);
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

/* --- record number n by the index -------------------------------------------------------------- */

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
    struct asf__frame frame;
    bool found = got == END_FRAME && asf__frame_get(p, &frame) == 0 && frame.kind == FRAME_END &&
                 frame.gap == 0 && frame.length == FRAME_END_BYTES &&
                 asf__load(p + FRAME_HEAD + 24, 8, ASF__FOREIGN) == FRAME_END_MARK;
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
        rc = read_frame(r, frame, payload);
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
    release_region(r);
    return rc;
}

/* Whether the offsets increase and are all below `end`. */
static bool are_in_order(const struct asf__offsets *offsets, uint64_t end) {
    for (size_t i = offsets->count; i > 0; end = offsets->all[--i])
        if (offsets->all[i - 1] >= end)
            return false;
    return true;
}

/* Reads the INDEX frames from the last to the first.  Each INDEX frame must be before the frame that refers
 * to it, so the loop ends.  Stores the offsets of the records by their numbers. */
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

/* Adds the format of the FORMAT frame at an offset. */
static int add_format_at(struct asf_record_reader *r, uint64_t at) {
    struct asf__frame frame;
    const unsigned char *payload = NULL;
    int rc = frame_at(r, at, &frame, &payload);
    if (rc == 0)
        rc = frame.kind == FRAME_FORMAT && payload ? add_format(r, &frame, payload) : -EBADMSG;
    release_region(r);
    return rc;
}

static int add_formats(struct asf_record_reader *r, const struct asf__offsets *formats) {
    uint64_t last = 0;
    int rc = 0;
    free_formats(r);
    for (size_t i = formats->count; rc >= 0 && i > 0; i--) {
        if (formats->all[i - 1] <= last)
            return -EBADMSG;
        last = formats->all[i - 1];
        rc = add_format_at(r, last);
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
    free(r->records.all); /* offsets of an earlier, failed attempt */
    r->records.all = calloc(records + 1, sizeof *r->records.all);
    if (!r->records.all)
        return asf__record_no_memory("for the index");
    r->records.count = r->records.room = records;
    rc = read_chain(r, at, records, &formats);
    if (rc == 0)
        rc = add_formats(r, &formats);
    free(formats.all);
    return rc;
}

/* --- record number n by the frames ------------------------------------------------------------- */

static int note_frame(struct asf_record_reader *r, const struct asf__frame *frame, uint64_t at) {
    if (frame->kind == FRAME_DATA || frame->kind == FRAME_HASHED)
        return asf__offsets_add(&r->records, at);
    if (frame->kind == FRAME_START && at > 0)
        return asf__record_fail(-EINVAL, "joined streams have no record numbers");
    return frame->kind == FRAME_FORMAT ? add_format_at(r, at) : 0;
}

/* Finds the records by the headers of all frames.  An incomplete frame is the end: its writer was
 * interrupted. */
static int by_frames(struct asf_record_reader *r) {
    struct asf__frame frame;
    r->records.count = 0;
    free_formats(r);
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
    release_region(r);
    int rc = by_index(r);
    if (rc < 0 && rc != -ESPIPE && rc != -ENOMEM)
        rc = by_frames(r); /* the index is missing or invalid */
    r->indexed = rc >= 0;
    return rc < 0 ? rc : 0;
}

int asf_record_count(struct asf_record_reader *r, uint64_t *count) {
    int rc = find_records(r);
    *count = rc < 0 ? 0 : r->records.count;
    release_region(r);
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
    release_region(r);
    if (rc == 0 && number < r->records.count && !is_record(r, r->records.all[number]))
        rc = by_frames(r);
    if (rc < 0)
        return rc;
    if (number > r->records.count)
        return asf__record_fail(-ERANGE, "the file has %zu records", r->records.count);
    return seek_to(r, number < r->records.count ? r->records.all[number] : r->records_end);
}
