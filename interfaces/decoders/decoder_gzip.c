/* SPDX-License-Identifier: MIT
 *
 * decoder_gzip.c - decoder of gzip: a sequence of members (RFC 1952), then optional zero bytes.
 *
 * This file parses the header and verifies the checksum of each member; zlib inflates only the raw data.
 * zlib's own parser would call crc32 through the symbol table.  A program that exports another function of
 * that name and has zlib loaded, as cksum of coreutils 9.7 does, would replace it.
 * With glibc the calls in this file reach zlib's crc32, because libasf loads this library with RTLD_DEEPBIND.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define ZLIB_CONST
#include <zlib.h>

#include <asf/decode.h>

struct gzip {
    z_stream z;
    /* The parts of a member in file order, then the two states after a member. */
    enum { HEADER, EXTRA_LENGTH, EXTRA, NAME, COMMENT, HEADER_CRC, DATA, TRAILER, MEMBER_END, PADDING } part;
    unsigned char bytes[10]; /* collected bytes of a fixed-length part */
    unsigned byte_count;     /* valid bytes in `bytes` */
    unsigned char flags;
    unsigned extra; /* bytes of EXTRA not yet read */
    uLong header_crc, crc;
    uint32_t length; /* length of the member's data so far, modulo 2^32 */
};

enum { HAS_HEADER_CRC = 0x02, HAS_EXTRA = 0x04, HAS_NAME = 0x08, HAS_COMMENT = 0x10, RESERVED = 0xe0 };

static void *gzip_begin(void) {
    enum { RAW_DEFLATE = -15 };
    struct gzip *g = calloc(1, sizeof *g);
    if (g && inflateInit2(&g->z, RAW_DEFLATE) != Z_OK) {
        free(g);
        return NULL;
    }
    return g;
}

