/* SPDX-License-Identifier: MIT
 *
 * lines.h - lines, fields and records of a stream in place: extensions of the paper's Figure 2, in its
 * terms.
 *
 *   asf_salloc_until   the next line as a region of its own: sfio's sfgetr
 *   struct asf_lines   iterates over lines, for 1 to 5 ns each
 *   struct asf_fields  iterates over the fields of a line, or of any bytes
 *   struct asf_fixed_records iterates over records of one size
 *
 * A line is the bytes up to a delimiter, which is any byte that the caller chooses.  A line may
 * contain every other byte, NUL too.  Nothing is copied, and the program must not change the bytes.
 * The kernels of <asf/scan.h> find the delimiters.
 *
 * As everywhere in the ASI, a call that returns a pointer gives NULL at the end and on an error.  At the
 * end the length is 0; on an error it is a negated errno value.  Data of pipes and terminals is handed out as
 * it arrives: a call waits only for the bytes that it returns.
 *
 * The caller owns the iterators, which are structs.  Only the library uses their members; they are in
 * this header so that the functions called for each line are inline.
 */
#ifndef ASF_LINES_H
#define ASF_LINES_H

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest line if the caller sets no limit: it bounds the memory for a file without delimiters. */
#define ASF_LONGEST_LINE ((ssize_t)1 << 20)

/* asf_salloc_until: allocate the next bytes up to and including a delimiter.
 *   delimiter  converted to unsigned char, as for memchr
 *   length     in: the longest region wanted, or 0 for ASF_LONGEST_LINE.
 *              out: bytes in the region
 * returns  the region, contiguous however long it is.  It lacks the delimiter when
 *          the file ended after it, or an error such as -EAGAIN or -EINTR came before the
 *          delimiter: as with salloc, the next call returns the end or the error.
 *          NULL with *length == 0 at the end of the file; NULL with *length < 0 on an
 *          error: -EMSGSIZE when the line is longer than wanted, -EINVAL for
 *          *length < 0, -EBADF for a stream that is not in read mode, and salloc's.
 *          After -EMSGSIZE nothing is consumed: the caller may ask for a longer
 *          region, or read the line in parts by salloc.
 * lock     taken; the caller of the u_ form holds it.  Threads that share a
 *          stream get whole lines, each once.
 * lifetime until sfree, as a region of salloc.
 * source   sfio's sfgetr. */
ASF_EXPORT void *asf_salloc_until(struct asf_cios *stream, int delimiter, ssize_t *length);
ASF_EXPORT void *asf_u_salloc_until(struct asf_cios *stream, int delimiter, ssize_t *length);

/* An iterator over the lines of a stream.  It holds a region of the bytes available, so from
 * asf_lines_begin to asf_lines_end no other call of any thread may use the stream: such a call may
 * make the iterator's calls return -EBUSY.  A second iterator of lines or records is refused meanwhile:
 * its asf_lines_next returns -EBUSY, and no line is lost.  Threads that share a stream use
 * asf_salloc_until. */
struct asf_lines {
    const char *line, *base;      /* the next line; the address that `places` are offsets from */
    const uint16_t *place, *last; /* the delimiters found and not yet used: place to last */
    struct asf_cios *stream;
    char *region; /* the region held, or NULL: up to `end`, searched up to `scanned` */
    const char *scanned, *end;
    size_t longest;
    unsigned char delimiter, bare;
    uint16_t places[512];
};

/* asf_lines_begin: iterate over the lines from the stream's offset on.  The first asf_lines_next is
 * the first to use the stream: if another iteration has not ended by then, it returns -EBUSY.
 *   delimiter  as for asf_salloc_until
 *   longest    the longest line with its delimiter, or 0 for ASF_LONGEST_LINE
 * lock, errors  none. */
ASF_EXPORT void asf_lines_begin(struct asf_lines *lines, struct asf_cios *stream, int delimiter,
                                ssize_t longest);

/* asf_lines_next: the next line.
 *   length   out: bytes of the line without the delimiter, which is at line[length]
 *            unless asf_lines_delimited returns 0
 * returns  the line, which is not NULL when it is empty; NULL as asf_salloc_until, and also with
 *          -EBUSY: another iterator of the stream holds lines or records, or another call has used
 *          the stream; and -EIO: the
 *          file was truncated under lines that were returned before.  After every error except
 *          -EBUSY the stream's offset is at the beginning of the line.  After the end of the file
 *          the function may be called again: the file may have grown.
 * lock     taken when the region held has no further line; else none.
 * lifetime until the next call with `lines`. */
static inline const char *asf_lines_next(struct asf_lines *lines, ssize_t *length);

/* asf_lines_delimited: nonzero if the line that asf_lines_next returned last has its delimiter; zero
 * for bytes after the last delimiter of the file, or before an error. */
static inline int asf_lines_delimited(const struct asf_lines *lines);

/* asf_lines_at_hand: whether asf_lines_next would return without using the stream.  If not, that call
 * may wait, so a filter writes its output first. */
static inline int asf_lines_at_hand(const struct asf_lines *lines);

/* asf_lines_end: end the iteration.  The stream's offset is after the last line that was returned, for
 * any call of any interface.  The iterator holds lines from the first one until this call or the end of
 * the file; meanwhile asf_sclose fails with -EBUSY.
 * returns  0; -EIO as sfree; -EBUSY: another call has used the stream, and the lines that
 *          were not asked for are lost.
 * lock     taken if lines are held. */
ASF_EXPORT int asf_lines_end(struct asf_lines *lines);

