/* SPDX-License-Identifier: MIT
 *
 * lines.h - lines, fields and records of a stream in place: extensions of the
 * paper's Figure 2, in its terms.
 *
 *   asf_salloc_until   the next line as a region of its own: sfio's sfgetr
 *   struct asf_lines   one line after the other, for 1 to 5 ns each
 *   struct asf_fields  the fields of a line, or of any bytes
 *   struct asf_records records of one size
 *
 * A line is the bytes up to a delimiter, any byte that the caller chooses; it may
 * hold every other byte, NUL as well.  Nothing is copied and nothing may be written
 * to.  Delimiters are found by the kernels of <asf/scan.h>.
 *
 * As everywhere in the ASI a call that returns a pointer gives NULL at the end with
 * 0 in the length, and NULL with a negated errno value in it on an error.  Data of
 * pipes and terminals is handed out as it comes: a call waits only while what it is
 * to return has not come as a whole.
 *
 * The iterators are structs of the caller's.  Their members are the library's: they
 * are here so that the functions that are called for each line are inline.
 */
#ifndef ASF_LINES_H
#define ASF_LINES_H

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest line where the caller sets no limit: it bounds the memory that a file without
 * delimiters takes. */
#define ASF_LONGEST_LINE ((ssize_t)1 << 20)

/* asf_salloc_until: allocate the next bytes up to a delimiter, and with it.
 *   delimiter  converted to unsigned char, as for memchr
 *   length     in: the longest region that is wanted, or 0 for ASF_LONGEST_LINE.
 *              out: bytes in the region
 * returns  the region, one piece however long it is.  It lacks the delimiter when it
 *          is all that came before the end of the file, or before an error such as
 *          -EAGAIN or -EINTR: as salloc, the next call says which.
 *          NULL with *length == 0 at the end of the file; NULL with *length < 0 on an
 *          error: -EMSGSIZE when the line is longer than wanted, -EINVAL for
 *          *length < 0, -EBADF for a stream that is not in read mode, and salloc's.
 *          After -EMSGSIZE nothing is consumed: the caller may ask again for a longer
 *          one, or read the line piece by piece by salloc.
 * lock     taken; held by the caller for the form with u_.  Threads that share a
 *          stream get whole lines, each once.
 * lifetime until sfree, as a region of salloc.
 * source   sfio's sfgetr. */
ASF_EXPORT void *asf_salloc_until(struct asf_cios *stream, int delimiter, ssize_t *length);
ASF_EXPORT void *asf_u_salloc_until(struct asf_cios *stream, int delimiter, ssize_t *length);

/* An iterator over the lines of a stream.  It holds a region of what is at hand, so that
 * from asf_lines_begin to asf_lines_end no other call may use the stream, of this thread or
 * another: one that does may make the iterator's calls return -EBUSY.  Threads that share a
 * stream use asf_salloc_until. */
struct asf_lines {
    const char *line, *base;      /* where the next line begins; what `places` counts from */
    const uint16_t *place, *last; /* the delimiters that have been found: place to last */
    struct asf_cios *stream;
    char *region; /* what is held: up to `end`, looked through up to `scanned`; or NULL */
    const char *scanned, *end;
    size_t longest;
    unsigned char delimiter, bare;
    uint16_t places[512];
};

/* asf_lines_begin: iterate over the lines from where the stream stands.  The stream is not
 * touched before the first line is asked for.
 *   delimiter  as for asf_salloc_until
 *   longest    the longest line with its delimiter, or 0 for ASF_LONGEST_LINE
 * lock, errors  none. */
ASF_EXPORT void asf_lines_begin(struct asf_lines *lines, struct asf_cios *stream, int delimiter,
                                ssize_t longest);

/* asf_lines_next: the next line.
 *   length   out: its bytes, without the delimiter, which follows them, at line[length],
 *            unless asf_lines_delimited says otherwise
 * returns  the line, which is not NULL when it is empty; NULL as asf_salloc_until, with
 *          -EBUSY besides, when another call has used the stream, and -EIO when the
 *          file was truncated under lines that were returned before.  All but the end of
 *          the file and -EBUSY leave the stream before the line.  After the end it may be
 *          called again: the file may have grown.
 * lock     taken when what is held has no further line; else none.
 * lifetime until the next call with `lines`. */
