/* SPDX-License-Identifier: MIT
 *
 * numbers.h - numbers as text: written into a stream's buffer, and read from columns of a table.  They are
 * extensions of the paper's Figure 2.
 *
 *     asf_put_int(out, id);
 *     asf_put_text(out, "\t", 1);
 *     asf_put_double(out, price);
 *     asf_put_text(out, "\n", 1);
 *
 * The digits are written into the stream's buffer: nothing is copied, and no format is read.  The text is
 * the same in every locale.
 *
 * The functions that write return 0 or a negated errno value: -EBADF for a stream that was not opened for
 * writing; those of salloc.  A failed write loses the buffered bytes, as sflush says, and a part of the
 * text may have been written before: do not repeat the call.  A stream that is in read mode is put into write
 * mode; with n 0 asf_put_text does nothing.  No call waits for regions: where asf_set_bound makes salloc
 * wait, it returns -ENOBUFS.  The u_ forms do not lock: the caller holds the stream's lock or is its only
 * user.
 */
#ifndef ASF_NUMBERS_H
#define ASF_NUMBERS_H

#include <stddef.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* asf_put_int, asf_put_uint: write an integer in decimal, as printf's %jd and %ju.
 * lock     taken by each call; the caller of the u_ form holds it. */
ASF_EXPORT int asf_put_int(struct asf_cios *stream, int64_t value);
ASF_EXPORT int asf_u_put_int(struct asf_cios *stream, int64_t value);
ASF_EXPORT int asf_put_uint(struct asf_cios *stream, uint64_t value);
ASF_EXPORT int asf_u_put_uint(struct asf_cios *stream, uint64_t value);

/* asf_put_double: write the shortest text that strtod() reads as exactly this value, such as 0.1, 1e+22,
 * inf and -nan.  If two are equally short, the nearer one.
 * lock     as asf_put_int.
 * source   std::to_chars of C++17, whose text this is. */
ASF_EXPORT int asf_put_double(struct asf_cios *stream, double value);
ASF_EXPORT int asf_u_put_double(struct asf_cios *stream, double value);

/* asf_put_double_as: write a double as printf does in the C locale.
 *   conversion  'e', 'f', 'g' or one of their capitals
 *   precision   digits after the point, or for 'g' significant ones; at most 1100
 * errors   -EINVAL: another conversion or precision.
 * lock     as asf_put_int. */
ASF_EXPORT int asf_put_double_as(struct asf_cios *stream, double value, int conversion, int precision);
ASF_EXPORT int asf_u_put_double_as(struct asf_cios *stream, double value, int conversion, int precision);

/* asf_put_text: write n bytes of any kind.
 *   text     may be NULL if n is 0
 * lock     as asf_put_int. */
ASF_EXPORT int asf_put_text(struct asf_cios *stream, const char *text, size_t n);
ASF_EXPORT int asf_u_put_text(struct asf_cios *stream, const char *text, size_t n);

/* --- columns of a table ------------------------------------------------------------------- */

enum asf_column_type { ASF_INT32, ASF_INT64, ASF_DOUBLE };

/* A column that asf_get_columns reads. */
struct asf_column {
    size_t field; /* which field of a line, the first is 0 */
    enum asf_column_type type;
    void *values; /* the program's array of int32_t, int64_t or double, with room for all rows */
};

/* asf_get_columns: read numbers from the next lines of a stream into arrays, one line a row.
 *   stream     in read mode
 *   separator  the byte between two fields of a line
 *   columns    which fields; `field` increases from one to the next, and other fields are skipped
 *   count      columns, at least 1
 *   rows       lines wanted, 0 or more
 * returns  the rows that were read; the stream's offset is after them.  They are fewer than wanted at the end
 *          of the file, and if an error is met: the next call returns the error.  -EINTR and -EAGAIN are
 *          returned only if no row was read; after rows the next call tries to read again.
 * n separators divide a line into n + 1 fields: there is an empty field between two separators without text
 * between them, and an empty line is one empty field.  An empty field is a NaN in a column of ASF_DOUBLE, and
 * an error in a column of integers.  Any other field is a number as strtod() or strtoll() in base ten reads
 * it in the C locale.  It may have blanks around it, and a carriage return after it.  A number that is too
 * large for a double is infinite.
 * errors   -EBADMSG: the next line lacks a field, or a field is not a number of its column's type.
 *          -ERANGE: the next line has an integer that is too large for the type.
 *          -EMSGSIZE: the next line is longer than ASF_LONGEST_LINE (<asf/lines.h>), its newline included.
 *          After these three the stream's offset is before that line, which the program may read by
 *          asf_salloc_until.
 *          -EINTR, -EAGAIN: the next line is not complete yet, and is not consumed.
 *          -EBADF: the stream is not open for reading, or is in write mode.
 *          -EINVAL: the fields do not increase, a type is unknown, `count` is 0, or `rows` is negative.
 *          Those of asf_lines_next.
 * lock     taken for each chunk of the stream; as with struct asf_lines, no other call may use the stream
 *          meanwhile.
 * source   an extension. */
