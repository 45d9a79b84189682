/* SPDX-License-Identifier: MIT
 *
 * record.h - native data representation: records travel in the layout of who
 * wrote them, and who reads them makes them right.
 *
 * The interface of Eisenhauer, Bustamante and Schwan, "Native Data
 * Representation: An Efficient Wire Format for High Performance Computing"
 * (2001), on the streams of <asf/asf.h>.  A program tells what its structs
 * look like; a record is then written as it lies in memory, and the format
 * goes before the first of its kind.  A reader matches fields by name.  Where
 * the layouts agree the record is used where it lies; where they do not it is
 * converted: byte order, sizes, places, fields that one of the two does not
 * have.
 *
 * All this is in libasf_record (-lasf_record), which stands on libasf and, for
 * the hash that names a format, on nettle.
 *
 * A call that returns int gives a negated errno value when it fails, and
 * asf_record_why() tells the rest in words, the field included.  No call
 * exits, prints or touches errno.
 *
 *   -EINVAL      the caller's own declaration or argument is wrong
 *   -EBADMSG     a description or record from outside is broken or forged
 *   -E2BIG       beyond a limit (struct asf_record_options)
 *   -EPROTOTYPE  wire and native format contradict each other in a field, or have
 *                none in common; a value is not what is asked for
 *   -ERANGE      a value does not fit the native field
 *   -ENOENT      no such field, or a format that nobody knows
 *   -ENODATA     the stream ends within a record
 *   -ENOMEM, and what the stream or the store fails with
 *
 * Thread safety: formats and stores may be used by any threads at once; a
 * writer, a reader and its record by one thread at a time.
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

/* What a reader wants of a field. */
enum asf_record_wish {
    ASF_RECORD_REQUIRED = 1,   /* a record without it is refused (-ENOENT) */
    ASF_RECORD_ANY_NUMBER = 2, /* integers are taken for floats, rounded, and floats for integers, cut off */
};

struct asf_record_type;

