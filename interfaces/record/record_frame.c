/* SPDX-License-Identifier: MIT
 *
 * record_frame.c - writes frame headers and computes gaps.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "interfaces/record/record_frame.h"

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

int asf__frame_bad(const struct asf__frame *frame) {
    bool hash = frame->kind == FRAME_HASHED && frame->gap == 0;
    return asf__record_fail(-EBADMSG,
                            hash ? "a hashed record has no hash" : "no record begins where one is expected");
}

uint8_t asf__gap(uint64_t position, size_t length, size_t alignment, unsigned least) {
    unsigned gap = least;
    if (length >= FRAME_LARGE || alignment > FRAME_HEAD)
        while ((position + FRAME_HEAD * (1 + gap)) % 64 != 0)
            gap++;
    return (uint8_t)gap;
}