ASF_EXPORT int64_t asf_get_columns(struct asf_cios *stream, int separator, const struct asf_column *columns,
                                   size_t count, int64_t rows);
/* The name of asf_get_columns in version 0.2. */
ASF_EXPORT int64_t asf_scan_columns(struct asf_cios *stream, int separator, const struct asf_column *columns,
                                    size_t count, int64_t rows) ASF_RENAMED(asf_get_columns);

/* --- into the program's own memory ------------------------------------------------------ */

/* The bytes that the following functions may store.  Bytes after the text may change. */
#define ASF_INTEGER_ROOM 24
#define ASF_DOUBLE_ROOM  40

/* asf_digits_int, asf_digits_uint, asf_digits_double: write the text of asf_put_int, asf_put_uint or
 * asf_put_double to memory, without a null.
 *   to       room for ASF_INTEGER_ROOM or ASF_DOUBLE_ROOM bytes
 * returns  the address after the last character.
 * errors   none.
 * threads  no limits. */
ASF_EXPORT char *asf_digits_int(char *to, int64_t value);
ASF_EXPORT char *asf_digits_uint(char *to, uint64_t value);
ASF_EXPORT char *asf_digits_double(char *to, double value);

/* asf_digits_double_as: the text of asf_put_double_as.
 *   to       room for ASF_DOUBLE_ROOM bytes and `precision` more, and with 'f' or 'F' 310 more
 *   conversion, precision  as asf_put_double_as's, but not checked
 * returns, errors, threads  as asf_digits_double. */
ASF_EXPORT char *asf_digits_double_as(char *to, double value, int conversion, int precision);

/* --- inline ------------------------------------------------------------------------------- */

/* asf_eight_digits: the digits of a number below 10^8 with leading zeros, as values in the bytes of a word,
 * the first digit in the lowest byte. */
#ifdef __SSE2__
/* By W. Mula: each half abcd is copied to four places and divided by 1000, 100, 10 and 1, as a multiplication
 * and a shift.  Each of a, ab, abc, abcd minus ten times its left neighbour is a digit. */
ASF_INLINE uint64_t asf_eight_digits(uint32_t value) {
    const __m128i divisors = _mm_set1_epi64x((int64_t)0x80003334147b20c5);
    const __m128i shifts = _mm_set1_epi64x((int64_t)0x8000200008000080);
    __m128i all = _mm_cvtsi32_si128((int)value);
    __m128i high = _mm_srli_epi64(_mm_mul_epu32(all, _mm_set1_epi32((int)0xd1b71759)), 45);
    __m128i low = _mm_sub_epi32(all, _mm_mul_epu32(high, _mm_set1_epi32(10000)));
    __m128i halves = _mm_slli_epi64(_mm_unpacklo_epi16(high, low), 2);
    __m128i pairs = _mm_unpacklo_epi16(halves, halves);
    __m128i four_times = _mm_unpacklo_epi32(pairs, pairs);
    __m128i quotients = _mm_mulhi_epu16(_mm_mulhi_epu16(four_times, divisors), shifts);
    __m128i tens = _mm_slli_epi64(_mm_mullo_epi16(quotients, _mm_set1_epi16(10)), 16);
    __m128i digits = _mm_sub_epi16(quotients, tens);
    return (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(digits, digits));
}
#else
/* Each of three steps splits all parts in two at once.  1 / 100 is nearly 10486 / 2^20; 1 / 10 is nearly
 * 103 / 2^10. */
ASF_INLINE uint64_t asf_eight_digits(uint32_t value) {
    uint64_t parts = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t high = (parts * 10486 >> 20) & 0x0000007f0000007f;
    parts = high | (parts - high * 100) << 16;
    high = (parts * 103 >> 10) & 0x000f000f000f000f;
    return high | (parts - high * 10) << 8;
}
#endif

