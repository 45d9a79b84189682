/* SPDX-License-Identifier: MIT
 *
 * decoder_lz4.c - lz4: its frames, and skippable ones.
 * Layer: interfaces/decoders, libraries of their own; may include include/asf.
 */
#include <errno.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>

#include <asf/decode.h>

struct lz4 {
    LZ4F_dctx *context;
    bool between; /* two frames */
};

static void *begin(void) {
    struct lz4 *l = calloc(1, sizeof *l);
    if (l && LZ4F_isError(LZ4F_createDecompressionContext(&l->context, LZ4F_VERSION))) {
        free(l);
        return NULL;
    }
    return l;
}

/* The codes have names alone. */
static int failed(size_t code) {
    return strstr(LZ4F_getErrorName(code), "allocation_failed") ? -ENOMEM : -EBADMSG;
}

static int decode(void *state, struct asf_decoding *d) {
    struct lz4 *l = state;
    while (d->in_size > 0 || !l->between) {
        size_t in = d->in_size, out = d->out_size;
        size_t r = LZ4F_decompress(l->context, d->out, &out, d->in, &in, NULL);
        if (LZ4F_isError(r))
            return failed(r);
        d->in += in;
        d->in_size -= in;
        d->out += out;
        d->out_size -= out;
        l->between = r == 0;
        if (d->out_size == 0 || (in == 0 && out == 0))
            break;
    }
    return l->between;
}

static void end(void *state) {
    struct lz4 *l = state;
    LZ4F_freeDecompressionContext(l->context);
    free(l);
}

const struct asf_decoder *asf_decoder_lz4(void) {
    static const struct asf_decoder lz4 = {sizeof lz4, ASF_DECODER_VERSION, "lz4", begin, decode, end};
    return &lz4;
}
