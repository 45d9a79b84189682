/* SPDX-License-Identifier: MIT
 *
 * record_writer.c - writes records to a stream, or as messages in memory.  A struct is marshalled: the data
 * that its pointers refer to is appended, and the pointers become offsets.  On a stream this happens in a
 * region of the stream's own buffer, so the bytes are copied only once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <asf/record_store.h>

#include "interfaces/record/record_frame.h"

/* --- marshalling: one traversal measures, copies or references the data ------------------------ */

/* A record as a list of chunks: copied bytes, and strings and arrays that are referenced, not copied. */
struct chunks {
    struct iovec *all;
    size_t count, most;
    unsigned char *start, *end; /* start of the current chunk of copied bytes; end of the memory for them */
};

struct marshal {
    const struct asf_record_format *f;
    unsigned char *record; /* NULL: only measure */
    size_t used, room;
    size_t skipped;        /* bytes of the record so far that are referenced, not copied */
    struct chunks *chunks; /* NULL: copy everything */
};

enum { REFERENCE_LEAST = 512 }; /* bytes of the shortest string or array that is referenced */

static int no_room(const struct asf__slot *slot) {
    return asf__record_fail(-E2BIG, "field '%.64s': the record is too large, or changes while it is written",
                            slot->field->name);
}

/* Returns the address of the record's byte at offset `at`, which must be a copied byte. */
static unsigned char *address_of(const struct marshal *g, size_t at) {
    return g->record + (at - g->skipped);
}

static void reference_part(struct marshal *g, unsigned char *end, const void *from, size_t bytes) {
    struct chunks *p = g->chunks;
    if (end > p->start)
        p->all[p->count++] = (struct iovec){p->start, (size_t)(end - p->start)};
    p->all[p->count++] = (struct iovec){(void *)(uintptr_t)from, bytes};
    p->start = end;
    g->skipped += bytes;
}

static int put_part(struct marshal *g, const struct asf__slot *slot, const void *from, size_t bytes,
                    size_t at) {
    unsigned char *to = address_of(g, g->used);
    /* A referenced array needs a chunk; the copied bytes before it and after it may need a chunk each. */
    bool referenced =
        g->chunks && !slot->deep && bytes >= REFERENCE_LEAST && g->chunks->count + 3 <= g->chunks->most;
    size_t gap = at - g->used;
    if (g->chunks && gap + (referenced ? 0 : bytes) > (size_t)(g->chunks->end - to))
        return no_room(slot);
    memset(to, 0, gap);
    if (referenced)
        reference_part(g, to + gap, from, bytes);
    else
        memcpy(to + gap, from, bytes);
    return 0;
}

/* Appends data by copy or by reference; *at is its offset in the record. */
static int append_part(struct marshal *g, const struct asf__slot *slot, const void *from, size_t bytes,
                       size_t align, size_t *at) {
    *at = (g->used + align - 1) & -align;
    if (bytes > g->room || *at > g->room - bytes)
        return no_room(slot);
    int rc = g->record ? put_part(g, slot, from, bytes, *at) : 0;
    g->used = *at + bytes;
    return rc;
}

static const void *pointer_at(const struct asf__slot *slot, const unsigned char *data) {
    const void *pointer;
    memcpy(&pointer, data + slot->at, sizeof pointer);
    return pointer;
}

static void set_pointer(const struct marshal *g, const struct asf__slot *slot, unsigned char *base,
                        size_t at) {
    if (base)
        asf__store(base + slot->at, at, g->f->slot, false);
}

static int marshal_string(struct marshal *g, const struct asf__slot *slot, const char *text,
                          unsigned char *base) {
    size_t at = 0;
    int rc = text ? append_part(g, slot, text, strlen(text) + 1, 1, &at) : 0;
    if (rc == 0)
        set_pointer(g, slot, base, at);
    return rc;
}

static int marshal_slots(struct marshal *g, const struct asf_record_layout *s, const unsigned char *data,
                         unsigned char *base);

static int marshal_strings(struct marshal *g, const struct asf__slot *slot, const unsigned char *from,
                           uint64_t count, unsigned char *base) {
    struct asf__slot one = {.field = slot->field};
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < count; i++)
        rc = marshal_string(g, &one, pointer_at(&one, from + i * slot->stride),
                            base ? base + i * slot->stride : NULL);
    return rc;
}

