/* SPDX-License-Identifier: MIT
 *
 * record_frame.c - the frames of a stream, to and from bytes: their headers and gaps, and the payload of
 * INDEX frames.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/record/record_frame.h"

/* --- headers ----------------------------------------------------------------------------------- */

void asf__frame_head(unsigned char *at, const struct asf__frame *frame) {
    asf__store(at, frame->token, 4, ASF__FOREIGN);
    at[4] = 1;
    at[5] = frame->kind;
    at[6] = 0;
    at[7] = frame->gap;
    asf__store(at + 8, frame->length, 8, ASF__FOREIGN);
    memset(at + FRAME_HEAD, 0, FRAME_HEAD * (size_t)frame->gap);
}

void asf__frame_put(unsigned char *at, const struct asf__frame *frame) {
    asf__frame_head(at, frame);
    unsigned char *end = at + asf__frame_before(frame) + frame->length;
    memset(end, 0, asf__padded(frame->length) - frame->length);
}

int asf__frame_get(const unsigned char *at, struct asf__frame *frame) {
    frame->token = (uint32_t)asf__load(at, 4, ASF__FOREIGN);
    frame->kind = at[5];
    frame->gap = at[7];
    frame->length = asf__load(at + 8, 8, ASF__FOREIGN);
    if (at[4] != 1 || frame->kind >= FRAME_KINDS || at[6] != 0 || frame->gap > 4)
        return asf__record_fail(-EBADMSG, "no record begins where one is expected");
    if (frame->kind == FRAME_HASHED && frame->gap == 0)
        return asf__record_fail(-EBADMSG, "a hashed record has no hash");
    return 0;
}

uint8_t asf__gap(uint64_t position, size_t length, size_t alignment, unsigned least) {
    unsigned gap = least;
    if (length >= FRAME_LARGE || alignment > FRAME_HEAD)
        while ((position + FRAME_HEAD * (1 + gap)) % 64 != 0)
            gap++;
    return (uint8_t)gap;
}

/* --- the index --------------------------------------------------------------------------------- */

int asf__offsets_add(struct asf__offsets *offsets, uint64_t at) {
    if (offsets->count == offsets->room) {
        size_t room = 2 * offsets->room + 64;
        uint64_t *more = reallocarray(offsets->all, room, sizeof *more);
        if (!more)
            return asf__record_no_memory("for the index");
        offsets->all = more;
        offsets->room = room;
    }
    offsets->all[offsets->count++] = at;
    return 0;
}

void asf__index_free(struct asf__index *index) {
    free(index->formats.all);
    free(index->records.all);
    *index = (struct asf__index){0};
}

static unsigned char *put_offsets(unsigned char *p, const struct asf__offsets *offsets) {
    for (size_t i = 0; i < offsets->count; i++, p += 8)
        asf__store(p, offsets->all[i], 8, ASF__FOREIGN);
    return p;
}

unsigned char *asf__index_payload(const struct asf__index *index, size_t *length) {
    *length = FRAME_INDEX_HEAD + 8 * (index->formats.count + index->records.count);
    unsigned char *payload = malloc(*length), *p = payload;
    if (!payload)
        return NULL;
    asf__store(p, index->previous, 8, ASF__FOREIGN);
    asf__store(p + 8, index->first, 8, ASF__FOREIGN);
    asf__store(p + 16, index->formats.count, 4, ASF__FOREIGN);
    asf__store(p + 20, index->records.count, 4, ASF__FOREIGN);
    p = put_offsets(p + FRAME_INDEX_HEAD, &index->formats);
    put_offsets(p, &index->records);
    return payload;
}

int asf__index_parse(struct asf__index *index, const unsigned char *payload, size_t length) {
    *index = (struct asf__index){0};
    if (length < FRAME_INDEX_HEAD)
        return asf__record_fail(-EBADMSG, "the index is shorter than its header");
    uint64_t formats = asf__load(payload + 16, 4, ASF__FOREIGN),
             records = asf__load(payload + 20, 4, ASF__FOREIGN);
    if (length != FRAME_INDEX_HEAD + 8 * (formats + records))
        return asf__record_fail(-EBADMSG, "the length of the index differs from its header");
    index->previous = asf__load(payload, 8, ASF__FOREIGN);
    index->first = asf__load(payload + 8, 8, ASF__FOREIGN);
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < formats + records; i++)
        rc = asf__offsets_add(i < formats ? &index->formats : &index->records,
                              asf__load(payload + FRAME_INDEX_HEAD + 8 * i, 8, ASF__FOREIGN));
    if (rc < 0)
        asf__index_free(index);
    return rc;
}
