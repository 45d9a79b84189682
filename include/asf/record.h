/* SPDX-License-Identifier: MIT
 *
 * record.h - native data representation: a record travels in its writer's layout, and its reader
 * converts it if necessary.
 *
 * The interface of Eisenhauer, Bustamante and Schwan, "Native Data Representation: An Efficient Wire
 * Format for High Performance Computing" (2001), on the streams of <asf/asf.h>.  A program declares
 * the layout of its structs.  A record is written as it is in memory, and the first record of a kind
 * is preceded by its format.  A reader matches fields by name.  If the layouts agree, the record is
 * used in place.  If not, it is converted: byte order, sizes, offsets, and fields that only one of the
 * two has.
 *
 * All this is in libasf_record (-lasf_record), which uses libasf and, for the hash that names a
 * format, nettle.
 *
 * A call that returns int gives a negated errno value when it fails, and asf_record_why() describes
 * the error in words, the field included.  No call exits, prints or changes errno.
 *
 *   -EINVAL      the caller's own declaration or argument is wrong
 *   -EBADMSG     a description or record from outside is broken or forged
 *   -E2BIG       beyond a limit (struct asf_record_options)
 *   -EPROTOTYPE  wire and native format contradict each other in a field, or have
 *                none in common; a value is not of the type asked for
 *   -ERANGE      a value does not fit the native field
 *   -ENOENT      no such field, or an unknown format
 *   -ENODATA     the stream ends within a record
 *   -ENOMEM, and the errors of the stream or the store
 *
 * Thread safety: any threads may use formats and stores at once; only one thread at a time may use a
 * writer, or a reader and its record.
 */
#ifndef ASF_RECORD_H
#define ASF_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- declaring a format ------------------------------------------------------ */

enum asf_record_kind {
    ASF_RECORD_INT = 1, /* signed, of 1, 2, 4 or 8 bytes */
    ASF_RECORD_UINT,    /* unsigned */
    ASF_RECORD_FLOAT,   /* IEEE 754, of 4 or 8 bytes */
    ASF_RECORD_CHAR,    /* a byte of text */
    ASF_RECORD_BOOL,    /* 0 or 1 */
    ASF_RECORD_ENUM,    /* an enumeration: a signed number */
    ASF_RECORD_STRING,  /* char *: null-terminated, or NULL */
    ASF_RECORD_STRUCT,
};

enum asf_record_shape {
    ASF_RECORD_SINGLE,
    ASF_RECORD_ARRAY,   /* elements in the struct itself */
    ASF_RECORD_DYNAMIC, /* a pointer to as many elements as another field says */
};

/* A reader's wishes for a field. */
enum asf_record_wish {
    ASF_RECORD_REQUIRED = 1,   /* a record without it is refused (-ENOENT) */
    ASF_RECORD_ANY_NUMBER = 2, /* convert integers to floats, rounded, and floats to integers, truncated */
};

struct asf_record_type;

/* One field of a struct.  The macros below make it. */
struct asf_record_field {
    const char *name;
    enum asf_record_kind kind;
    enum asf_record_shape shape;
    size_t offset;
    size_t size;                        /* bytes of one element */
    size_t count;                       /* elements of an array, otherwise 1 */
    const char *counter;                /* for a dynamic array: the field with its number of elements */
    const struct asf_record_type *type; /* for a struct */
    const void *fallback; /* the value if a record has none; NULL: zero.  For a string: the text */
    unsigned wishes;      /* enum asf_record_wish */
};

/* A struct: its fields in any order. */
struct asf_record_type {
    const char *name;
    size_t size, alignment;
    const struct asf_record_field *fields;
    size_t count;
};

#ifdef __cplusplus
#define ASF_RECORD_ALIGNMENT(type) alignof(type)
#else
#define ASF_RECORD_ALIGNMENT(type) _Alignof(type)
#endif
#define ASF_RECORD_SIZEOF(type, member) sizeof(((type *)0)->member)

/* A whole struct:
 *     static const struct asf_record_type sample = ASF_RECORD_TYPE("sample", struct sample, sample_fields);
 */
