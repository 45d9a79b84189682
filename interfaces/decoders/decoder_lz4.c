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

enum { WORD = 4, LEGACY_BLOCK = 8 << 20, LEGACY_MAGIC = 0x184C2102 };

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

static uint32_t word_at(const void *bytes) {
    const unsigned char *p = bytes;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
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
    if (!collect_bytes(l, l->word, WORD, d))
        return 1;
    const uint32_t word = word_at(l->word);
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

/* --- frames, measured by the sizes of their blocks ------------------------------------------------ */

enum { BLOCKS = 1, CHECKED_BLOCKS = 2, CHECKED = 4, LEGACY_BLOCKS = 8 }; /* bits of the state; 0: a header */

/* A skippable frame belongs to the frame that follows it. */
static int pass_header(struct asf_frame *f, const unsigned char *p, size_t n) {
    enum { LEAST = 8, VERSION = 0x40, VERSIONS = 0xc0 };
    enum { BLOCK_CHECK = 0x10, SIZE = 8, CHECK = 4, DICTIONARY = 1 };
    if (n == 0 && f->length > 0)
        return 1;
    uint32_t magic = n < LEAST ? 0 : word_at(p);
    f->decoded = -1;
    if ((magic & ~15U) == LZ4F_MAGIC_SKIPPABLE_START) {
        f->length += LEAST + (int64_t)word_at(p + WORD);
        f->decoded = 0;
        return 0;
    }
    if (magic == LEGACY_MAGIC) {
        f->length += WORD;
        f->state = LEGACY_BLOCKS;
        return 0;
    }
    const unsigned flags = magic == LZ4F_MAGICNUMBER ? p[WORD] : 0;
    if ((flags & VERSIONS) != VERSION || (flags & SIZE && n < 6 + 2 * WORD))
        return -EBADMSG;
    if (flags & SIZE && word_at(p + 6 + WORD) <= INT32_MAX)
        f->decoded = (int64_t)((uint64_t)word_at(p + 6 + WORD) << 32 | word_at(p + 6));
    f->length += WORD + 3 + (flags & SIZE ? 8 : 0) + (flags & DICTIONARY ? WORD : 0);
    f->state = BLOCKS | (flags & BLOCK_CHECK ? CHECKED_BLOCKS : 0) | (flags & CHECK ? CHECKED : 0);
    return 0;
}

/* A legacy frame ends with the file or before a magic number, which is larger than any size. */
static int pass_legacy_block(struct asf_frame *f, const unsigned char *p, size_t n) {
    if (n == 0 || (n >= WORD && word_at(p) > LZ4_COMPRESSBOUND(LEGACY_BLOCK)))
        return 1;
    if (n < WORD)
        return -EBADMSG;
    f->length += WORD + (int64_t)word_at(p);
    return 0;
}

static int measure(struct asf_frame *f, const unsigned char *p, size_t n) {
    enum { SIZE = 0x7fffffff };
    if (f->state == 0)
        return pass_header(f, p, n);
    if (f->state == LEGACY_BLOCKS)
        return pass_legacy_block(f, p, n);
    if (n < WORD)
        return -EBADMSG;
    const uint32_t word = word_at(p);
    f->length += WORD;
    if (word == 0) {
        f->length += f->state & CHECKED ? WORD : 0;
        return 1;
    }
    f->length += (word & SIZE) + (f->state & CHECKED_BLOCKS ? WORD : 0);
    return 0;
}

static void end(void *state) {
    struct lz4 *l = state;
    LZ4F_freeDecompressionContext(l->context);
    free(l->packed);
    free(l->plain);
    free(l);
}

const struct asf_decoder *asf_decoder_lz4(void) {
    static const struct asf_decoder lz4 = {sizeof lz4, ASF_DECODER_VERSION, "lz4", begin, decode, end,
                                           measure};
    return &lz4;
}