/* One field of a struct; the macros below make them. */
struct asf_record_field {
    const char *name;
    enum asf_record_kind kind;
    enum asf_record_shape shape;
    size_t offset;
    size_t size;                        /* bytes of one element */
    size_t count;                       /* elements of an array, otherwise 1 */
    const char *counter;                /* of a dynamic array: the integer field beside it that counts */
    const struct asf_record_type *type; /* of a struct */
    const void *fallback; /* the value where a record has none; NULL: zero.  A string's: the text */
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

/* The struct as a whole:
 *     static const struct asf_record_type sample = ASF_RECORD_TYPE("sample", struct sample, sample_fields);
 */
#define ASF_RECORD_TYPE(name, type, fields)                                                                  \
    { name, sizeof(type), ASF_RECORD_ALIGNMENT(type), fields, sizeof(fields) / sizeof((fields)[0]) }

/* A field of a kind: ASF_FIELD(INT, struct sample, id). */
#define ASF_FIELD(kind, type, member) ASF_FIELD_OR(kind, type, member, NULL, 0)

/* The same with a value for records that do not have it (a pointer to one of
 * the member's type) and wishes. */
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

/* A struct within the struct, an array of them, a pointer to some. */
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

/* A format: what a type looks like on some machine. */
struct asf_record_format;

/* asf_record_declare: the format of a struct of this program.
 *   type  may go afterwards, but for its fallbacks, which must stay
 * returns  0; -EINVAL: an empty or doubled name, a size that no such field can
 *          have, fields that overlap or stand outside, a counter that is no
 *          single integer beside its array; -E2BIG: more than 4096 fields, 256
 *          structs, 16 levels, 16 MiB of struct, or a description of more than
 *          64 KiB; -ENOMEM.
 * lifetime of the format: until asf_record_format_free and until the writers,
 *          readers and stores that use it are gone.
 * source   paper, section 3, Figure 1. */
ASF_EXPORT int asf_record_declare(const struct asf_record_type *type, struct asf_record_format **format);

/* asf_record_parse: the format that a description of whatever origin describes.
 * returns  0; -EBADMSG when it is not exactly one that asf_record_describe could
 *          have given on some machine; -E2BIG; -ENOMEM.
 * source   paper, section 3.2.1. */
ASF_EXPORT int asf_record_parse(const void *description, size_t length, struct asf_record_format **format);

/* asf_record_describe: a format's canonical description: equal formats have
 * equal ones.
 * returns  its bytes; valid as long as the format. */
ASF_EXPORT const void *asf_record_describe(const struct asf_record_format *format, size_t *length);

/* asf_record_hash: the first 128 bits of the description's SHA-256; 16 bytes
 * that are valid as long as the format. */
ASF_EXPORT const unsigned char *asf_record_hash(const struct asf_record_format *format);

/* asf_record_format_free: the caller has done with a format.  NULL is allowed. */
ASF_EXPORT void asf_record_format_free(struct asf_record_format *format);

/* asf_record_why: what the last failure in this thread was about, in plain
 * words.  Never NULL; valid until the next call in this thread. */
ASF_EXPORT const char *asf_record_why(void);

/* --- looking into formats ------------------------------------------------------ */

/* A struct of a format. */
struct asf_record_layout;

/* A field of a format, as it lies in the record. */
struct asf_record_member {
    const char *name;
    enum asf_record_kind kind;
    enum asf_record_shape shape;
    uint32_t offset, size, count;           /* size: bytes of one element */
    const char *counter;                    /* of a dynamic array, otherwise NULL */
    const struct asf_record_layout *layout; /* of a struct, otherwise NULL */
};

/* asf_record_layout_of: the struct that the records of a format are.  All that is
 * told of it is valid as long as the format.
 * source   paper, section 4.4: reflection. */
ASF_EXPORT const struct asf_record_layout *asf_record_layout_of(const struct asf_record_format *format);

/* asf_record_layout_name: what the struct was declared as; valid as long as the
 * format.  asf_record_layout_size: its bytes, without what its pointers refer to. */
ASF_EXPORT const char *asf_record_layout_name(const struct asf_record_layout *layout);
ASF_EXPORT size_t asf_record_layout_size(const struct asf_record_layout *layout);

/* asf_record_layout_order: 1234 or 4321, the byte order of the records. */
ASF_EXPORT int asf_record_layout_order(const struct asf_record_layout *layout);

/* asf_record_layout_fields: how many fields there are. */
ASF_EXPORT size_t asf_record_layout_fields(const struct asf_record_layout *layout);

/* asf_record_layout_field, asf_record_layout_find: the i-th field; the field of
 * a name.
 * returns  0; -ENOENT. */
ASF_EXPORT int asf_record_layout_field(const struct asf_record_layout *layout, size_t i,
                                       struct asf_record_member *member);
ASF_EXPORT int asf_record_layout_find(const struct asf_record_layout *layout, const char *name,
                                      struct asf_record_member *member);

/* --- how formats and limits are agreed on --------------------------------------- */

/* Where formats are kept that are not sent along (<asf/record_store.h>). */
struct asf_record_store;

struct asf_record_options {
    size_t size; /* sizeof(struct asf_record_options), as compiled */

    /* Writer: records carry their format's hash, and the format goes into the
     * store, not into the stream (the paper's non-connected mode). */
    int hashed;
    /* Writer: an index at the end, so that asf_record_seek finds a record. */
    int indexed;
    /* Formats that are not in the stream are put into it or asked from it; NULL: none. */
    struct asf_record_store *store;

    /* Reader; 0 stands for what is said here.  What one of them forbids fails with -E2BIG,
     * and what came before it is good. */
    size_t most_bytes;    /* of a record on the wire: 256 MiB */
    size_t most_expanded; /* of a record when converted: 1 GiB */
    size_t most_formats;  /* of one stream: 1024; a writer's, too */
    size_t most_plans;    /* conversions kept: 256 */