/* asf_v1_digits_long: asf_digits_uint for values of more than eight digits. */
ASF_EXPORT char *asf_v1_digits_long(char *to, uint64_t value);

/* asf_view_digits: write the digits.  It shifts leading zeros out of eight digits, so that no branch depends
 * on the length. */
ASF_INLINE char *asf_view_digits(char *to, uint64_t value) {
    uint64_t digits;
    unsigned zeros;
    if (__builtin_expect(value >= 100000000, 0))
        return asf_v1_digits_long(to, value);
    digits = asf_eight_digits((uint32_t)value);
    zeros = (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8;
    digits = (digits | 0x3030303030303030) >> 8 * zeros;
    memcpy(to, &digits, sizeof digits);
    return to + 8 - zeros;
}

ASF_EXPORT int asf_v1_put_text(struct asf_cios *stream, const char *text, size_t n);
ASF_EXPORT int asf_v1_u_put_text(struct asf_cios *stream, const char *text, size_t n);

#ifndef ASF_NO_INLINE
ASF_INLINE char *asf_digits_uint(char *to, uint64_t value) {
    return asf_view_digits(to, value);
}

ASF_INLINE char *asf_digits_int(char *to, int64_t value) {
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    *to = '-';
    return asf_view_digits(to + (value < 0), magnitude);
}

/* asf_view_room: return room for n bytes in the write window, after any regions; NULL: there is less, n is
 * 0, or bytes that the caller does not use must not change. */
ASF_INLINE char *asf_view_room(const struct asf_view *v, size_t n) {
    ptrdiff_t room = v->write_end - v->write_ptr;
    int usable = room > 0 && n - 1 < (size_t)room && !(v->flags & ASF_VIEW_KEEPS_BYTES);
    return __builtin_expect(usable, 1) ? v->write_ptr : NULL;
}

/* Defines asf_put_NAME and asf_u_put_NAME.  If the buffer has no room, the digits are written to `spare`,
 * and the out-of-line call copies them. */
#define ASF_PUT_NUMBER(name, type, room)                                                                     \
    ASF_INLINE int asf_u_put_##name(struct asf_cios *stream, type value) {                                   \
        struct asf_view *v = (struct asf_view *)stream;                                                      \
        char spare[room], *to = asf_view_room(v, room);                                                      \
        char *end = asf_digits_##name(to ? to : spare, value);                                               \
        if (__builtin_expect(!to, 0))                                                                        \
            return asf_v1_u_put_text(stream, spare, (size_t)(end - spare));                                  \
        v->write_ptr = end;                                                                                  \
        return 0;                                                                                            \
    }                                                                                                        \
    ASF_INLINE int asf_put_##name(struct asf_cios *stream, type value) {                                     \
        struct asf_view *v = (struct asf_view *)stream;                                                      \
        int entered = asf_view_enter(v);                                                                     \
        char spare[room], *to = entered ? asf_view_room(v, room) : NULL;                                     \
        char *end = asf_digits_##name(to ? to : spare, value);                                               \
        if (__builtin_expect(to != NULL, 1))                                                                 \
            v->write_ptr = end;                                                                              \
        if (__builtin_expect(entered, 1))                                                                    \
            asf_view_leave(v, entered);                                                                      \
        return to ? 0 : asf_v1_put_text(stream, spare, (size_t)(end - spare));                               \
    }

ASF_PUT_NUMBER(int, int64_t, ASF_INTEGER_ROOM)
ASF_PUT_NUMBER(uint, uint64_t, ASF_INTEGER_ROOM)
ASF_PUT_NUMBER(double, double, ASF_DOUBLE_ROOM)

ASF_INLINE int asf_u_put_text(struct asf_cios *stream, const char *text, size_t n) {
    struct asf_view *v = (struct asf_view *)stream;
    char *to = asf_view_room(v, n);
    if (__builtin_expect(!to, 0))
        return asf_v1_u_put_text(stream, text, n);
    memcpy(to, text, n);
    v->write_ptr = to + n;
    return 0;
}

ASF_INLINE int asf_put_text(struct asf_cios *stream, const char *text, size_t n) {
    struct asf_view *v = (struct asf_view *)stream;
    int entered = asf_view_enter(v);
    char *to = entered ? asf_view_room(v, n) : NULL;
    if (__builtin_expect(to != NULL, 1)) {
        memcpy(to, text, n);
        v->write_ptr = to + n;
    }
    if (__builtin_expect(entered, 1))
        asf_view_leave(v, entered);
    return to ? 0 : asf_v1_put_text(stream, text, n);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
