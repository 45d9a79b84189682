/* SPDX-License-Identifier: MIT
 *
 * decoder_lz4.c - decoder of lz4: frames, skippable frames, and the legacy frames of "lz4 -l".
 *
 * liblz4 does not decode legacy frames; the lz4 tool does.  A legacy frame is a magic number, then blocks of
 * at most 8 MB of data.  The compressed size precedes each block, and no end mark follows the last.
 */
#include <errno.h>
#include <lz4.h>
#include <lz4frame.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <asf/decode.h>

enum { WORD_SIZE = 4, LEGACY_BLOCK = 8 << 20, LEGACY_MAGIC = 0x184C2102 };

struct lz4 {
    enum { MAGIC, FRAME, LEGACY_SIZE, LEGACY_BYTES } state;
    bool found_frame; /* a frame was found: the input may end between frames */
    char word[WORD_SIZE];
    size_t byte_count; /* valid bytes of `word` or `compressed` */

    LZ4F_dctx *context;  /* used in state FRAME */
    size_t size_hint;    /* LZ4F_decompress's hint: the bytes left in the block plus `trailer_size` */
    size_t trailer_size; /* bytes of the block checksum and the next block header; 0: flags not read */
    bool output_full;    /* the last call filled the output: liblz4 may hold more */

    char *compressed, *decoded;    /* state LEGACY_BYTES: a compressed block and its decoded bytes; or NULL */
    size_t size;                   /* the block's compressed size */
    size_t returned, decoded_size; /* bytes of `decoded` returned, and all of them */
};

static void *lz4_begin(void) {
    struct lz4 *l = calloc(1, sizeof *l);
    if (l && LZ4F_isError(LZ4F_createDecompressionContext(&l->context, LZ4F_VERSION))) {
        free(l);
        return NULL;
    }
    return l;
}