static unsigned clamp_to_uint(size_t n) {
    return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

/* Moves input bytes to g->bytes until it holds n.  Returns whether it does. */
static bool collect_bytes(struct gzip *g, struct asf_decoding *d, unsigned n) {
    for (; g->byte_count < n && d->in_size > 0; d->in++, d->in_size--)
        g->bytes[g->byte_count++] = (unsigned char)*d->in;
    return g->byte_count == n;
}

static uint32_t read_le(const unsigned char *p, unsigned n) {
    uint32_t number = 0;
    while (n-- > 0)
        number = number << 8 | p[n];
    return number;
}

/* Skips n input bytes of the header and adds them to its checksum. */
static void skip_header(struct gzip *g, struct asf_decoding *d, size_t n) {
    g->header_crc = crc32(g->header_crc, (const Bytef *)d->in, (uInt)n);
    d->in += n;
    d->in_size -= n;
}

static bool skip_extra(struct gzip *g, struct asf_decoding *d) {
    unsigned n = d->in_size < g->extra ? (unsigned)d->in_size : g->extra;
    skip_header(g, d, n);
    g->extra -= n;
    return g->extra == 0;
}

/* Skips a null-terminated string.  Returns whether its null has been read. */
static bool skip_string(struct gzip *g, struct asf_decoding *d) {
    unsigned n = 0, most = clamp_to_uint(d->in_size);
    while (n < most && d->in[n])
        n++;
    bool ends = n < most;
    skip_header(g, d, n + ends);
    return ends;
}

/* Reads the ten fixed bytes of a header.  Returns 1 when it has all of them, 0 before, -EBADMSG if they are
 * invalid. */
static int read_fixed_header(struct gzip *g, struct asf_decoding *d) {
    static const unsigned char magic[] = {0x1f, 0x8b, Z_DEFLATED};
    bool whole = collect_bytes(g, d, 10);
    for (unsigned i = 0; i < sizeof magic && i < g->byte_count; i++)
        if (g->bytes[i] != magic[i])
            return -EBADMSG;
    g->flags = g->bytes[3];
    return whole && g->flags & RESERVED ? -EBADMSG : whole;
}

/* Returns 1 when the part is complete, 0 if it needs more input, or -EBADMSG. */
static int read_part(struct gzip *g, struct asf_decoding *d) {
    switch (g->part) {
    case HEADER:
        return read_fixed_header(g, d);
    case EXTRA_LENGTH:
        return !(g->flags & HAS_EXTRA) || collect_bytes(g, d, 2);
    case EXTRA:
        return !(g->flags & HAS_EXTRA) || skip_extra(g, d);
    case NAME:
        return !(g->flags & HAS_NAME) || skip_string(g, d);
    case COMMENT:
        return !(g->flags & HAS_COMMENT) || skip_string(g, d);
    case HEADER_CRC:
        if (g->flags & HAS_HEADER_CRC && !collect_bytes(g, d, 2))
            return 0;
        return g->flags & HAS_HEADER_CRC && read_le(g->bytes, 2) != (g->header_crc & 0xffff) ? -EBADMSG : 1;
    default: /* TRAILER */
        if (!collect_bytes(g, d, 8))
            return 0;
        return read_le(g->bytes, 4) != g->crc || read_le(g->bytes + 4, 4) != g->length ? -EBADMSG : 1;
    }
}

static void begin_next_part(struct gzip *g) {
    if (g->part == HEADER)
        g->header_crc = crc32(0, g->bytes, g->byte_count);
    if (g->part == EXTRA_LENGTH) {
        g->extra = read_le(g->bytes, g->byte_count);
        g->header_crc = crc32(g->header_crc, g->bytes, g->byte_count);
    }
    g->byte_count = 0;
    g->part++;
}

static int inflate_some(struct gzip *g, struct asf_decoding *d) {
    unsigned in = clamp_to_uint(d->in_size), out = clamp_to_uint(d->out_size);
    g->z.next_in = (const Bytef *)d->in;
    g->z.avail_in = in;
    g->z.next_out = (Bytef *)d->out;
    g->z.avail_out = out;
    int rc = inflate(&g->z, Z_NO_FLUSH);
    unsigned made = out - g->z.avail_out;
    g->crc = crc32(g->crc, (const Bytef *)d->out, made);
    g->length += made;
    d->in += in - g->z.avail_in;
    d->in_size -= in - g->z.avail_in;
    d->out += made;
    d->out_size -= made;
    return rc;
}

/* Returns 1 at the end of the data, 0 if input or output space is used up, or an error. */
static int read_data(struct gzip *g, struct asf_decoding *d) {
    for (;;) {
        int rc = inflate_some(g, d);
        if (rc == Z_STREAM_END)
            return 1;
        if (rc == Z_BUF_ERROR || (rc == Z_OK && (d->in_size == 0 || d->out_size == 0)))
            return 0;
        if (rc != Z_OK)
            return rc == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
    }
}

/* After a member the input has another member, or the zero bytes that pad a tape block.  Returns 1 at the end
 * of the input, 0 before a member, -EBADMSG if other bytes follow the padding. */
static int find_next_member(struct gzip *g, struct asf_decoding *d) {
    for (; d->in_size > 0 && *d->in == 0; d->in++, d->in_size--)
        g->part = PADDING;
    if (d->in_size == 0)
        return 1;
    if (g->part == PADDING)
        return -EBADMSG;
    g->part = HEADER;
    g->crc = 0;
    g->length = 0;
    inflateReset(&g->z);
    return 0;
}

static int gzip_decode(void *state, struct asf_decoding *d) {
    struct gzip *g = state;
    for (;;) {
        if (g->part >= MEMBER_END) {
            int rc = find_next_member(g, d);
            if (rc != 0)
                return rc;
        }
        int rc = g->part == DATA ? read_data(g, d) : read_part(g, d);
        if (rc <= 0)
            return rc;
        begin_next_part(g);
    }
}

/* --- members, measured by a field of their head: those of bgzip ------------------------------------- */

/* Returns the size of a member that has bgzip's field "BC"; 0: the member lacks the field. */
static int64_t bgzip_member_size(const unsigned char *p, size_t n) {
    enum { HEADER_SIZE = 12, FIELD_HEADER_SIZE = 4 };
    if (n < HEADER_SIZE || p[0] != 0x1f || p[1] != 0x8b || p[2] != Z_DEFLATED || !(p[3] & HAS_EXTRA))
        return 0;
    const size_t end = HEADER_SIZE + read_le(p + 10, 2);
    for (size_t at = HEADER_SIZE, length;
         at + FIELD_HEADER_SIZE + 2 <= n && at + FIELD_HEADER_SIZE + 2 <= end;
         at += FIELD_HEADER_SIZE + length) {
        length = read_le(p + at + 2, 2);
        if (p[at] == 'B' && p[at + 1] == 'C' && length == 2)
            return read_le(p + at + FIELD_HEADER_SIZE, 2) + 1;
    }
    return 0;
}

static int gzip_measure(struct asf_frame *f, const unsigned char *p, size_t n) {
    enum { MIN_SIZE = 28, LENGTH_SIZE = 4 };
    if (f->length > 0) {
        if (n < LENGTH_SIZE)
            return -EBADMSG;
        f->decoded = read_le(p, LENGTH_SIZE);
        f->length += LENGTH_SIZE;
        return 1;
    }
    const int64_t size = bgzip_member_size(p, n);
    if (size < MIN_SIZE)
        return size == 0 ? -ENOTSUP : -EBADMSG;
    f->length = size - LENGTH_SIZE;
    f->most = 64 << 10;
    return 0;
}

static void gzip_end(void *state) {
    struct gzip *g = state;
    inflateEnd(&g->z);
    free(g);
}

const struct asf_decoder *asf_decoder_gzip(void) {
    static const struct asf_decoder gzip = {sizeof gzip, ASF_DECODER_VERSION, "gzip", gzip_begin, gzip_decode,
                                            gzip_end,    gzip_measure};
    return &gzip;
}
