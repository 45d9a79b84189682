/* SPDX-License-Identifier: MIT
 *
 * record_reader.c - reads records from a stream or a message, and checks them in place.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_reader.h"
#include "interfaces/record/record_stored.h"

enum { HASHED_MOST = 64 }; /* formats from the store that a reader keeps; the store itself keeps more */

/* --- the reader itself --------------------------------------------------------------- */

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

void asf__reader_release(struct asf_record_reader *r) {
    if (r->region)
        asf_sfree(r->stream, r->region);
    r->region = NULL;
}

void asf__reader_start(struct asf_record_reader *r) {
    for (size_t i = 0; i < r->formats_count; i++)
        asf_record_format_free(r->formats[i]);
    r->formats_count = r->formats_memory = 0;
}

void asf_record_reader_free(struct asf_record_reader *r) {
    if (!r)
        return;
    asf__reader_release(r);
    asf__reader_start(r);
    for (size_t i = 0; i < r->hashed_count; i++)
        asf_record_format_free(r->hashed[i]);
    while (r->plans_count > 0)
        asf__drop_plan(r);
    free(r->formats);
    free(r->hashed);
    free(r->plans);
    free(r->record.parts.all);
    free(r->records.all);
    free(r->converted);
    free(r);
}

/* --- formats ---------------------------------------------------------------------------- */

/* A format may use a thousand times the memory of its description, for instance with arrays of strings, but
 * then its records are long, too.  So refuses a stream whose formats use much more memory than the stream has
 * bytes. */
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

int asf__reader_format(struct asf_record_reader *r, const struct asf__frame *frame,
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
    int rc = asf__load_format(r->options.store, hash, f);
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

/* --- frames -------------------------------------------------------------------------------- */

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
    if (*at)
        asf_sfree(r->stream, (void *)(uintptr_t)*at);
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

int asf__reader_frame(struct asf_record_reader *r, struct asf__frame *frame, const unsigned char **payload) {
    const unsigned char *at;
    int rc = read_bytes(r, FRAME_HEAD, true, &at);
    if (rc <= 0)
        return rc;
    rc = asf__frame_get(at, frame);
    asf_sfree(r->stream, (void *)(uintptr_t)at);
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

/* --- records ---------------------------------------------------------------------------------- */

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
        asf__reader_release(r);
        int rc = asf__reader_frame(r, &frame, &at);
        if (rc <= 0)
            return rc;
        if (frame.kind == FRAME_DATA || frame.kind == FRAME_HASHED) {
            r->record.handed_over = false;
            rc = at ? take_record(r, &frame, at) : asf__record_fail(-EBADMSG, "a record has no bytes");
            *record = rc < 0 ? NULL : &r->record;
            return rc;
        }
        if (frame.kind == FRAME_START)
            asf__reader_start(r);
        if (frame.kind == FRAME_START && frame.token != FRAME_TOKEN)
            return asf__record_fail(-EBADMSG, "this is not a stream of records");
        if (frame.kind == FRAME_FORMAT) {
            rc = at ? asf__reader_format(r, &frame, at) : asf__record_fail(-EBADMSG, "a format has no bytes");
            if (rc < 0)
                return rc;
        }
    }
}

static int take_message(struct asf_record_reader *r, const void *message, size_t length, bool handed_over,
                        struct asf_record **record) {
    struct asf__frame frame;
    *record = NULL;
    asf__reader_release(r);
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
