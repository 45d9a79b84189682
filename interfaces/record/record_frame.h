/* SPDX-License-Identifier: MIT
 *
 * record_frame.h - frames, which contain the descriptions and records of a stream.
 *
 * A frame begins with a header of 16 bytes, little-endian: u32 token, u8 version (1), u8 kind, u8 0, u8
 * gap, u64 bytes of payload.  Then come 16 times `gap` bytes, the payload, and zeros up to a multiple of
 * 16.  Each frame begins at a multiple of 16 bytes in the stream.  The payload of a large record, or of a
 * record with an alignment above 16, begins at a multiple of 64.
 *
 *   START   begins a stream of records; the token is "asfr", and there is no payload.  The formats
 *           before it are no longer valid, so streams can be concatenated.
 *   FORMAT  a description; the token is the format's number in the stream, from 0 on
 *   DATA    a record; the token is the number of its format
 *   HASHED  a record; the gap contains the hash of its format
 *   INDEX   u64 offset of the previous INDEX (0: none), u64 number of the first record, u32 formats,
 *           u32 records, then the offsets of their frames, u64 each
 *   END     u64 records, u64 offset of the last INDEX, u64 offset of this frame, u64 "asfr.end"
 *
 * Offsets are counted from START.
 */
#ifndef ASF_RECORD_FRAME_H
#define ASF_RECORD_FRAME_H

#include "interfaces/record/record_format.h"

#pragma GCC visibility push(hidden)

enum asf__frame_kind {
    FRAME_START,
    FRAME_FORMAT,
    FRAME_DATA,
    FRAME_HASHED,
    FRAME_INDEX,
    FRAME_END,
    FRAME_KINDS
};

enum {
    FRAME_HEAD = 16,
    FRAME_HASH = 16,
    FRAME_LARGE = 512, /* a record of this size or more is aligned to 64 bytes */
    FRAME_INDEX_HEAD = 24,
    FRAME_END_BYTES = 32,
    FRAME_TOKEN = 0x72667361, /* "asfr" */
};

#define FRAME_END_MARK 0x646e652e72667361u /* "asfr.end" */

struct asf__frame {
    uint32_t token;
    uint8_t kind, gap;
    uint64_t length; /* bytes of the payload */
};

static inline size_t asf__frame_before(const struct asf__frame *frame) {
    return FRAME_HEAD * (1 + (size_t)frame->gap);
}

static inline uint64_t asf__padded(uint64_t length) {
    return (length + 15) & ~(uint64_t)15;
}

/* asf__frame_bytes: the size of the frame, with header and padding. */
static inline uint64_t asf__frame_bytes(const struct asf__frame *frame) {
    return asf__frame_before(frame) + asf__padded(frame->length);
}

/* asf__frame_head: write the header, and zeros into the gap.  asf__frame_put: also write the zeros after the
 * payload. */
void asf__frame_head(unsigned char *at, const struct asf__frame *frame);
void asf__frame_put(unsigned char *at, const struct asf__frame *frame);

/* asf__frame_get: read a header.  Returns 0 or -EBADMSG. */
int asf__frame_get(const unsigned char *at, struct asf__frame *frame);

/* asf__gap: returns how many blocks of 16 bytes, at least `least`, must follow a header at `position` so that
 * the payload is aligned. */
uint8_t asf__gap(uint64_t position, size_t length, size_t alignment, unsigned least);

/* --- the index of a file: offsets of its formats and records ----------------------------------- */

struct asf__offsets {
    uint64_t *all;
    size_t count, room;
};

/* The formats and records since the last INDEX frame. */
struct asf__index {
    struct asf__offsets formats, records;
    uint64_t first;    /* number of the first record */
    uint64_t previous; /* offset of the last INDEX frame, or 0 */
};

enum { INDEX_RECORDS = 64 * 1024 }; /* records of one INDEX frame, at most */

/* asf__offsets_add: append an offset.  Returns 0 or -ENOMEM. */
int asf__offsets_add(struct asf__offsets *offsets, uint64_t at);

void asf__index_free(struct asf__index *index);

/* asf__index_payload: make the payload of an INDEX frame; the caller frees it.  NULL: no memory. */
unsigned char *asf__index_payload(const struct asf__index *index, size_t *length);

/* asf__index_parse: read the payload of an INDEX frame.  The caller must check the offsets. */
int asf__index_parse(struct asf__index *index, const unsigned char *payload, size_t length);

#pragma GCC visibility pop

#endif