/* asf_lines_more: asf_lines_next calls it when `places` has no further delimiter. */
ASF_EXPORT const char *asf_lines_more(struct asf_lines *lines, ssize_t *length);

static inline const char *asf_lines_next(struct asf_lines *lines, ssize_t *length) {
    const char *line = lines->line, *end;
    if (__builtin_expect(lines->place == lines->last, 0))
        return asf_lines_more(lines, length);
    end = lines->base + *lines->place++;
    lines->line = end + 1;
    *length = end - line;
    return line;
}

static inline int asf_lines_delimited(const struct asf_lines *lines) {
    return !lines->bare;
}

static inline int asf_lines_at_hand(const struct asf_lines *lines) {
    return lines->place != lines->last;
}

/* An iterator over the fields of a line, or of any bytes: n separators divide n + 1 fields, so an
 * empty line has one empty field.  To treat runs of blanks as one separator, skip the fields of length
 * 0. */
struct asf_fields {
    const char *text;
    size_t length, next, block; /* length of the text; offset of the next field; offset of bit 0 of `ends` */
    uint64_t ends;              /* bit i: a field ends at offset block + i */
    int separator;
};

/* asf_fields_begin: iterate over the fields of `length` bytes.
 *   text       the caller's; it must not change during the iteration
 *   length     0 or more
 *   separator  converted to unsigned char
 * lock, errors  none; no call ends the iteration. */
static inline void asf_fields_begin(struct asf_fields *fields, const char *text, ssize_t length,
                                    int separator);

/* asf_fields_next: the next field.
 *   length   out: bytes of the field, without the separator
 * returns  the field, which is not NULL when it is empty; NULL with *length == -1 after the
 *          last one.
 * lifetime the text's. */
static inline const char *asf_fields_next(struct asf_fields *fields, ssize_t *length);

/* asf_fields_ends: the ends of fields, for asf_fields_next.
 * returns  a bit for each of the first 64 bytes that is the separator.  If the text ends among
 *          them, also a bit for its end. */
ASF_EXPORT uint64_t asf_fields_ends(const char *text, size_t n, int separator);

static inline void asf_fields_begin(struct asf_fields *fields, const char *text, ssize_t length,
                                    int separator) {
    fields->text = text;
    fields->length = (size_t)length;
    fields->next = fields->block = 0;
    fields->separator = separator;
    fields->ends = asf_fields_ends(text, (size_t)length, separator);
}

static inline const char *asf_fields_next(struct asf_fields *fields, ssize_t *length) {
    size_t next = fields->next, end;
    while (fields->ends == 0) {
        *length = -1;
        if (next > fields->length)
            return NULL;
        fields->block += 64;
        fields->ends =
            asf_fields_ends(fields->text + fields->block, fields->length - fields->block, fields->separator);
    }
    end = fields->block + (size_t)__builtin_ctzll(fields->ends);
    fields->ends &= fields->ends - 1;
    fields->next = end + 1;
    *length = (ssize_t)(end - next);
    return fields->text + next;
}

/* An iterator over records of one size.  As with asf_lines, no other call may use the stream, and a second
 * iterator is refused. */
struct asf_fixed_records {
    const char *record, *end; /* the next record; the end of the region held */
    size_t size;
    struct asf_cios *stream;
    char *region; /* the region held, or NULL */
};

/* asf_fixed_records_begin: iterate over the records from the stream's offset on.
 *   size     bytes in each, at least 1
 * lock, errors  none. */
ASF_EXPORT void asf_fixed_records_begin(struct asf_fixed_records *records, struct asf_cios *stream,
                                        size_t size);

/* asf_fixed_records_next: the next record.
 *   length   out: bytes of the record: the size, or fewer if the file ends or an error occurs
 *            after them
 * returns  the record, at any alignment; NULL as asf_lines_next, and -EINVAL for a size of 0.
 * lock, lifetime  as asf_lines_next. */
static inline const void *asf_fixed_records_next(struct asf_fixed_records *records, ssize_t *length);

/* asf_fixed_records_end: as asf_lines_end. */
ASF_EXPORT int asf_fixed_records_end(struct asf_fixed_records *records);

/* asf_fixed_records_more: asf_fixed_records_next calls it when the region held has no whole record. */
ASF_EXPORT const void *asf_fixed_records_more(struct asf_fixed_records *records, ssize_t *length);

static inline const void *asf_fixed_records_next(struct asf_fixed_records *records, ssize_t *length) {
    const char *record = records->record;
    if (__builtin_expect((size_t)(records->end - record) < records->size, 0))
        return asf_fixed_records_more(records, length);
    records->record = record + records->size;
    *length = (ssize_t)records->size;
    return record;
}

/* The names of version 0.2, which were too similar to those of <asf/record.h>. */
#define asf_records asf_fixed_records
ASF_EXPORT void asf_records_begin(struct asf_fixed_records *records, struct asf_cios *stream, size_t size)
    ASF_RENAMED(asf_fixed_records_begin);
ASF_EXPORT int asf_records_end(struct asf_fixed_records *records) ASF_RENAMED(asf_fixed_records_end);
ASF_EXPORT const void *asf_records_more(struct asf_fixed_records *records, ssize_t *length)
    ASF_RENAMED(asf_fixed_records_more);
ASF_RENAMED(asf_fixed_records_next)
static inline const void *asf_records_next(struct asf_fixed_records *records, ssize_t *length) {
    return asf_fixed_records_next(records, length);
}

#ifdef ASF_SHORT_NAMES
#define salloc_until   asf_salloc_until
#define u_salloc_until asf_u_salloc_until
#endif

#ifdef __cplusplus
}
#endif
#endif
