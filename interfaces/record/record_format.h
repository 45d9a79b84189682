/* SPDX-License-Identifier: MIT
 *
 * record_format.h - a format as the parts of the record interface see it, and
 * its description on the wire.
 *
 * A description is little-endian throughout:
 *
 *     0  u32 bytes in all        8  u16 structs
 *     4  u8  version (1)        10  u16 fields of all structs
 *     5  u8  byte order (0, 1)  12  u32 bytes of names
 *     6  u8  bytes of a pointer
 *     7  u8  0
 *
 * then the structs, 16 bytes each: u32 name, u32 size, u16 first field, u16
 * fields, u8 alignment, 3 zero bytes; the fields, 20 bytes each: u32 name, u32
 * offset, u32 count, u16 struct, u16 counter, u8 kind, u8 size, u8 shape, u8 0;
 * and the names, null-terminated, in the order in which they are used.  A struct
 * stands behind those that it contains, so that there is no circle; the last
 * one is the record.
 */
#ifndef ASF_RECORD_FORMAT_H
#define ASF_RECORD_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <asf/record.h>

#pragma GCC visibility push(hidden)

enum {
    DESCRIPTION_MOST = 64 * 1024,
    FIELDS_MOST = 4096,
    STRUCTS_MOST = 256,
    DEPTH_MOST = 16,
    SPOTS_MOST = 64 * 1024, /* slots and booleans to be looked at in all structs of a format */
    SIZE_MOST = 1 << 24,    /* bytes of a struct */
    FORMATS_MOST = 1024,    /* of a stream, where the options do not say */
    MEMORY_MOST = 64 << 20, /* of a stream's formats, likewise */
    HEADER = 16,
    STRUCT_ENTRY = 16,
    FIELD_ENTRY = 20,
    NONE = 0xffff, /* no struct, no counter */
};

struct asf__field {
    const char *name;
    uint32_t offset, count, stride; /* stride: bytes of one element, of a struct, too */
    uint32_t first_slot;            /* its first among the struct's slots */
    uint16_t sub, counter;          /* a struct of the format, a field of the struct; or NONE */
    bool counts;                    /* it is the counter of another */
    uint8_t kind, size, shape;      /* size: of a number, or a pointer */
    uint8_t wishes;                 /* of a declared format alone */
    const void *fallback;
};

/* A place where a record holds an offset. */
struct asf__slot {
    uint32_t at;
    uint32_t stride;    /* of an element of what it refers to */
    uint32_t alignment; /* of what it refers to */
    uint32_t counter_at;
    uint16_t sub; /* the struct of the elements, or NONE */
    uint8_t counter_size;
    bool counter_signed;
    bool text;    /* it refers to a string */
    bool strings; /* the elements are strings */
    bool deep;    /* the elements have something to be looked at */
    const struct asf__field *field;
};

/* Booleans, of which each byte is looked at. */
struct asf__flag {
    uint32_t at, count;
    const struct asf__field *field;
};

struct asf_record_layout {
    const struct asf_record_format *format;
    const char *name;
    uint32_t size, alignment;
    uint32_t fields_count;
    struct asf__field *fields;
    uint16_t *by_name; /* field numbers in the order of the fields' names */
    uint32_t slots_count, flags_count;
    bool deep; /* one of the slots is */
    struct asf__slot *slots;
    struct asf__flag *flags;
    uint32_t depth;
};

struct asf_record_format {
    unsigned users;
    bool big;     /* byte order */
    bool swapped; /* it is not this machine's */
    uint8_t slot; /* bytes of a pointer */
    uint16_t count;
    struct asf_record_layout *structs; /* the last is the record */
    struct asf__field *fields;
    uint32_t length;
    size_t footprint; /* bytes that it takes in all, or more */
    unsigned char *description;
    unsigned char hash[16];
};

/* asf__record_fail: keep the text for asf_record_why and return the code. */
int asf__record_fail(int code, const char *format, ...) __attribute__((cold, format(printf, 2, 3)));
/* asf__record_no_memory: -ENOMEM, and the text for it; `what`: "for …" or "to …". */
int asf__record_no_memory(const char *what) __attribute__((cold));

/* asf__limit: a limit of the options, or what stands for 0. */
static inline size_t asf__limit(size_t limit, size_t standard) {
    return limit ? limit : standard;
}

/* asf__fits_stream: whether a stream that has `count` formats, of `footprint` bytes, may have one more.
 * returns  0; -E2BIG */
int asf__fits_stream(const struct asf_record_options *o, size_t count, size_t footprint,
                     const struct asf_record_format *f);

/* asf__record_keep: one more user of a format. */
struct asf_record_format *asf__record_keep(struct asf_record_format *f);

static inline const struct asf_record_layout *asf__root(const struct asf_record_format *f) {
    return &f->structs[f->count - 1];
}

/* asf__hash: what names a format of this description. */
void asf__hash(const void *description, size_t length, unsigned char hash[16]);

/* asf__same_hash: of 16 bytes each. */
static inline bool asf__same_hash(const unsigned char *a, const unsigned char *b) {
    uint64_t x[2], y[2];
    __builtin_memcpy(x, a, sizeof x);
    __builtin_memcpy(y, b, sizeof y);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

/* asf__field_named: or NULL. */
const struct asf__field *asf__field_named(const struct asf_record_layout *s, const char *name);

/* asf__in_order: the fields by their offsets; the caller frees the array.  NULL: no memory. */
const struct asf__field **asf__in_order(const struct asf_record_layout *s);

/* asf__member: what is told of a field. */
void asf__member(const struct asf_record_layout *s, const struct asf__field *field,
                 struct asf_record_member *member);

/* asf__list_spots: fill in the slots and booleans of all structs. */
int asf__list_spots(struct asf_record_format *f);

#pragma GCC visibility pop

/* --- bytes in an order ------------------------------------------------------------ */

static inline uint64_t asf__load(const unsigned char *p, unsigned size, bool swap) {
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 1:
        return *p;
    case 2:
        __builtin_memcpy(&two, p, 2);
        return swap ? __builtin_bswap16(two) : two;
    case 4:
        __builtin_memcpy(&four, p, 4);
        return swap ? __builtin_bswap32(four) : four;
    default:
        __builtin_memcpy(&eight, p, 8);
        return swap ? __builtin_bswap64(eight) : eight;
    }
}

static inline int64_t asf__load_signed(const unsigned char *p, unsigned size, bool swap) {
    unsigned shift = 64 - 8 * size;
    return (int64_t)(asf__load(p, size, swap) << shift) >> shift;
}

static inline void asf__store(unsigned char *p, uint64_t value, unsigned size, bool swap) {
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    switch (size) {
    case 1:
        *p = (unsigned char)value;
        break;
    case 2:
        two = swap ? __builtin_bswap16(two) : two;
        __builtin_memcpy(p, &two, 2);
        break;
    case 4:
        four = swap ? __builtin_bswap32(four) : four;
        __builtin_memcpy(p, &four, 4);
        break;
    default:
        value = swap ? __builtin_bswap64(value) : value;
        __builtin_memcpy(p, &value, 8);
    }
}

enum { ASF__FOREIGN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ }; /* little-endian data must be swapped */

#endif