#define ASF_RECORD_TYPE(name, type, fields)                                                                  \
    { name, sizeof(type), ASF_RECORD_ALIGNMENT(type), fields, sizeof(fields) / sizeof((fields)[0]) }

/* A field of a kind: ASF_FIELD(INT, struct sample, id). */
#define ASF_FIELD(kind, type, member) ASF_FIELD_OR(kind, type, member, NULL, 0)

/* A field with a value for records that lack it (a pointer to a value of the member's type) and with
 * wishes. */
#define ASF_FIELD_OR(kind, type, member, fallback, wishes)                                                   \
    ASF_RECORD_ROW(kind, SINGLE, type, member, ASF_RECORD_SIZEOF(type, member), 1, NULL, NULL, fallback,     \
                   wishes)

/* An array in the struct: double v[3]. */
#define ASF_FIELD_ARRAY(kind, type, member)                                                                  \
    ASF_RECORD_ROW(kind, ARRAY, type, member, ASF_RECORD_SIZEOF(type, member[0]),                            \
                   ASF_RECORD_SIZEOF(type, member) / ASF_RECORD_SIZEOF(type, member[0]), NULL, NULL, NULL,   \
                   0)

/* A pointer to as many elements as the field `counter` says: float *v; int n. */
#define ASF_FIELD_DYNAMIC(kind, type, member, counter)                                                       \
    ASF_RECORD_ROW(kind, DYNAMIC, type, member, ASF_RECORD_SIZEOF(type, member[0]), 1, #counter, NULL, NULL, \
                   0)

/* A string: char *; its fallback is the text. */
#define ASF_FIELD_STRING(type, member) ASF_FIELD_STRING_OR(type, member, NULL)
#define ASF_FIELD_STRING_OR(type, member, text)                                                              \
    ASF_RECORD_ROW(STRING, SINGLE, type, member, ASF_RECORD_SIZEOF(type, member), 1, NULL, NULL, text, 0)

/* A struct within the struct, an array of structs, a pointer to structs. */
#define ASF_FIELD_STRUCT(type, member, of)                                                                   \
    ASF_RECORD_ROW(STRUCT, SINGLE, type, member, ASF_RECORD_SIZEOF(type, member), 1, NULL, of, NULL, 0)
#define ASF_FIELD_STRUCT_ARRAY(type, member, of)                                                             \
    ASF_RECORD_ROW(STRUCT, ARRAY, type, member, ASF_RECORD_SIZEOF(type, member[0]),                          \
                   ASF_RECORD_SIZEOF(type, member) / ASF_RECORD_SIZEOF(type, member[0]), NULL, of, NULL, 0)
#define ASF_FIELD_STRUCT_DYNAMIC(type, member, counter, of)                                                  \
    ASF_RECORD_ROW(STRUCT, DYNAMIC, type, member, ASF_RECORD_SIZEOF(type, member[0]), 1, #counter, of, NULL, \
                   0)

#define ASF_RECORD_ROW(kind, shape, type, member, size, count, counter, of, fallback, wishes)                \
    {                                                                                                        \
#member, ASF_RECORD_##kind, ASF_RECORD_##shape, offsetof(type, member), size, count, counter, of,    \
            fallback, wishes                                                                                 \
    }

/* A format: the layout of a type on some machine. */
struct asf_record_format;

/* asf_record_declare: make the format of a struct of this program.
 *   type  may be freed afterwards, except for its fallbacks
 * returns  0; -EINVAL: an empty or repeated name, a size that such a field cannot
 *          have, fields that overlap or are outside the struct, a counter that is not a
 *          single integer in the same struct; -E2BIG: more than 4096 fields, 256
 *          structs, 16 levels, 16 MiB of struct, or a description of more than
 *          64 KiB; -ENOMEM.
 * lifetime of the format: until asf_record_format_free and until the writers,
 *          readers and stores that use it are freed.
 * source   paper, section 3, Figure 1. */
ASF_EXPORT int asf_record_declare(const struct asf_record_type *type, struct asf_record_format **format);

/* asf_record_parse: make a format from a description of any origin.
 * returns  0; -EBADMSG: asf_record_describe could not have made this description
 *          on any machine; -E2BIG; -ENOMEM.
 * source   paper, section 3.2.1. */