static int marshal_elements(struct marshal *g, const struct asf__slot *slot, const unsigned char *from,
                            uint64_t count, unsigned char *base) {
    size_t at;
    uint64_t bytes;
    if (__builtin_mul_overflow(count, slot->stride, &bytes))
        return no_room(slot);
    int rc = append_part(g, slot, from, bytes, slot->alignment, &at);
    if (rc < 0)
        return rc;
    set_pointer(g, slot, base, at);
    if (!slot->strings && (slot->sub == NONE || g->f->structs[slot->sub].slots_count == 0))
        return 0;
    unsigned char *elements = g->record ? address_of(g, at) : NULL;
    if (slot->strings)
        return marshal_strings(g, slot, from, count, elements);
    for (uint64_t i = 0; rc == 0 && i < count; i++)
        rc = marshal_slots(g, &g->f->structs[slot->sub], from + i * slot->stride,
                           elements ? elements + i * slot->stride : NULL);
    return rc;
}

static int marshal_array(struct marshal *g, const struct asf__slot *slot, const unsigned char *data,
                         unsigned char *base) {
    const unsigned char *counter = data + slot->counter_at, *from = pointer_at(slot, data);
    uint64_t count = asf__load(counter, slot->counter_size, false);
    if (slot->counter_signed && asf__load_signed(counter, slot->counter_size, false) < 0)
        return asf__record_fail(-EINVAL, "field '%.64s' has a negative number of elements",
                                slot->field->name);
    if (count > 0 && !from)
        return asf__record_fail(-EINVAL, "field '%.64s' is NULL but has elements", slot->field->name);
    if (count > 0)
        return marshal_elements(g, slot, from, count, base);
    set_pointer(g, slot, base, 0);
    return 0;
}

/* Appends the data of all pointers of the struct at `data`.  `base` is the struct's copy in the record. */
static int marshal_slots(struct marshal *g, const struct asf_record_layout *s, const unsigned char *data,
                         unsigned char *base) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < s->slots_count; i++) {
        const struct asf__slot *slot = &s->slots[i];
        if (slot->text)
            rc = marshal_string(g, slot, pointer_at(slot, data), base);
        else
            rc = marshal_array(g, slot, data, base);
    }
    return rc;
}

/* Sets *size to the bytes of the record. */
static int marshal_size(const struct asf_record_format *f, const void *data, size_t *size) {
    const struct asf_record_layout *root = asf__root(f);
    struct marshal g = {.f = f, .used = root->size, .room = SIZE_MAX / 2};
    int rc = asf__check_native(f);
    if (rc == 0)
        rc = marshal_slots(&g, root, data, NULL);
    *size = g.used;
    return rc;
}

/* Writes the record into `size` bytes. */
static int marshal(const struct asf_record_format *f, const void *data, unsigned char *record, size_t size) {
    const struct asf_record_layout *root = asf__root(f);
    struct marshal g = {.f = f, .record = record, .used = root->size, .room = size};
    memcpy(record, data, root->size);
    int rc = marshal_slots(&g, root, data, record);
    if (rc == 0)
        memset(record + g.used, 0, size - g.used);
    return rc;
}

/* Writes the copied bytes to `record`, then zeros from the record's end to `padded` bytes; lists the chunks.
 * -E2BIG: the memory is too small, or chunks->most is 0. */
static int marshal_chunks(const struct asf_record_format *f, const void *data, unsigned char *record,
                          size_t size, size_t padded, struct chunks *chunks) {
    const struct asf_record_layout *root = asf__root(f);
    struct marshal g = {.f = f, .record = record, .used = root->size, .room = size, .chunks = chunks};
    if (chunks->most == 0 || root->size > (size_t)(chunks->end - record))
        return asf__record_fail(-E2BIG, "the buffer is too small for '%.64s'", root->name);
    memcpy(record, data, root->size);
    int rc = marshal_slots(&g, root, data, record);
    unsigned char *end = address_of(&g, g.used);
    if (rc == 0 && padded - g.used > (size_t)(chunks->end - end))
        rc = asf__record_fail(-E2BIG, "the buffer is too small for the end of '%.64s'", root->name);
    if (rc < 0)
        return rc;
    memset(end, 0, padded - g.used);
    end += padded - g.used;
    if (end > chunks->start)
        chunks->all[chunks->count++] = (struct iovec){chunks->start, (size_t)(end - chunks->start)};
    return 0;
}

/* --- the writer and its frames ----------------------------------------------------------------- */

