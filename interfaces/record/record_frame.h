/* SPDX-License-Identifier: MIT
 *
 * record_frame.h - what stands around descriptions and records in a stream.
 *
 * A frame is a head of 16 bytes, little-endian: u32 token, u8 version (1), u8
 * kind, u8 0, u8 gap, u64 bytes of payload; `gap` times 16 bytes; the payload;
 * and zeros up to a multiple of 16.  Frames start at multiples of 16 of the
 * stream, the payload of a large record at one of 64.
 *
 *   START   a stream of records begins; the token is "asfr", no payload.  The
 *           formats before it are forgotten, so streams can be joined.
 *   FORMAT  a description; the token is its number in the stream, from 0 on
 *   DATA    a record of the format with this number
 *   HASHED  a record whose format's hash stands in the gap
 *   INDEX   u64 where the last INDEX before starts (0: none), u64 the number of
 *           the first record, u32 formats, u32 records, and where their frames
 *           start, u64 each
 *   END     u64 records, u64 where the last INDEX starts, u64 where this frame
 *           starts, u64 "asfr.end"
 * Places are counted from START.
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
    FRAME_LARGE = 512, /* bytes of a record that is worth an alignment of 64 */
    FRAME_INDEX_HEAD = 24,
    FRAME_END_BYTES = 32,
    FRAME_TOKEN = 0x72667361, /* "asfr" */
};

#define FRAME_END_MARK 0x646e652e72667361u /* "asfr.end" */

struct asf__frame {
    uint32_t token;
    uint8_t kind, gap;
    uint64_t length; /* of the payload */
};

static inline size_t asf__frame_before(const struct asf__frame *frame) {
    return FRAME_HEAD * (1 + (size_t)frame->gap);
}

static inline uint64_t asf__padded(uint64_t length) {
    return (length + 15) & ~(uint64_t)15;
}

/* asf__frame_bytes: of the whole frame. */
static inline uint64_t asf__frame_bytes(const struct asf__frame *frame) {
    return asf__frame_before(frame) + asf__padded(frame->length);
}

/* asf__frame_head: write a head, and zeros into the gap.  asf__frame_put: and
 * zeros behind the payload. */
void asf__frame_head(unsigned char *at, const struct asf__frame *frame);
void asf__frame_put(unsigned char *at, const struct asf__frame *frame);

/* asf__frame_bad: -EBADMSG for a head that is none. */
int asf__frame_bad(const struct asf__frame *frame);

/* asf__frame_get: read a head; -EBADMSG when it is none. */
static inline int asf__frame_get(const unsigned char *at, struct asf__frame *frame) {
    frame->token = (uint32_t)asf__load(at, 4, ASF__FOREIGN);
    frame->kind = at[5];
    frame->gap = at[7];
    frame->length = asf__load(at + 8, 8, ASF__FOREIGN);
    bool good = at[4] == 1 && frame->kind < FRAME_KINDS && at[6] == 0 && frame->gap <= 4;
    return good && (frame->kind != FRAME_HASHED || frame->gap > 0) ? 0 : asf__frame_bad(frame);
}

/* asf__gap: blocks of 16 bytes between a head at `position` and its payload, at
 * least `least` of them. */
uint8_t asf__gap(uint64_t position, size_t length, size_t alignment, unsigned least);

#pragma GCC visibility pop

#endif