ASF_EXPORT int asf_record_parse(const void *description, size_t length, struct asf_record_format **format);

/* asf_record_describe: a format's canonical description, which is equal for equal formats.
 *   length  out: number of bytes
 * returns  the address of the description; valid as long as the format. */
ASF_EXPORT const void *asf_record_describe(const struct asf_record_format *format, size_t *length);

/* asf_record_hash: the first 128 bits of the description's SHA-256; 16 bytes
 * which are valid as long as the format. */
ASF_EXPORT const unsigned char *asf_record_hash(const struct asf_record_format *format);

/* asf_record_format_free: free the caller's use of a format.  NULL is allowed. */
ASF_EXPORT void asf_record_format_free(struct asf_record_format *format);

/* asf_record_why: the reason for the last failure in this thread, in plain words.  Never NULL; valid
 * until the next call in this thread. */
ASF_EXPORT const char *asf_record_why(void);

/* --- examining formats --------------------------------------------------------- */

/* A struct of a format. */
struct asf_record_layout;

/* A field of a format, as it is in the record. */
struct asf_record_member {
    const char *name;
    enum asf_record_kind kind;
    enum asf_record_shape shape;
    uint32_t offset, size, count;           /* size: bytes of one element */
    const char *counter;                    /* for a dynamic array, otherwise NULL */
    const struct asf_record_layout *layout; /* for a struct, otherwise NULL */
};

/* asf_record_layout_of: the struct of a format's records.  The layout and all data from it are valid
 * as long as the format.
 * source   paper, section 4.4: reflection. */
ASF_EXPORT const struct asf_record_layout *asf_record_layout_of(const struct asf_record_format *format);

/* asf_record_layout_name: the name with which the struct was declared; valid as long as the format.
 * asf_record_layout_size: bytes of the struct, without data that its pointers refer to. */
ASF_EXPORT const char *asf_record_layout_name(const struct asf_record_layout *layout);
ASF_EXPORT size_t asf_record_layout_size(const struct asf_record_layout *layout);

/* asf_record_layout_order: 1234 or 4321, the byte order of the records. */
ASF_EXPORT int asf_record_layout_order(const struct asf_record_layout *layout);

/* asf_record_layout_fields: the number of fields. */
ASF_EXPORT size_t asf_record_layout_fields(const struct asf_record_layout *layout);

/* asf_record_layout_field: the i-th field.  asf_record_layout_find: the field with a name.
 * returns  0; -ENOENT. */
ASF_EXPORT int asf_record_layout_field(const struct asf_record_layout *layout, size_t i,
                                       struct asf_record_member *member);
ASF_EXPORT int asf_record_layout_find(const struct asf_record_layout *layout, const char *name,
                                      struct asf_record_member *member);

/* --- how formats and limits are agreed on --------------------------------------- */

/* A store of formats that are not in the stream (<asf/record_store.h>). */
struct asf_record_store;

struct asf_record_options {
    size_t size; /* sizeof(struct asf_record_options), as compiled */

    /* Writer: records carry their format's hash, and the format is saved in the store, not written to
     * the stream (the paper's non-connected mode). */
    int hashed;
    /* Writer: write an index at the end, so that asf_record_seek finds a record. */
    int indexed;
    /* The store for formats that are not in the stream; NULL: none. */
    struct asf_record_store *store;

    /* Reader; 0 stands for the default given here.  A record or format beyond a limit fails with
     * -E2BIG; everything before it is valid. */
    size_t most_bytes;    /* bytes of a record on the wire: 256 MiB */
    size_t most_expanded; /* bytes of a converted record: 1 GiB */
    size_t most_formats;  /* formats of one stream: 1024; also for a writer */
    size_t most_plans;    /* conversions kept: 256 */

    /* The most bytes of memory for the formats of one stream, and also for the conversions kept; 0: 64 MiB.
     * A reader and a writer refuse a format beyond this limit (-E2BIG).  A reader frees its oldest
     * conversions to stay within the limit.  A stream may replace its formats repeatedly.  A reader refuses
     * it when all its formats, old and new, need more than the limit plus 64 times the bytes read so far. */
    size_t most_memory;
};

