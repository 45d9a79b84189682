/* SPDX-License-Identifier: MIT
 *
 * decoder_xz.c - decoder of xz, by liblzma: concatenated streams and the padding between them.
 */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include <asf/decode.h>

/* xz -9 needs 65 MB to decode; a header can demand 4 GB. */
enum { MAX_MEMORY = 256 << 20 };

static void *xz_begin(void) {
    lzma_stream *z = calloc(1, sizeof *z);
    if (z && lzma_stream_decoder(z, MAX_MEMORY, LZMA_CONCATENATED) != LZMA_OK) {
        free(z);
        return NULL;
    }
    return z;
}

/* With LZMA_CONCATENATED liblzma reports the end of the last stream only after LZMA_FINISH. */
static int xz_decode(void *state, struct asf_decoding *d) {
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
    if (rc == LZMA_OK || rc == LZMA_BUF_ERROR) /* BUF_ERROR: liblzma needs more input or output space */
        return 0;
    if (rc == LZMA_STREAM_END)
        return 1;
    return rc == LZMA_MEM_ERROR || rc == LZMA_MEMLIMIT_ERROR ? -ENOMEM : -EBADMSG;
}

static void xz_end(void *state) {
    lzma_end(state);
    free(state);
}

const struct asf_decoder *asf_decoder_xz(void) {
    static const struct asf_decoder xz = {sizeof xz, ASF_DECODER_VERSION, "xz", xz_begin, xz_decode, xz_end,
                                          NULL};
    return &xz;
}
