/* SPDX-License-Identifier: MIT
 *
 * record_format.h - a format in memory, and its description on the wire.
 *
 * A description is little-endian throughout:
 *
 *     0  u32 bytes of the description   8  u16 structs
 *     4  u8  version (1)               10  u16 fields of all structs
 *     5  u8  byte order (0 little,     12  u32 bytes of names
 *            1 big)
 *     6  u8  bytes of a pointer
 *     7  u8  0
 *
 * Then come the structs, 16 bytes each: u32 name, u32 size, u16 first field, u16 fields, u8 alignment, 3 zero
 * bytes.  Then the fields, 20 bytes each: u32 name, u32 offset, u32 count, u16 struct, u16 counter, u8 kind,
 * u8 size, u8 shape, u8 0.  Then the names, null-terminated, in order of use; a name that is used twice
 * occurs twice.  A struct comes after the structs that it contains, so there are no cycles; the last struct
 * is the record.
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
    SLOTS_MOST = 64 * 1024, /* most slots and flags in all structs of a format */
    SIZE_MOST = 1 << 24,    /* most bytes of a struct */
    HEADER = 16,
    STRUCT_ENTRY = 16,
    FIELD_ENTRY = 20,
    NONE = 0xffff, /* index of no struct or field */
};

struct asf__field {
    const char *name;
    uint32_t offset, count, stride; /* stride: bytes of one element, also if it is a struct */
    uint32_t first_slot;            /* index of its first slot in the struct's `slots` */
    uint16_t sub, counter; /* index of its struct in the format, and of its counter in the struct; or NONE */
    bool counts;           /* the field is the counter of a dynamic array */
    uint8_t kind, size, shape; /* size: bytes of a number or a pointer; 0 for a struct */
    uint8_t wishes;            /* ASF_RECORD_REQUIRED, ASF_RECORD_ANY_NUMBER; set only in a declared format */
    const void *fallback;
};

/* A pointer in a struct.  In a record it is an offset from the record's first byte. */
struct asf__slot {
    uint32_t at;
    uint32_t stride;    /* bytes of an element of the array or string */
    uint32_t alignment; /* alignment of the array or string */
    uint32_t counter_at;
    uint16_t sub; /* struct of the elements, or NONE */
    uint8_t counter_size;
    bool counter_signed;
    bool text;    /* a string */
    bool strings; /* an array of strings */
    bool deep;    /* the elements contain pointers or booleans to check */
    const struct asf__field *field;
};

/* Consecutive booleans in a struct, which must be checked. */
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
    uint16_t *by_name; /* indices of fields, sorted by name */
    uint32_t slots_count, flags_count;
    bool deep; /* at least one slot has `deep` set */
    struct asf__slot *slots;
    struct asf__flag *flags;
    uint32_t depth;
};

struct asf_record_format {
    unsigned users;
    bool big;     /* big-endian */
    bool swapped; /* byte order differs from this machine's */
    uint8_t slot; /* bytes of a pointer */
    uint16_t count;
    struct asf_record_layout *structs; /* the last one is the record */
    struct asf__field *fields;
    uint32_t length;
    size_t footprint; /* upper limit of the bytes of memory that the format uses */
    unsigned char *description;
    unsigned char hash[16];
};

/* asf__record_fail: set the text of asf_record_why and return `code`. */
int asf__record_fail(int code, const char *format, ...) __attribute__((cold, format(printf, 2, 3)));
/* asf__record_no_memory: returns -ENOMEM and sets the text; `what` is "for ..." or "to ...". */
int asf__record_no_memory(const char *what) __attribute__((cold));

/* asf__record_options: copy the program's options, with defaults in place of zeros; `given` may be NULL.
 * returns  0; -EINVAL: the options have another version */
int asf__record_options(const struct asf_record_options *given, struct asf_record_options *options);

/* asf__check_native: check that a format has this machine's byte order and pointer size.
 * returns  0; -EINVAL */
int asf__check_native(const struct asf_record_format *f);

/* asf__fits_stream: check that a stream with `count` formats, which use `footprint` bytes of memory, may have
 * the format `f` as well.
 * returns  0; -E2BIG */
int asf__fits_stream(const struct asf_record_options *o, size_t count, size_t footprint,
                     const struct asf_record_format *f);

/* asf__record_keep: add a reference to a format. */
struct asf_record_format *asf__record_keep(struct asf_record_format *f);

static inline const struct asf_record_layout *asf__root(const struct asf_record_format *f) {
    return &f->structs[f->count - 1];
}

/* asf__hash: the hash that identifies the format with this description. */
void asf__hash(const void *description, size_t length, unsigned char hash[16]);

/* asf__field_named: the field with this name, or NULL. */
const struct asf__field *asf__field_named(const struct asf_record_layout *s, const char *name);

/* asf__in_order: the fields sorted by offset; the caller frees the array.  NULL: no memory. */
const struct asf__field **asf__in_order(const struct asf_record_layout *s);

/* --- checking records -------------------------------------------------------------------------- */

/* asf__list_slots: set the slots and flags of all structs. */
int asf__list_slots(struct asf_record_format *f);

/* The data that a pointer refers to.  The parts of the record's own pointers come first, in order of the
 * struct's slots.  The parts of an array's elements are consecutive. */
struct asf__part {
    uint64_t at;    /* offset in the record; 0: a null pointer */
    uint64_t count; /* elements; for a string, its bytes including the null */
    uint64_t child; /* index of the first part of the first element */
};

struct asf__parts {
    struct asf__part *all;
    size_t count, room;
};

/* asf__check_record: check a record of `length` bytes, and store the offsets and counts that are valid in
 * `parts`.  Conversions use these and never read them from the record again, since it may change.  Returns 0,
 * -EBADMSG or -ENOMEM. */
int asf__check_record(const struct asf_record_format *f, const unsigned char *record, size_t length,
                      struct asf__parts *parts);

#pragma GCC visibility pop

/* --- numbers in either byte order -------------------------------------------------------------- */

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

enum {
    ASF__FOREIGN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
}; /* whether little-endian data must be swapped on this machine */

#endif