/* --- writing ---------------------------------------------------------------------- */

struct asf_record_writer;

/* asf_record_writer_new: make a writer of records to a stream.
 *   stream   opened for writing; the caller still owns it.  Each record puts it into
 *            write mode if necessary.
 *   options  NULL: the formats in the stream, no index
 *   writer   out: the writer; NULL on an error
 * returns  0; -EINVAL: options of another size; -EBADF: the stream is not open
 *          for writing; -ENOMEM; errors of salloc and sfree.
 * lifetime until asf_record_writer_close.
 * source   paper, section 3.2.2: connected and non-connected PBIO. */
ASF_EXPORT int asf_record_writer_new(struct asf_cios *stream, const struct asf_record_options *options,
                                     struct asf_record_writer **writer);

/* asf_record_write: write a struct, with the data that its pointers point to.
 * returns  0; -EINVAL: a negative counter, a NULL array with elements, a format
 *          of another machine, or a record that was begun and not ended;
 *          -E2BIG; -ENOMEM; errors of salloc and sfree.  After the stream could
 *          not be written, each later call fails with the same error.
 * source   paper, section 3.1.1: marshalling. */
ASF_EXPORT int asf_record_write(struct asf_record_writer *writer, struct asf_record_format *format,
                                const void *data);

/* asf_record_begin: allocate a zeroed struct in the stream's own buffer, to be filled in place and
 * written by asf_record_end.
 *   extra  the most bytes that asf_record_part and asf_record_string will need
 *          (each starts at a multiple of 8, or of its alignment); unused
 *          bytes are not written
 *   data   out: the struct, valid until asf_record_end
 * returns  0; -EINVAL: another record was begun and not ended, or the format is
 *          of another machine; -E2BIG; -ENOMEM; errors of salloc. */
ASF_EXPORT int asf_record_begin(struct asf_record_writer *writer, struct asf_record_format *format,
                                size_t extra, void **data);

/* asf_record_part: allocate room after the struct for the data that one of its pointers refers to, and
 * set the pointer, which is at `slot`.  The caller sets the counter.
 * returns  the room; NULL: `extra` has fewer bytes left.  Valid until
 *          asf_record_end. */
ASF_EXPORT void *asf_record_part(struct asf_record_writer *writer, void *slot, size_t bytes);

/* asf_record_string: copy a string after the struct and set the pointer at `slot`; NULL is allowed.
 * returns  0; -E2BIG. */
ASF_EXPORT int asf_record_string(struct asf_record_writer *writer, void *slot, const char *text);

/* asf_record_end: complete the record that was begun.
 * returns  0; -EINVAL: none was begun; errors of sfree. */
ASF_EXPORT int asf_record_end(struct asf_record_writer *writer);

/* asf_record_writer_close: write the index, if options.indexed is set, and free the writer.  The
 * stream is not flushed and not closed.
 * returns  0, or the error with which the stream failed. */
ASF_EXPORT int asf_record_writer_close(struct asf_record_writer *writer);

/* asf_record_encode: write a record with its format's hash as a message in memory, to be sent by any
 * means; asf_record_take reads the message.
 *   room  bytes at `message`, whose address must be a multiple of 16
 * returns  the length of the message; if `room` is less, nothing is written.
 *          -EINVAL as asf_record_write; -E2BIG.
 * source   paper, section 3.2.2: non-connected PBIO. */
ASF_EXPORT ssize_t asf_record_encode(struct asf_record_format *format, const void *data, void *message,
                                     size_t room);

/* asf_record_gather: the same message as buffers to be sent one after the other, by writev() or
 * sendmsg(): large strings and large arrays without pointers are not copied, and the rest of the message is
 * written to `message`.
 *   pieces  room for `most` buffers; with few of them more is copied
 * returns  the number of buffers.  -EINVAL as asf_record_write; -E2BIG: the record is
 *          beyond a limit, `room` is too small for the copied bytes, or `most` is 0.
 * lifetime of the buffers: that of `message` and of the data that `data` points to.
 * source   paper, section 3.1.1: "a vector of buffers". */
