/* SPDX-License-Identifier: MIT
 *
 * decoder_gzip.c - gzip: its members, by zlib, and zero bytes behind the last one.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define ZLIB_CONST
#include <zlib.h>

#include <asf/decode.h>

struct gzip {
    z_stream z;
    enum { WITHIN, BETWEEN, PADDING } at; /* a member, two of them, the zero bytes behind the last */
};

static void *begin(void) {
    enum { LARGEST_WINDOW = 15, GZIP_ALONE = 16 };
    struct gzip *g = calloc(1, sizeof *g);
    if (g && inflateInit2(&g->z, LARGEST_WINDOW + GZIP_ALONE) != Z_OK) {
        free(g);
        return NULL;
    }
    return g;
}

/* Behind a member there is another one, or padding: tapes have blocks. */
static int next_member(struct gzip *g, struct asf_decoding *d) {
    for (; d->in_size > 0 && *d->in == 0; d->in++, d->in_size--)
        g->at = PADDING;
    if (d->in_size == 0)
        return 1;
    if (g->at == PADDING)
        return -EBADMSG;
    g->at = WITHIN;
    inflateReset(&g->z);
    return 0;
}

static unsigned at_most(size_t n) {
    return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

static int inflate_some(struct gzip *g, struct asf_decoding *d) {
    unsigned in = at_most(d->in_size), out = at_most(d->out_size);
    g->z.next_in = (const Bytef *)d->in;
    g->z.avail_in = in;
    g->z.next_out = (Bytef *)d->out;
    g->z.avail_out = out;
    int rc = inflate(&g->z, Z_NO_FLUSH);
    d->in += in - g->z.avail_in;
    d->in_size -= in - g->z.avail_in;
    d->out += out - g->z.avail_out;
    d->out_size -= out - g->z.avail_out;
    return rc;
}

static int decode(void *state, struct asf_decoding *d) {
    struct gzip *g = state;
    for (;;) {
        if (g->at != WITHIN) {
            int rc = next_member(g, d);
            if (rc != 0)
                return rc;
        }
        int rc = inflate_some(g, d);
        if (rc == Z_STREAM_END)
            g->at = BETWEEN;
        else if (rc == Z_BUF_ERROR || (rc == Z_OK && (d->in_size == 0 || d->out_size == 0)))
            return 0; /* all that could be done with what there was */
        else if (rc != Z_OK)
            return rc == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
    }
}

static void end(void *state) {
    struct gzip *g = state;
    inflateEnd(&g->z);
    free(g);
}

const struct asf_decoder *asf_decoder_gzip(void) {
    static const struct asf_decoder gzip = {sizeof gzip, ASF_DECODER_VERSION, "gzip", begin, decode, end};
    return &gzip;
}
