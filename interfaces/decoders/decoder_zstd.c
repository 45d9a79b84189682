/* SPDX-License-Identifier: MIT
 *
 * decoder_zstd.c - decoder of zstd: frames and skippable frames.
 */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <asf/decode.h>

struct zstd {
    ZSTD_DStream *stream;
    size_t wanted; /* ZSTD_decompressStream's hint: the bytes left in the block, plus the next block header
                      except after the last */
    bool between;  /* the next byte begins a frame */
    bool full;     /* the last call filled the output: zstd may hold more */
};

static void *begin(void) {
    struct zstd *z = calloc(1, sizeof *z);
    if (z && !(z->stream = ZSTD_createDStream())) {
        free(z);
        return NULL;
    }
    return z;
}

static int failed(size_t code) {
    ZSTD_ErrorCode why = ZSTD_getErrorCode(code);
    return why == ZSTD_error_memory_allocation || why == ZSTD_error_frameParameter_windowTooLarge ? -ENOMEM
                                                                                                  : -EBADMSG;
}

/* If ZSTD_decompressStream fails, the call's output is lost.  So each call completes at most one block: then
 * the bytes returned before damaged input do not depend on how the input is split. */
static size_t next_step(const struct zstd *z, size_t n) {
    enum { BLOCK_HEADER = 3 };
    size_t step = z->full ? 0 : z->wanted > BLOCK_HEADER ? z->wanted - BLOCK_HEADER : 1;
    return step < n ? step : n;
}

/* The window limit is the library's default, 128 MB, as in the zstd tool. */
static int decode(void *state, struct asf_decoding *d) {
    struct zstd *z = state;
    while (d->in_size > 0 || !z->between) {
        ZSTD_inBuffer in = {d->in, next_step(z, d->in_size), 0};
        ZSTD_outBuffer out = {d->out, d->out_size, 0};
        size_t r = ZSTD_decompressStream(z->stream, &out, &in);
        d->in += in.pos;
        d->in_size -= in.pos;
        d->out += out.pos;
        d->out_size -= out.pos;
        if (ZSTD_isError(r))
            return failed(r);
        z->wanted = r;
        z->between = r == 0;
        z->full = d->out_size == 0;
        if (z->full || (d->in_size == 0 && out.pos == 0))
            break;
    }
    return z->between;
}

static void end(void *state) {
    struct zstd *z = state;
    ZSTD_freeDStream(z->stream);
    free(z);
}

const struct asf_decoder *asf_decoder_zstd(void) {
    static const struct asf_decoder zstd = {sizeof zstd, ASF_DECODER_VERSION, "zstd", begin, decode, end};
    return &zstd;
}