ASF_EXPORT int asf_record_gather(struct asf_record_format *format, const void *data, void *message,
                                 size_t room, struct iovec *pieces, size_t most);

/* --- reading ----------------------------------------------------------------------- */

struct asf_record_reader;

/* A received record. */
struct asf_record;

/* How a record was made to match the program's struct. */
enum asf_record_how {
    ASF_RECORD_IN_PLACE,  /* used in place: nothing was copied */
    ASF_RECORD_COPIED,    /* the same layout, moved */
    ASF_RECORD_SWAPPED,   /* the same layout in the other byte order */
    ASF_RECORD_CONVERTED, /* another layout */
};

/* asf_record_reader_new: make a reader of records from a stream.
 *   stream  opened for reading; the caller still owns it.  This call and each record put it into
 *           read mode.  NULL: only asf_record_take is used
 *   reader  out: the reader; NULL on an error
 * returns  0; -EINVAL: options of another size; -EBADF: the stream cannot be
 *          read, or its output cannot be written; -ENOMEM.
 * lifetime until asf_record_reader_free. */
ASF_EXPORT int asf_record_reader_new(struct asf_cios *stream, const struct asf_record_options *options,
                                     struct asf_record_reader **reader);

/* asf_record_reader_free: free the reader, its record and all data from it, except asf_record_into's;
 * the stream stays open.  NULL is allowed. */
ASF_EXPORT void asf_record_reader_free(struct asf_record_reader *reader);

/* asf_record_next: the next record of the stream, checked against its format, but not yet converted.
 * returns  1; 0 at the end; -EBADMSG, -E2BIG, -ENOENT (a hash that the store
 *          does not know), -ENODATA, or the stream's error.
 * lifetime of the record: until the next call for this reader. */
ASF_EXPORT int asf_record_next(struct asf_record_reader *reader, struct asf_record **record);

/* asf_record_count: the number of records in a file: from its index, or, if the writer wrote none, by
 * reading the file.  Afterwards the next record is the first.
 * asf_record_seek: choose the record that asf_record_next returns next, from 0 on.
 *   stream  can seek, and its records begin at its first byte
 * returns  0; -ESPIPE; -ERANGE: there are fewer records; as asf_record_next. */
ASF_EXPORT int asf_record_count(struct asf_record_reader *reader, uint64_t *count);
ASF_EXPORT int asf_record_seek(struct asf_record_reader *reader, uint64_t number);

/* asf_record_take: return the record of a message in memory, which must not change as long as the record is
 * used.
 * returns  1; -EBADMSG: the message is not a record, or its length differs from the one that it states;
 *          -E2BIG, -ENOENT, -ENODATA as asf_record_next.
 * source   paper, section 3.2.2: non-connected PBIO. */
ASF_EXPORT int asf_record_take(struct asf_record_reader *reader, const void *message, size_t length,
                               struct asf_record **record);

/* asf_record_take_over: the same for a message that the caller no longer needs.  A record that
 * differs from the program's struct only in its byte order is not copied: asf_record_view swaps the
 * bytes in the message itself.  From then on the bytes are a record of the program's format, and not a
 * message.
 *   message  writable until the reader's next record
 * returns  as asf_record_take.
 * source   paper, section 4.3.1: "reusing the receive buffer (as we do)". */
ASF_EXPORT int asf_record_take_over(struct asf_record_reader *reader, void *message, size_t length,
                                    struct asf_record **record);

/* asf_record_format_of: the format in which the record was written, or to which it has been converted
 * in place. */
ASF_EXPORT struct asf_record_format *asf_record_format_of(const struct asf_record *record);

/* asf_record_view: the record as a struct of this program.  Pointers in it are offsets, which
 * asf_record_at converts to pointers.
 *   format  the program's own; its name may differ from the record's
 *   data    out: the struct, which must not be written to; valid until the next
 *           call for this reader
 * returns  how it was made (enum asf_record_how, 0 for in place); -EPROTOTYPE,
 *          -ERANGE, -ENOENT (a required field), -E2BIG, -ENOMEM.
 * A record in memory that other processes may write can change after the check: use asf_record_into for
 * such a record.
 * source   paper, section 3.1.2: unmarshalling. */
