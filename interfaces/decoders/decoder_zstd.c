/* SPDX-License-Identifier: MIT
 *
 * decoder_zstd.c - decoder of zstd: frames and skippable frames.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <asf/decode.h>

struct zstd {
    ZSTD_DStream *stream;
    size_t size_hint; /* ZSTD_decompressStream's hint: the bytes left in the block, plus the next block header
                      except after the last */
    bool at_frame_start; /* the next byte begins a frame */
    bool output_full;    /* the last call filled the output: zstd may hold more */
};

static uint32_t read_le(const unsigned char *p, unsigned n) {
    uint32_t number = 0;
    while (n-- > 0)
        number = number << 8 | p[n];
    return number;
}

static void *zstd_begin(void) {
    struct zstd *z = calloc(1, sizeof *z);
    if (z && !(z->stream = ZSTD_createDStream())) {
        free(z);
        return NULL;
    }
    return z;
}

static int zstd_error(size_t code) {
    ZSTD_ErrorCode why = ZSTD_getErrorCode(code);
    return why == ZSTD_error_memory_allocation || why == ZSTD_error_frameParameter_windowTooLarge ? -ENOMEM
                                                                                                  : -EBADMSG;
}

/* If ZSTD_decompressStream fails, the call's output is lost.  So each call completes at most one block: then
 * the bytes returned before damaged input do not depend on how the input is split. */
static size_t next_input_size(const struct zstd *z, size_t n) {
    enum { BLOCK_HEADER = 3 };
    size_t step = z->output_full ? 0 : z->size_hint > BLOCK_HEADER ? z->size_hint - BLOCK_HEADER : 1;
    return step < n ? step : n;
}

/* The window limit is the library's default, 128 MB, as in the zstd tool. */
static int zstd_decode(void *state, struct asf_decoding *d) {
    struct zstd *z = state;
    while (d->in_size > 0 || !z->at_frame_start) {
        ZSTD_inBuffer in = {d->in, next_input_size(z, d->in_size), 0};
        ZSTD_outBuffer out = {d->out, d->out_size, 0};
        size_t r = ZSTD_decompressStream(z->stream, &out, &in);
        d->in += in.pos;
        d->in_size -= in.pos;
        d->out += out.pos;
        d->out_size -= out.pos;
        if (ZSTD_isError(r))
            return zstd_error(r);
        z->size_hint = r;
        z->at_frame_start = r == 0;
        z->output_full = d->out_size == 0;
        if (z->output_full || (d->in_size == 0 && out.pos == 0))
            break;
    }
    return z->at_frame_start;
}

/* --- frames, measured by the headers of their blocks -------------------------------------------- */

enum { HEADER, BLOCKS, BLOCKS_AND_CHECKSUM }; /* states: what comes next */

/* A skippable frame belongs to the frame that follows it. */
static int measure_header(struct asf_frame *f, const unsigned char *p, size_t n) {
    static const unsigned char id_bytes[] = {0, 1, 2, 4}, size_bytes[] = {0, 2, 4, 8};
    enum { CHECKSUM = 0x04, ONE_SEGMENT = 0x20, MIN_HEADER = 8 };
    if (n == 0 && f->length > 0)
        return 1;
    if (n < MIN_HEADER)
        return -EBADMSG;
    if ((read_le(p, 4) & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START) {
        f->length += MIN_HEADER + (int64_t)read_le(p + 4, 4);
        return 0;
    }
    unsigned long long size = ZSTD_getFrameContentSize(p, n);
    if (size == ZSTD_CONTENTSIZE_ERROR)
        return -EBADMSG;
    f->decoded = size > INT64_MAX ? -1 : (int64_t)size;
    f->length += 5 + id_bytes[p[4] & 3] + size_bytes[p[4] >> 6];
    f->length += p[4] & ONE_SEGMENT ? p[4] >> 6 == 0 : 1; /* one byte: the content size, or the window size */
    f->state = p[4] & CHECKSUM ? BLOCKS_AND_CHECKSUM : BLOCKS;
    return 0;
}

static int zstd_measure(struct asf_frame *f, const unsigned char *p, size_t n) {
    enum { BLOCK_HEADER = 3, CHECKSUM = 4, LAST = 1, REPEATED = 1, RESERVED = 3 };
    if (f->state == HEADER)
        return measure_header(f, p, n);
    if (n < BLOCK_HEADER)
        return -EBADMSG;
    uint32_t header = read_le(p, BLOCK_HEADER), type = header >> 1 & 3;
    if (type == RESERVED)
        return -EBADMSG;
    f->length += BLOCK_HEADER + (type == REPEATED ? 1 : header >> 3);
    if (header & LAST && f->state == BLOCKS_AND_CHECKSUM)
        f->length += CHECKSUM;
    return header & LAST;
}

static void zstd_end(void *state) {
    struct zstd *z = state;
    ZSTD_freeDStream(z->stream);
    free(z);
}

const struct asf_decoder *asf_decoder_zstd(void) {
    static const struct asf_decoder zstd = {sizeof zstd, ASF_DECODER_VERSION, "zstd", zstd_begin, zstd_decode,
                                            zstd_end,    zstd_measure};
    return &zstd;
}