/* The record that is being written, in a region of the stream. */
struct draft {
    unsigned char *region, *record;
    const struct asf_record_format *format;
    struct asf__frame frame;
    size_t used, room; /* bytes of the record used, and reserved */
};

struct asf_record_writer {
    struct asf_cios *stream;
    struct asf_record_options options;
    uint64_t position; /* offset of the next frame, counted from START */
    struct asf_record_format **formats;
    uint32_t count, room, last;
    size_t footprint; /* bytes of memory of the formats */
    struct draft draft;
    struct asf__index index;
    int failed; /* error of the stream; after it the stream's contents and offsets are unknown */
};

/* Allocates a region for a frame, including `length` bytes of payload.  Asks for write mode: in read mode
 * salloc would return input. */
static int open_frame(struct asf_record_writer *w, struct asf__frame *frame, unsigned char **region) {
    ssize_t bytes = (ssize_t)asf__frame_bytes(frame);
    *region = NULL;
    if (w->failed)
        return asf__record_fail(w->failed, "an earlier write to the stream failed");
    *region = asf_Salloc(w->stream, ASF_WRITE, &bytes);
    if (*region)
        return 0;
    int rc = bytes < 0 ? (int)bytes : -EIO;
    w->failed = rc == -ENOMEM ? 0 : rc;
    return asf__record_fail(rc, "the stream cannot take a record of %zu bytes: %.64s", (size_t)frame->length,
                            asf_error_text(rc));
}

static int close_frame(struct asf_record_writer *w, const struct asf__frame *frame, unsigned char *region) {
    w->position += asf__frame_bytes(frame);
    w->failed = asf_sfree(w->stream, region);
    return w->failed < 0 ? asf__record_fail(w->failed, "the stream could not be written") : 0;
}

static int put_frame(struct asf_record_writer *w, struct asf__frame frame, const void *payload) {
    unsigned char *region;
    int rc = open_frame(w, &frame, &region);
    if (rc < 0)
        return rc;
    asf__frame_put(region, &frame);
    if (payload)
        memcpy(region + asf__frame_before(&frame), payload, frame.length);
    return close_frame(w, &frame, region);
}

/* --- formats ----------------------------------------------------------------------------------- */

/* Puts a new format into the stream, or the store if records have hashes. */
static int announce(struct asf_record_writer *w, struct asf_record_format *f) {
    if (w->options.hashed)
        return w->options.store ? asf_record_store_put(w->options.store, f) : 0;
    int rc = w->options.indexed ? asf__offsets_add(&w->index.formats, w->position) : 0;
    struct asf__frame frame = {.token = w->count, .kind = FRAME_FORMAT, .length = f->length};
    return rc < 0 ? rc : put_frame(w, frame, f->description);
}

static int add_format(struct asf_record_writer *w, struct asf_record_format *f) {
    int rc = asf__check_native(f);
    if (rc == 0 && !w->options.hashed)
        rc = asf__fits_stream(&w->options, w->count, w->footprint, f);
    if (rc < 0)
        return rc;
    if (w->count == w->room) {
        uint32_t room = 2 * w->room + 8;
        struct asf_record_format **more = reallocarray(w->formats, room, sizeof *more);
        if (!more)
            return asf__record_no_memory("for one more format");
        w->formats = more;
        w->room = room;
    }
    rc = announce(w, f);
    if (rc < 0)
        return rc;
    w->last = w->count;
    w->footprint += f->footprint;
    w->formats[w->count++] = asf__record_keep(f);
    return 0;
}

/* Returns the format's number in the stream.  A format with a new hash is written first. */
static int token_of(struct asf_record_writer *w, struct asf_record_format *f, uint32_t *token) {
    uint32_t i = 0;
    if (w->last < w->count && w->formats[w->last] == f) {
        *token = w->last;
        return 0;
    }
    while (i < w->count && w->formats[i] != f && memcmp(w->formats[i]->hash, f->hash, sizeof f->hash) != 0)
        i++;
    int rc = i == w->count ? add_format(w, f) : 0;
    *token = w->last = rc < 0 ? w->last : i;
    return rc;
}

/* --- records ----------------------------------------------------------------------------------- */

static int put_index(struct asf_record_writer *w) {
    uint64_t at = w->position;
    size_t length;
    unsigned char *payload = asf__index_payload(&w->index, &length);
    if (!payload)
        return asf__record_no_memory("for the index");
    int rc = put_frame(w, (struct asf__frame){.kind = FRAME_INDEX, .length = length}, payload);
    free(payload);
    if (rc < 0)
        return rc;
    w->index.previous = at;
    w->index.first += w->index.records.count;
    w->index.formats.count = w->index.records.count = 0;
    return 0;
}