ASF_EXPORT int asf_record_view(struct asf_record *record, struct asf_record_format *format,
                               const void **data);

/* asf_record_at: the address that a pointer in a struct from asf_record_view refers to. */
static inline const void *asf_record_at(const void *data, const void *pointer) {
    return pointer ? (const char *)data + (size_t)pointer : (const void *)0;
}

/* asf_record_into: convert the record into the caller's struct, with pointers.
 *   data   room for the struct
 *   block  out: the memory that the pointers point into, to be freed by free();
 *          NULL when there is none
 * returns  as asf_record_view, but never 0: ASF_RECORD_COPIED and so on. */
ASF_EXPORT int asf_record_into(struct asf_record *record, struct asf_record_format *format, void *data,
                               void **block);

/* The result of matching a record's format with the program's. */
struct asf_record_receipt {
    size_t missing;            /* fields set to their fallback */
    size_t ignored;            /* fields that the program does not know */
    size_t cut;                /* arrays with more elements than the program has room for */
    const char *const *absent; /* names of the missing fields */
};

/* asf_record_match: match two formats without a record, and report the result.
 * returns  as asf_record_view: how it will make the struct.  The receipt is valid until the reader frees the
 * conversion: at its limit of conversions, or in asf_record_reader_free. */
ASF_EXPORT int asf_record_match(struct asf_record_reader *reader, struct asf_record_format *wire,
                                struct asf_record_format *native, struct asf_record_receipt *receipt);

/* --- values by name, without a struct ------------------------------------------------- */

/* A value within a record: its description and its address. */
struct asf_record_value {
    struct asf_record_member member; /* for an element of an array, its shape is ASF_RECORD_SINGLE */
    size_t count;                    /* elements */
    const struct asf_record *record;
    const unsigned char *at; /* the first element, in the writer's layout */
    size_t part;             /* private */
};

/* asf_record_find: find a value by its name.
 *   path  "name", "point.x", "samples[2].v[0]"; "" is the whole record
 * returns  0; -ENOENT: no such field, or no valid path; -ERANGE: no such element;
 *          -EPROTOTYPE: the path names a field of a value that is not a single struct.
 * lifetime as the record's. */
ASF_EXPORT int asf_record_find(const struct asf_record *record, const char *path,
                               struct asf_record_value *value);

/* asf_record_value_item: the i-th element of an array.  asf_record_value_field:
 * the i-th field of a struct.
 * returns  0; -ERANGE: no such element; -ENOENT: no such field;
 *          -EPROTOTYPE: the value is not a struct.
 * lifetime as the record's. */
ASF_EXPORT int asf_record_value_item(const struct asf_record_value *array, size_t i,
                                     struct asf_record_value *item);
ASF_EXPORT int asf_record_value_field(const struct asf_record_value *value, size_t i,
                                      struct asf_record_value *field);

/* asf_record_as_int, ...: read a single number (character, boolean, enumeration), or a string, which
 * may be NULL and is valid as long as the record.
 * returns  0; -EPROTOTYPE: the value is of another kind; -ERANGE. */
ASF_EXPORT int asf_record_as_int(const struct asf_record_value *value, int64_t *number);
ASF_EXPORT int asf_record_as_uint(const struct asf_record_value *value, uint64_t *number);
ASF_EXPORT int asf_record_as_float(const struct asf_record_value *value, double *number);
ASF_EXPORT int asf_record_as_string(const struct asf_record_value *value, const char **text);

/* --- conversion engines ------------------------------------------------------------------ */

/* asf_record_engines: the names of the engines from the simplest on, "scalar" first; ends with NULL.
 * asf_record_engine: the one in use: the best that the CPU has, unless ASF_RECORD in the environment
 * names another.
 * asf_record_use: use this engine from now on (planned conversions keep theirs); NULL: the best.
 * returns  0; -EINVAL: unknown; -ENOTSUP: the CPU does not have it. */
ASF_EXPORT const char *const *asf_record_engines(void);
ASF_EXPORT const char *asf_record_engine(void);
ASF_EXPORT int asf_record_use(const char *name);

#ifdef __cplusplus
}
#endif
#endif
