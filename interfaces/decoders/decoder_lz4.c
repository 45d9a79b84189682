/* SPDX-License-Identifier: MIT
 *
 * decoder_lz4.c - decoder of lz4: frames, skippable frames, and the legacy frames of "lz4 -l".
 *
 * liblz4 does not decode legacy frames; the lz4 tool does.  A legacy frame is a magic number, then blocks of
 * at most 8 MB of data, each preceded by its compressed size, without an end mark.
 */
#include <errno.h>
#include <lz4.h>
#include <lz4frame.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <asf/decode.h>

enum { WORD = 4, LEGACY_BLOCK = 8 << 20 };

struct lz4 {
    enum { MAGIC, FRAME, LEGACY_SIZE, LEGACY_BYTES } at;
    bool begun; /* a frame was found: the input may end between frames */
    char word[WORD];
    size_t have; /* valid bytes of `word` or `packed` */

    LZ4F_dctx *context; /* used in state FRAME */
    size_t wanted;      /* LZ4F_decompress's hint: the bytes left in the block plus `after` */
    size_t after;       /* bytes of the block checksum and the next block header; 0: flags not read */
    bool full;          /* the last call filled the output: liblz4 may hold more */

    char *packed, *plain;      /* state LEGACY_BYTES: a compressed block and its decoded bytes; or NULL */
    size_t size, given, ready; /* the block's compressed size; bytes of `plain` returned, and decoded */
};

static void *begin(void) {
    struct lz4 *l = calloc(1, sizeof *l);
    if (l && LZ4F_isError(LZ4F_createDecompressionContext(&l->context, LZ4F_VERSION))) {
        free(l);
        return NULL;
    }
    return l;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* --- frames: functions return 0 to continue, 1 if input or output space is missing, or -errno --- */

/* liblz4's stable interface identifies its errors by name only. */
static int failed(size_t code) {
    return strstr(LZ4F_getErrorName(code), "allocation_failed") ? -ENOMEM : -EBADMSG;
}

static int pass(struct lz4 *l, const char *p, size_t *n, struct asf_decoding *d) {
    size_t out = d->out_size, r = LZ4F_decompress(l->context, d->out, &out, p, n, NULL);
    if (LZ4F_isError(r))
        return failed(r);
    d->out += out;
    d->out_size -= out;
    l->wanted = r;
    l->full = d->out_size == 0;
    if (r == 0) {
        l->at = MAGIC;
        l->have = 0;
    }
    return l->full;
}

/* If LZ4F_decompress fails, the call's output is lost.  So each call completes at most one block: then the
 * bytes returned before damaged input do not depend on how the input is split. */
static int decode_frame(struct lz4 *l, struct asf_decoding *d) {
    enum { BLOCK_CHECKSUMS = 0x10 }; /* in the byte after the magic number */
    if (!l->after && d->in_size > 0)
        l->after = *d->in & BLOCK_CHECKSUMS ? 2 * WORD : WORD;
    size_t step = l->full ? 0 : l->wanted > l->after ? l->wanted - l->after : 1;
    if (step > 0 && d->in_size == 0)
        return 1;
    step = smaller(step, d->in_size);
    int rc = pass(l, d->in, &step, d);
    d->in += step;
    d->in_size -= step;
    return rc;
}

/* --- magic numbers and legacy frames: the same return values --- */

/* Moves input to `to` until it holds `size` bytes.  Returns whether it does. */
static bool collect_bytes(struct lz4 *l, char *to, size_t size, struct asf_decoding *d) {
    size_t n = smaller(size - l->have, d->in_size);
    if (n > 0)
        memcpy(to + l->have, d->in, n);
    l->have += n;
    d->in += n;
    d->in_size -= n;
    return l->have == size;
}

static int begin_block(struct lz4 *l, size_t size) {
    if (!l->packed)
        l->packed = malloc(LZ4_COMPRESSBOUND(LEGACY_BLOCK));
    if (!l->plain)
        l->plain = malloc(LEGACY_BLOCK);
    l->size = size;
    l->at = LEGACY_BYTES;
    return l->packed && l->plain ? 0 : -ENOMEM;
}

/* Reads a frame's magic number or, in a legacy frame, the next block's size.  A value above the largest block
 * size is the next frame's magic number. */
static int next_word(struct lz4 *l, struct asf_decoding *d) {
    enum { LEGACY_MAGIC = 0x184C2102 };
    if (!collect_bytes(l, l->word, WORD, d))
        return 1;
    const unsigned char *p = (const unsigned char *)l->word;
    uint32_t word = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    size_t n = WORD;
    l->have = 0;
    if (l->at == LEGACY_SIZE && word <= LZ4_COMPRESSBOUND(LEGACY_BLOCK))
        return begin_block(l, word);
    l->begun = true;
    l->after = 0;
    l->at = word == LEGACY_MAGIC ? LEGACY_SIZE : FRAME;
    return l->at == FRAME ? pass(l, l->word, &n, d) : 0;
}

static int decode_block(struct lz4 *l, struct asf_decoding *d) {
    if (l->given == l->ready) {
        if (!collect_bytes(l, l->packed, l->size, d))
            return 1;
        int n = LZ4_decompress_safe(l->packed, l->plain, (int)l->size, LEGACY_BLOCK);
        if (n < 0)
            return -EBADMSG;
        l->given = 0;
        l->ready = (size_t)n;
    }
    size_t n = smaller(l->ready - l->given, d->out_size);
    memcpy(d->out, l->plain + l->given, n);
    l->given += n;
    d->out += n;
    d->out_size -= n;
    if (l->given == l->ready) {
        l->at = LEGACY_SIZE;
        l->have = 0;
    }
    return d->out_size == 0;
}

static int decode(void *state, struct asf_decoding *d) {
    struct lz4 *l = state;
    int rc = 0;
    while (rc == 0)
        rc = l->at == FRAME          ? decode_frame(l, d)
             : l->at == LEGACY_BYTES ? decode_block(l, d)
                                     : next_word(l, d);
    bool between = l->begun && (l->at == MAGIC || l->at == LEGACY_SIZE) && l->have == 0;
    return rc < 0 ? rc : between;
}

static void end(void *state) {
    struct lz4 *l = state;
    LZ4F_freeDecompressionContext(l->context);
    free(l->packed);
    free(l->plain);
    free(l);
}

const struct asf_decoder *asf_decoder_lz4(void) {
    static const struct asf_decoder lz4 = {sizeof lz4, ASF_DECODER_VERSION, "lz4", begin, decode, end};
    return &lz4;
}