/* Removes the last record, which could not be written, from the index. */
static void unindex(struct asf_record_writer *w) {
    if (w->options.indexed)
        w->index.records.count--;
}

static int open_record(struct asf_record_writer *w, struct asf_record_format *f, size_t bytes) {
    struct draft *s = &w->draft;
    uint32_t token = 0;
    if (s->region)
        return asf__record_fail(-EINVAL, "a record was begun but not ended");
    int rc = w->options.indexed && w->index.records.count == INDEX_RECORDS ? put_index(w) : 0;
    if (rc == 0)
        rc = token_of(w, f, &token);
    if (rc == 0 && w->options.indexed)
        rc = asf__offsets_add(&w->index.records, w->position);
    if (rc < 0)
        return rc;
    unsigned least = w->options.hashed ? 1 : 0;
    s->frame = (struct asf__frame){.token = token,
                                   .kind = w->options.hashed ? FRAME_HASHED : FRAME_DATA,
                                   .gap = asf__gap(w->position, bytes, asf__root(f)->alignment, least),
                                   .length = bytes};
    rc = open_frame(w, &s->frame, &s->region);
    if (rc < 0) {
        unindex(w);
        return rc;
    }
    s->format = f;
    s->record = s->region + asf__frame_before(&s->frame);
    s->used = asf__root(f)->size;
    s->room = bytes;
    return 0;
}

/* Completes the frame and frees its region. */
static int close_record(struct asf_record_writer *w) {
    struct draft *s = &w->draft;
    unsigned char *region = s->region;
    asf__frame_put(region, &s->frame);
    if (w->options.hashed)
        memcpy(region + FRAME_HEAD, s->format->hash, FRAME_HASH);
    s->region = NULL;
    return close_frame(w, &s->frame, region);
}

/* Discards the record: shortens its region to nothing, so that no byte is written. */
static void drop_record(struct asf_record_writer *w) {
    ssize_t none = 0;
    void *shortened = asf_srealloc(w->stream, w->draft.region, &none);
    asf_sfree(w->stream, shortened ? shortened : w->draft.region);
    w->draft.region = NULL;
    unindex(w);
}

/* Shortens the region to the bytes in use.  If other regions of the stream follow, shortening fails, and
 * the unused bytes become zeros in the record. */
static void shorten(struct asf_record_writer *w) {
    struct draft *s = &w->draft;
    struct asf__frame frame = s->frame;
    frame.length = s->used;
    ssize_t bytes = (ssize_t)asf__frame_bytes(&frame);
    if (asf_srealloc(w->stream, s->region, &bytes) && bytes == (ssize_t)asf__frame_bytes(&frame))
        s->frame = frame;
    else
        memset(s->record + s->used, 0, s->room - s->used);
}

int asf_record_write(struct asf_record_writer *w, struct asf_record_format *f, const void *data) {
    size_t size;
    int rc = marshal_size(f, data, &size);
    if (rc == 0)
        rc = open_record(w, f, size);
    if (rc < 0)
        return rc;
    rc = marshal(f, data, w->draft.record, size);
    if (rc == 0)
        return close_record(w);
    drop_record(w);
    return rc;
}

int asf_record_begin(struct asf_record_writer *w, struct asf_record_format *f, size_t extra, void **data) {
    size_t size = asf__root(f)->size, room;
    *data = NULL;
    if (__builtin_add_overflow(size, extra, &room) || room > SIZE_MAX / 4)
        return asf__record_fail(-E2BIG, "a record cannot have %zu bytes after its struct", extra);
    int rc = open_record(w, f, room);
    if (rc == 0)
        *data = memset(w->draft.record, 0, size);
    return rc;
}

/* Reserves bytes after those in use, and stores their offset in the pointer at `slot`. */
static void *take_room(struct draft *s, void *slot, size_t bytes, size_t align) {
    size_t at = (s->used + align - 1) & -align;
    if (!s->region || bytes > s->room || at > s->room - bytes) {
        asf__record_fail(-E2BIG, "the record has no room for %zu more bytes", bytes);
        return NULL;
    }
    memset(s->record + s->used, 0, at - s->used);
    s->used = at + bytes;
    memcpy(slot, &at, sizeof(void *));
    return s->record + at;
}