static uint32_t read_le32(const void *bytes) {
    const unsigned char *p = bytes;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static size_t min_size(size_t a, size_t b) {
    return a < b ? a : b;
}

/* --- frames: functions return 0 to continue, 1 if input or output space is missing, or -errno --- */

/* liblz4's stable interface identifies its errors by name only. */
static int lz4_error(size_t code) {
    return strstr(LZ4F_getErrorName(code), "allocation_failed") ? -ENOMEM : -EBADMSG;
}

static int decompress_some(struct lz4 *l, const char *p, size_t *n, struct asf_decoding *d) {
    size_t out = d->out_size, r = LZ4F_decompress(l->context, d->out, &out, p, n, NULL);
    if (LZ4F_isError(r))
        return lz4_error(r);
    d->out += out;
    d->out_size -= out;
    l->size_hint = r;
    l->output_full = d->out_size == 0;
    if (r == 0) {
        l->state = MAGIC;
        l->byte_count = 0;
    }
    return l->output_full;
}

/* If LZ4F_decompress fails, the call's output is lost.  So each call completes at most one block: then the
 * bytes returned before damaged input do not depend on how the input is split. */
static int decode_frame(struct lz4 *l, struct asf_decoding *d) {
    enum { BLOCK_CHECKSUMS = 0x10 }; /* in the byte after the magic number */
    if (!l->trailer_size && d->in_size > 0)
        l->trailer_size = *d->in & BLOCK_CHECKSUMS ? 2 * WORD_SIZE : WORD_SIZE;
    size_t step = l->output_full ? 0 : l->size_hint > l->trailer_size ? l->size_hint - l->trailer_size : 1;
    if (step > 0 && d->in_size == 0)
        return 1;
    step = min_size(step, d->in_size);
    int rc = decompress_some(l, d->in, &step, d);
    d->in += step;
    d->in_size -= step;
    return rc;
}

/* --- magic numbers and legacy frames: the same return values --- */

/* Moves input to `to` until it holds `size` bytes.  Returns whether it does. */
static bool collect_bytes(struct lz4 *l, char *to, size_t size, struct asf_decoding *d) {
    size_t n = min_size(size - l->byte_count, d->in_size);
    if (n > 0)
        memcpy(to + l->byte_count, d->in, n);
    l->byte_count += n;
    d->in += n;
    d->in_size -= n;
    return l->byte_count == size;
}

static int begin_legacy_block(struct lz4 *l, size_t size) {
    if (!l->compressed)
        l->compressed = malloc(LZ4_COMPRESSBOUND(LEGACY_BLOCK));
    if (!l->decoded)
        l->decoded = malloc(LEGACY_BLOCK);
    l->size = size;
    l->state = LEGACY_BYTES;
    return l->compressed && l->decoded ? 0 : -ENOMEM;
}

/* Reads a frame's magic number or, in a legacy frame, the next block's size.  A value above the largest block
 * size is the next frame's magic number. */
static int read_magic_or_size(struct lz4 *l, struct asf_decoding *d) {
    if (!collect_bytes(l, l->word, WORD_SIZE, d))
        return 1;
    const uint32_t word = read_le32(l->word);
    size_t n = WORD_SIZE;
    l->byte_count = 0;
    if (l->state == LEGACY_SIZE && word <= LZ4_COMPRESSBOUND(LEGACY_BLOCK))
        return begin_legacy_block(l, word);
    l->found_frame = true;
    l->trailer_size = 0;
    l->state = word == LEGACY_MAGIC ? LEGACY_SIZE : FRAME;
    return l->state == FRAME ? decompress_some(l, l->word, &n, d) : 0;
}

static int decode_legacy_block(struct lz4 *l, struct asf_decoding *d) {
    if (l->returned == l->decoded_size) {
        if (!collect_bytes(l, l->compressed, l->size, d))
            return 1;
        int n = LZ4_decompress_safe(l->compressed, l->decoded, (int)l->size, LEGACY_BLOCK);
        if (n < 0)
            return -EBADMSG;
        l->returned = 0;
        l->decoded_size = (size_t)n;
    }
    size_t n = min_size(l->decoded_size - l->returned, d->out_size);
    memcpy(d->out, l->decoded + l->returned, n);
    l->returned += n;
    d->out += n;
    d->out_size -= n;
    if (l->returned == l->decoded_size) {
        l->state = LEGACY_SIZE;
        l->byte_count = 0;
    }
    return d->out_size == 0;
}

static int lz4_decode(void *state, struct asf_decoding *d) {
    struct lz4 *l = state;
    int rc = 0;
    while (rc == 0)
        rc = l->state == FRAME          ? decode_frame(l, d)
             : l->state == LEGACY_BYTES ? decode_legacy_block(l, d)
                                        : read_magic_or_size(l, d);
    bool between = l->found_frame && (l->state == MAGIC || l->state == LEGACY_SIZE) && l->byte_count == 0;
    return rc < 0 ? rc : between;
}

/* --- frames, measured by the sizes of their blocks ------------------------------------------------ */

/* Bits of the state; 0: a header. */
enum { BLOCKS = 1, HAS_BLOCK_CHECKSUMS = 2, HAS_CHECKSUM = 4, LEGACY_BLOCKS = 8 };

/* A skippable frame belongs to the frame that follows it. */
static int measure_header(struct asf_frame *f, const unsigned char *p, size_t n) {
    enum { MIN_HEADER = 8, VERSION = 0x40, VERSION_MASK = 0xc0 };
    enum { BLOCK_CHECK = 0x10, SIZE = 8, CHECK = 4, DICTIONARY = 1 };
    if (n == 0 && f->length > 0)
        return 1;
    uint32_t magic = n < MIN_HEADER ? 0 : read_le32(p);
    f->decoded = -1;
    if ((magic & ~15U) == LZ4F_MAGIC_SKIPPABLE_START) {
        f->length += MIN_HEADER + (int64_t)read_le32(p + WORD_SIZE);
        f->decoded = 0;
        return 0;
    }
    if (magic == LEGACY_MAGIC) {
        f->length += WORD_SIZE;
        f->state = LEGACY_BLOCKS;
        return 0;
    }
    const unsigned flags = magic == LZ4F_MAGICNUMBER ? p[WORD_SIZE] : 0;
    if ((flags & VERSION_MASK) != VERSION || (flags & SIZE && n < 6 + 2 * WORD_SIZE))
        return -EBADMSG;
    if (flags & SIZE && read_le32(p + 6 + WORD_SIZE) <= INT32_MAX)
        f->decoded = (int64_t)((uint64_t)read_le32(p + 6 + WORD_SIZE) << 32 | read_le32(p + 6));
    f->length += WORD_SIZE + 3 + (flags & SIZE ? 8 : 0) + (flags & DICTIONARY ? WORD_SIZE : 0);
    f->state = BLOCKS | (flags & BLOCK_CHECK ? HAS_BLOCK_CHECKSUMS : 0) | (flags & CHECK ? HAS_CHECKSUM : 0);
    return 0;
}

/* A legacy frame ends with the file or before a magic number, which is larger than any size. */
static int measure_legacy_block(struct asf_frame *f, const unsigned char *p, size_t n) {
    if (n == 0 || (n >= WORD_SIZE && read_le32(p) > LZ4_COMPRESSBOUND(LEGACY_BLOCK)))
        return 1;
    if (n < WORD_SIZE)
        return -EBADMSG;
    f->length += WORD_SIZE + (int64_t)read_le32(p);
    return 0;
}

static int lz4_measure(struct asf_frame *f, const unsigned char *p, size_t n) {
    enum { SIZE = 0x7fffffff };
    if (f->state == 0)
        return measure_header(f, p, n);
    if (f->state == LEGACY_BLOCKS)
        return measure_legacy_block(f, p, n);
    if (n < WORD_SIZE)
        return -EBADMSG;
    const uint32_t word = read_le32(p);
    f->length += WORD_SIZE;
    if (word == 0) {
        f->length += f->state & HAS_CHECKSUM ? WORD_SIZE : 0;
        return 1;
    }
    f->length += (word & SIZE) + (f->state & HAS_BLOCK_CHECKSUMS ? WORD_SIZE : 0);
    return 0;
}

static void lz4_end(void *state) {
    struct lz4 *l = state;
    LZ4F_freeDecompressionContext(l->context);
    free(l->compressed);
    free(l->decoded);
    free(l);
}

const struct asf_decoder *asf_decoder_lz4(void) {
    static const struct asf_decoder lz4 = {sizeof lz4, ASF_DECODER_VERSION, "lz4", lz4_begin, lz4_decode,
                                           lz4_end,    lz4_measure};
    return &lz4;
}