    /* Bytes of memory for the formats of one stream, and as many for the conversions
     * kept, of which the oldest goes when they take more; 0: 64 MiB.  A reader takes,
     * and a writer writes, no format beyond it (-E2BIG).  A stream that begins again
     * and again, with new formats each time, is refused when it has little else:
     * beyond these bytes, when its formats would take more than 64 times its length. */
    size_t most_memory;
};

/* --- writing ---------------------------------------------------------------------- */

struct asf_record_writer;

/* asf_record_writer_new: write records to a stream.
 *   stream   stays the caller's; opened for writing.  Each record makes it one
 *            in write mode, should it be in the other.
 *   options  NULL: the formats in the stream, no index
 *   writer   out: the writer; NULL on an error
 * returns  0; -EINVAL: options of another size; -EBADF: the stream is not open
 *          for writing; -ENOMEM; what salloc and sfree fail with.
 * lifetime until asf_record_writer_close.
 * source   paper, section 3.2.2: connected and non-connected PBIO. */
ASF_EXPORT int asf_record_writer_new(struct asf_cios *stream, const struct asf_record_options *options,
                                     struct asf_record_writer **writer);

/* asf_record_write: write a struct, with what its pointers point to.
 * returns  0; -EINVAL: a negative counter, a NULL array with elements, a format
 *          that is not of this machine, or a record that was begun and not ended;
 *          -E2BIG; -ENOMEM; what salloc and sfree fail with.  When the stream could
 *          not be written, each later call fails with the same.
 * source   paper, section 3.1.1: marshalling. */
ASF_EXPORT int asf_record_write(struct asf_record_writer *writer, struct asf_record_format *format,
                                const void *data);

/* asf_record_begin: a zeroed struct in the stream's own buffer, to be filled in
 * place, and written by asf_record_end.
 *   extra  bytes that asf_record_part and asf_record_string will need at most
 *          (each starts at a multiple of 8, or of its alignment); what is not
 *          used of them is not written
 *   data   out: where the struct is.  It is valid until asf_record_end.
 * returns  0; -EINVAL: another has been begun and not ended, or the format is not
 *          of this machine; -E2BIG; -ENOMEM; what salloc fails with. */
ASF_EXPORT int asf_record_begin(struct asf_record_writer *writer, struct asf_record_format *format,
                                size_t extra, void **data);

/* asf_record_part: room after the struct for what one of its pointers, at
 * `slot`, refers to; the pointer is set.  The caller sets the counter.
 * returns  the room; NULL: there is not so much left of `extra`.  Valid until
 *          asf_record_end. */
ASF_EXPORT void *asf_record_part(struct asf_record_writer *writer, void *slot, size_t bytes);

/* asf_record_string: the same for a string, which is copied; NULL is allowed.
 * returns  0; -E2BIG. */
ASF_EXPORT int asf_record_string(struct asf_record_writer *writer, void *slot, const char *text);

/* asf_record_end: the struct that was begun is complete.
 * returns  0; -EINVAL: none was begun; what sfree fails with. */
ASF_EXPORT int asf_record_end(struct asf_record_writer *writer);

/* asf_record_writer_close: write the index, if there is to be one, and free the
 * writer.  The stream is not flushed and not closed.
 * returns  0, or what the stream failed with. */
ASF_EXPORT int asf_record_writer_close(struct asf_record_writer *writer);

/* asf_record_encode: a record with its format's hash as a message in memory, to
 * be sent by whatever means (asf_record_take reads it).
 *   room  bytes at `message`, which must stand at a multiple of 16
 * returns  the bytes of the message; nothing is written when there is no room
 *          for them.  -EINVAL as asf_record_write; -E2BIG.
 * source   paper, section 3.2.2: non-connected PBIO. */
ASF_EXPORT ssize_t asf_record_encode(struct asf_record_format *format, const void *data, void *message,
                                     size_t room);

/* asf_record_gather: the same message as pieces to be sent one after the other,
 * by writev() or sendmsg(): large arrays without pointers and strings stay where
 * they are, and the rest of the message is at `message`.
 *   pieces  room for `most` of them; with few of them more is copied
 * returns  how many there are.  -EINVAL as asf_record_write; -E2BIG: the record is
 *          beyond a limit, `room` is too small for what is copied, or `most` is 0.
 * lifetime of the pieces: that of `message` and of what `data` points to.
 * source   paper, section 3.1.1: "a vector of buffers". */
ASF_EXPORT int asf_record_gather(struct asf_record_format *format, const void *data, void *message,
                                 size_t room, struct iovec *pieces, size_t most);

/* --- reading ----------------------------------------------------------------------- */

struct asf_record_reader;

/* A record that has been received. */
struct asf_record;

/* How a record came to look as the program wants it. */
enum asf_record_how {
    ASF_RECORD_IN_PLACE,  /* used where it lies: nothing was copied */
    ASF_RECORD_COPIED,    /* the same layout, moved */
    ASF_RECORD_SWAPPED,   /* the same layout in the other byte order */
    ASF_RECORD_CONVERTED, /* another layout */
};

/* asf_record_reader_new: read records from a stream.
 *   stream  stays the caller's; opened for reading, and made one in read mode,
 *           here and by each record.  NULL: asf_record_take alone is used
 *   reader  out: the reader; NULL on an error
 * returns  0; -EINVAL: options of another size; -EBADF: the stream cannot be
 *          read, or its output not be written; -ENOMEM.
 * lifetime until asf_record_reader_free. */
ASF_EXPORT int asf_record_reader_new(struct asf_cios *stream, const struct asf_record_options *options,
                                     struct asf_record_reader **reader);

/* asf_record_reader_free: free the reader, its record and all that was got of it,
 * but for asf_record_into's; the stream stays open.  NULL is allowed. */
ASF_EXPORT void asf_record_reader_free(struct asf_record_reader *reader);

/* asf_record_next: the next record of the stream, checked as a whole against
 * its format, but not yet converted.
 * returns  1; 0 at the end; -EBADMSG, -E2BIG, -ENOENT (a hash that the store
 *          does not know), -ENODATA, or what the stream fails with.
 * lifetime of the record: until the next call for this reader. */
ASF_EXPORT int asf_record_next(struct asf_record_reader *reader, struct asf_record **record);

/* asf_record_count: how many records a file has: by its index, or, where there
 * is none or the writer did not come to write it, by going through the file.
 *   The first record is the next then.
 * asf_record_seek: the record that asf_record_next gives next, from 0 on.
 *   stream  one that can seek and has the records from its first byte on
 * returns  0; -ESPIPE; -ERANGE: there are not so many; as asf_record_next. */
ASF_EXPORT int asf_record_count(struct asf_record_reader *reader, uint64_t *count);
ASF_EXPORT int asf_record_seek(struct asf_record_reader *reader, uint64_t number);

/* asf_record_take: the same for a message in memory, which must stay as it is as
 * long as the record is used.
 * returns  1; -EBADMSG: it is no record, or not of the length that it tells;
 *          -E2BIG, -ENOENT, -ENODATA as asf_record_next.
 * source   paper, section 3.2.2: non-connected PBIO. */
ASF_EXPORT int asf_record_take(struct asf_record_reader *reader, const void *message, size_t length,
                               struct asf_record **record);

/* asf_record_take_over: the same for a message that the caller has no more use
 * for.  A record that differs from the program's struct in its byte order alone
 * is not copied: asf_record_view turns it round in the message itself, which is
 * a record of the program's format from then on, and no message any more.
 *   message  to be written to, until the reader's next record
 * returns  as asf_record_take.
 * source   paper, section 4.3.1: "reusing the receive buffer (as we do)". */
ASF_EXPORT int asf_record_take_over(struct asf_record_reader *reader, void *message, size_t length,
                                    struct asf_record **record);

/* asf_record_format_of: the format that the record was written in, or has been
 * turned into. */
ASF_EXPORT struct asf_record_format *asf_record_format_of(const struct asf_record *record);

/* asf_record_view: the record as a struct of this program.  Pointers in it are
 * offsets: asf_record_at makes them pointers.
 *   format  the program's own; its name need not be the record's
 *   data    out: the struct, not to be written to.  It is valid until the next
 *           call for this reader.
 * returns  how it was got (enum asf_record_how, 0 for in place); -EPROTOTYPE,
 *          -ERANGE, -ENOENT (a required field), -E2BIG, -ENOMEM.
 * A record in memory that others may write to can change after it was checked:
 * use asf_record_into there.
 * source   paper, section 3.1.2: unmarshalling. */
ASF_EXPORT int asf_record_view(struct asf_record *record, struct asf_record_format *format,
                               const void **data);

/* asf_record_at: what a pointer in a struct from asf_record_view refers to. */
static inline const void *asf_record_at(const void *data, const void *pointer) {
    return pointer ? (const char *)data + (size_t)pointer : (const void *)0;
}

/* asf_record_into: the record into a struct of the caller's, with pointers.
 *   data   room for the struct
 *   block  out: the memory that the pointers point into, to be freed by free();
 *          NULL when there is none
 * returns  as asf_record_view, but never 0: ASF_RECORD_COPIED and so on. */
ASF_EXPORT int asf_record_into(struct asf_record *record, struct asf_record_format *format, void *data,
                               void **block);

/* What became of the fields when a record's format met the program's. */
struct asf_record_receipt {
    size_t missing;            /* fields that took their fallback */
    size_t ignored;            /* fields that the program does not know */
    size_t cut;                /* arrays with more elements than the program has room for */
    const char *const *absent; /* the names of the missing ones */
};

/* asf_record_match: match two formats without a record, and tell.
 * returns  how records will be got, as asf_record_view.  The receipt is valid as long as the reader, up
 * to its limit of conversions. */
ASF_EXPORT int asf_record_match(struct asf_record_reader *reader, struct asf_record_format *wire,
                                struct asf_record_format *native, struct asf_record_receipt *receipt);

/* --- values by name, without a struct ------------------------------------------------- */

/* A value within a record: a place and what is there. */
struct asf_record_value {
    struct asf_record_member member; /* for an element of an array its shape is ASF_RECORD_SINGLE */
    size_t count;                    /* elements */
    const struct asf_record *record;
    const unsigned char *at; /* the first, as the writer laid it */
    size_t part;             /* private */
};

/* asf_record_find: a value by its name.
 *   path  "name", "point.x", "samples[2].v[0]"; "" is the record as a whole
 * returns  0; -ENOENT: no such field, or no path; -ERANGE: no such element;
 *          -EPROTOTYPE: the path asks what is no single struct for a field.
 * lifetime as the record's. */
ASF_EXPORT int asf_record_find(const struct asf_record *record, const char *path,
                               struct asf_record_value *value);

/* asf_record_value_item: the i-th element of an array.  asf_record_value_field:
 * the i-th field of a struct.
 * returns  0; -ERANGE: no such element; -ENOENT: no such field;
 *          -EPROTOTYPE: it is no struct.
 * lifetime as the record's. */
ASF_EXPORT int asf_record_value_item(const struct asf_record_value *array, size_t i,
                                     struct asf_record_value *item);
ASF_EXPORT int asf_record_value_field(const struct asf_record_value *value, size_t i,
                                      struct asf_record_value *field);

/* asf_record_as_int, ...: a single number (character, boolean, enumeration), or
 * a string, which may be NULL and is valid as long as the record.
 * returns  0; -EPROTOTYPE: it is no such thing; -ERANGE. */
ASF_EXPORT int asf_record_as_int(const struct asf_record_value *value, int64_t *number);
ASF_EXPORT int asf_record_as_uint(const struct asf_record_value *value, uint64_t *number);
ASF_EXPORT int asf_record_as_float(const struct asf_record_value *value, double *number);
ASF_EXPORT int asf_record_as_string(const struct asf_record_value *value, const char **text);

/* --- conversion engines ------------------------------------------------------------------ */

/* asf_record_engines: their names from the plainest on, "scalar" first; ends
 * with NULL.  asf_record_engine: the one in use: the best that the CPU has,
 * unless ASF_RECORD in the environment names another.
 * asf_record_use: convert by this one from now on (what has been planned stays);
 * NULL: the best.
 * returns  0; -EINVAL: unknown; -ENOTSUP: the CPU does not have it. */
ASF_EXPORT const char *const *asf_record_engines(void);
ASF_EXPORT const char *asf_record_engine(void);
ASF_EXPORT int asf_record_use(const char *name);

#ifdef __cplusplus
}
#endif
#endif