void *asf_record_part(struct asf_record_writer *w, void *slot, size_t bytes) {
    size_t align = 8;
    for (unsigned i = 0; w->draft.region && i < w->draft.format->count; i++)
        if (w->draft.format->structs[i].alignment > align)
            align = w->draft.format->structs[i].alignment;
    return take_room(&w->draft, slot, bytes, align);
}

int asf_record_string(struct asf_record_writer *w, void *slot, const char *text) {
    size_t bytes = text ? strlen(text) + 1 : 0;
    if (!text) {
        memset(slot, 0, sizeof(void *));
        return 0;
    }
    void *room = take_room(&w->draft, slot, bytes, 1);
    if (!room)
        return -E2BIG;
    memcpy(room, text, bytes);
    return 0;
}

int asf_record_end(struct asf_record_writer *w) {
    if (!w->draft.region)
        return asf__record_fail(-EINVAL, "no record has been begun");
    if (w->draft.used < w->draft.room)
        shorten(w);
    return close_record(w);
}

/* --- opening and closing ----------------------------------------------------------------------- */

int asf_record_writer_new(struct asf_cios *stream, const struct asf_record_options *options,
                          struct asf_record_writer **writer) {
    *writer = NULL;
    struct asf_record_writer *w = calloc(1, sizeof *w);
    if (!w)
        return asf__record_no_memory("for a writer");
    w->stream = stream;
    int rc = asf__record_options(options, &w->options);
    if (rc == 0)
        rc = put_frame(w, (struct asf__frame){.token = FRAME_TOKEN, .kind = FRAME_START}, NULL);
    if (rc < 0)
        free(w);
    else
        *writer = w;
    return rc;
}

static int put_end(struct asf_record_writer *w) {
    unsigned char end[FRAME_END_BYTES];
    int rc = put_index(w);
    asf__store(end, w->index.first, 8, ASF__FOREIGN);
    asf__store(end + 8, w->index.previous, 8, ASF__FOREIGN);
    asf__store(end + 16, w->position, 8, ASF__FOREIGN);
    asf__store(end + 24, FRAME_END_MARK, 8, ASF__FOREIGN);
    return rc < 0 ? rc : put_frame(w, (struct asf__frame){.kind = FRAME_END, .length = sizeof end}, end);
}

int asf_record_writer_close(struct asf_record_writer *w) {
    if (w->draft.region)
        drop_record(w);
    int rc = w->failed == 0 && w->options.indexed ? put_end(w) : w->failed;
    for (uint32_t i = 0; i < w->count; i++)
        asf_record_format_free(w->formats[i]);
    asf__index_free(&w->index);
    free(w->formats);
    free(w);
    return rc;
}

/* --- messages in memory ------------------------------------------------------------------------ */

/* Computes the header of a message. */
static int frame_message(struct asf_record_format *f, const void *data, struct asf__frame *frame) {
    size_t size;
    int rc = marshal_size(f, data, &size);
    if (rc == 0)
        *frame = (struct asf__frame){
            .kind = FRAME_HASHED, .gap = asf__gap(0, size, asf__root(f)->alignment, 1), .length = size};
    return rc;
}

ssize_t asf_record_encode(struct asf_record_format *f, const void *data, void *message, size_t room) {
    struct asf__frame frame;
    unsigned char *at = message;
    int rc = frame_message(f, data, &frame);
    if (rc < 0)
        return rc;
    if (asf__frame_bytes(&frame) <= room) {
        asf__frame_put(at, &frame);
        memcpy(at + FRAME_HEAD, f->hash, FRAME_HASH);
        rc = marshal(f, data, at + asf__frame_before(&frame), frame.length);
    }
    return rc < 0 ? rc : (ssize_t)asf__frame_bytes(&frame);
}

int asf_record_gather(struct asf_record_format *f, const void *data, void *message, size_t room,
                      struct iovec *pieces, size_t most) {
    struct asf__frame frame;
    unsigned char *at = message;
    struct chunks p = {pieces, 0, most, at, at + room};
    int rc = frame_message(f, data, &frame);
    if (rc < 0)
        return rc;
    size_t before = asf__frame_before(&frame);
    if (before > room)
        return asf__record_fail(-E2BIG, "the buffer is too small for a header");
    asf__frame_head(at, &frame);
    memcpy(at + FRAME_HEAD, f->hash, FRAME_HASH);
    rc = marshal_chunks(f, data, at + before, frame.length, asf__padded(frame.length), &p);
    return rc < 0 ? rc : (int)p.count;
}