static inline const char *asf_lines_next(struct asf_lines *lines, ssize_t *length);

/* asf_lines_delimited: whether the line that asf_lines_next has returned last has its
 * delimiter: nonzero but for bytes at the end of the file after the last delimiter, or before
 * an error. */
static inline int asf_lines_delimited(const struct asf_lines *lines);

/* asf_lines_at_hand: whether asf_lines_next would return without looking at the stream: where it
 * is zero the call may wait, and a filter writes what it has before. */
static inline int asf_lines_at_hand(const struct asf_lines *lines);

/* asf_lines_end: give back what is held.  The stream stands after the last line that was
 * returned, for any call of any interface.
 * returns  0; -EIO as sfree; -EBUSY when another call has used the stream: then the lines that
 *          were not asked for are gone.
 * lock     taken. */
ASF_EXPORT int asf_lines_end(struct asf_lines *lines);

/* asf_lines_more: asf_lines_next where no delimiter is at hand. */
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

/* An iterator over the fields of a line, or of any bytes: n separators part n + 1 fields, so
 * that an empty line is one empty field.  Where runs of blanks are to count as one separator,
 * pass over the fields of length 0. */
struct asf_fields {
    const char *text;
    size_t length, next, block; /* of the text; where the next field and the bits begin */
    uint64_t ends;              /* of fields, as bits, in the 64 bytes from `block` on */
    int separator;
};

/* asf_fields_begin: iterate over the fields of `length` bytes.
 *   text       stays the caller's, and must stay as it is while it is iterated over
 *   length     0 or more
 *   separator  converted to unsigned char
 * lock, errors  none; there is nothing to end. */
static inline void asf_fields_begin(struct asf_fields *fields, const char *text, ssize_t length,
                                    int separator);

/* asf_fields_next: the next field.
 *   length   out: its bytes, without the separator
 * returns  the field, which is not NULL when it is empty; NULL with *length == -1 after the
 *          last one.
 * lifetime the text's. */
static inline const char *asf_fields_next(struct asf_fields *fields, ssize_t *length);

/* asf_fields_ends: where fields end, for asf_fields_next.
 * returns  a bit for each of the first 64 bytes that is the separator, and one for the end of
 *          the text if it lies before. */
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

/* An iterator over records of one size; what is said of asf_lines and other calls holds here. */
struct asf_records {
    const char *record, *end; /* the next one; the end of what is held */
    size_t size;
    struct asf_cios *stream;
    char *region; /* what is held, or NULL */
};

/* asf_records_begin: iterate over the records from where the stream stands.
 *   size     bytes in each, at least 1
 * lock, errors  none. */
ASF_EXPORT void asf_records_begin(struct asf_records *records, struct asf_cios *stream, size_t size);

/* asf_records_next: the next record.
 *   length   out: its bytes: the size, or fewer when they are all that came before the end of
 *            the file or an error
 * returns  the record, at any address; NULL as asf_lines_next, and -EINVAL for a size of 0.
 * lock, lifetime  as asf_lines_next. */
static inline const void *asf_records_next(struct asf_records *records, ssize_t *length);

/* asf_records_end: as asf_lines_end. */
ASF_EXPORT int asf_records_end(struct asf_records *records);

/* asf_records_more: asf_records_next where no whole record is at hand. */
ASF_EXPORT const void *asf_records_more(struct asf_records *records, ssize_t *length);

static inline const void *asf_records_next(struct asf_records *records, ssize_t *length) {
    const char *record = records->record;
    if (__builtin_expect((size_t)(records->end - record) < records->size, 0))
        return asf_records_more(records, length);
    records->record = record + records->size;
    *length = (ssize_t)records->size;
    return record;
}

#ifndef ASF_PREFIXED_NAMES
#define salloc_until   asf_salloc_until
#define u_salloc_until asf_u_salloc_until
#endif

#ifdef __cplusplus
}
#endif
#endif
