/* SPDX-License-Identifier: MIT
 *
 * decoder_xz.c - xz: its streams and the padding between them, by liblzma.
 */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include <asf/decode.h>

/* xz -9 needs 65 MB; a header can ask for 4 GB. */
enum { MOST_MEMORY = 256 << 20 };

static void *begin(void) {
    lzma_stream *z = calloc(1, sizeof *z);
    if (z && lzma_stream_decoder(z, MOST_MEMORY, LZMA_CONCATENATED) != LZMA_OK) {
        free(z);
        return NULL;
    }
    return z;
}

/* Only told that no input follows does liblzma know where the last stream ends. */
static int decode(void *state, struct asf_decoding *d) {
    lzma_stream *z = state;
    z->next_in = (const uint8_t *)d->in;
    z->avail_in = d->in_size;
    z->next_out = (uint8_t *)d->out;
    z->avail_out = d->out_size;
    lzma_ret rc;
    do
        rc = lzma_code(z, d->last ? LZMA_FINISH : LZMA_RUN);
    while (rc == LZMA_OK && z->avail_out > 0 && (z->avail_in > 0 || d->last));
    d->in += d->in_size - z->avail_in;
    d->in_size = z->avail_in;
    d->out += d->out_size - z->avail_out;
    d->out_size = z->avail_out;
    if (rc == LZMA_OK || rc == LZMA_BUF_ERROR) /* nothing more without input, or room */
        return 0;
    if (rc == LZMA_STREAM_END)
        return 1;
    return rc == LZMA_MEM_ERROR || rc == LZMA_MEMLIMIT_ERROR ? -ENOMEM : -EBADMSG;
}

static void end(void *state) {
    lzma_end(state);
    free(state);
}

const struct asf_decoder *asf_decoder_xz(void) {
    static const struct asf_decoder xz = {sizeof xz, ASF_DECODER_VERSION, "xz", begin, decode, end};
    return &xz;
}
