/* SPDX-License-Identifier: MIT
 *
 * columns.c - columns of numbers of a table.  The kernels of <asf/lines.h> find lines and fields, and the
 * numbers are read in place.
 */
#define _GNU_SOURCE
#include <asf/lines.h>
#include <asf/numbers.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "backplane/window.h"
#include "lib/sys/export.h"
#include "lib/sys/lock.h"
#include "lib/sys/machine.h"
#include "lib/text/decimal.h"
#include "lib/text/scan_number.h"

/* A field, and the bytes around it that may be read. */
struct field {
    const unsigned char *p, *begin, *end;
    size_t n;
};

/* --- one value ----------------------------------------------------------------------------- */

/* Returns the field without the blanks around it. */
static struct field trimmed(struct field f) {
    for (; f.n > 0 && asf__is_blank(*f.p); f.n--)
        f.p++;
    while (f.n > 0 && asf__is_blank(f.p[f.n - 1]))
        f.n--;
    return f;
}

static void put_integer(int64_t value, enum asf_column_type type, void *to) {
    if (type == ASF_INT32)
        *(int32_t *)to = (int32_t)value;
    else
        *(int64_t *)to = value;
}

static int store_integer(const struct asf_decimal *number, enum asf_column_type type, void *to) {
    const uint64_t most = (type == ASF_INT32 ? (uint64_t)INT32_MAX : INT64_MAX) + number->negative;
    if (number->more || number->digits > most)
        return -ERANGE;
    put_integer((int64_t)(number->negative ? -number->digits : number->digits), type, to);
    return 0;
}

/* Whether all bytes after the sign are digits: an integer of that form can be refused only because it is
 * too large. */
static bool is_integer(const struct field *f) {
    size_t i = f->n > 0 && (f->p[0] == '-' || f->p[0] == '+');
    const size_t first = i;
    while (i < f->n && f->p[i] >= '0' && f->p[i] <= '9')
        i++;
    return i == f->n && i > first;
}

/* Stores an integer in any form: with blanks around it, a plus sign, or many digits. */
static __attribute__((noinline)) int store_any_integer(struct field f, enum asf_column_type type, void *to) {
    struct asf_decimal number;
    f = trimmed(f);
    if (!is_integer(&f))
        return -EBADMSG;
    return asf__scan_field(f.p, f.n, f.p, f.p + f.n, &number) ? store_integer(&number, type, to) : -ERANGE;
}

/* Stores a double in any form: with blanks around it, empty, "inf", hexadecimal, or with digits for which
 * 128 bits are not enough.  strtod needs a null after the field, so it gets a copy. */
static __attribute__((noinline)) int store_any_double(struct field f, double *to) {
    char small[512];
    f = trimmed(f);
    *to = NAN;
    if (f.n == 0)
        return 0;
    if (memchr(f.p, '\0', f.n))
        return -EBADMSG;
    char *word = f.n < sizeof small ? small : malloc(f.n + 1);
    if (!word)
        return -ENOMEM;
    memcpy(word, f.p, f.n);
    word[f.n] = '\0';
    int rc = asf__get_double(word, f.n, to);
    if (word != small)
        free(word);
    return rc == -ERANGE ? 0 : rc; /* too large: the value is infinite */
}

/* --- rows ------------------------------------------------------------------------------------- */

static int store_field(const struct field *f, const struct asf_column *column, size_t row, bool to_nearest) {
    struct asf_decimal number;
    if (column->type == ASF_DOUBLE) {
        double *to = (double *)column->values + row;
        bool stored = f->n > 0 && to_nearest && asf__scan_double_field(f->p, f->n, f->begin, f->end, to);
        return stored ? 0 : store_any_double(*f, to);
    }
    void *to = (char *)column->values + row * (column->type == ASF_INT32 ? sizeof(int32_t) : sizeof(int64_t));
    int64_t value;
    if (f->n > 0 && asf__scan_short_integer(f->p, f->n, f->end, &value)) {
        put_integer(value, column->type, to);
        return 0;
    }
    bool usual = f->n > 0 && asf__scan_field(f->p, f->n, f->begin, f->end, &number);
    if (usual && is_integer(f))
        return store_integer(&number, column->type, to);
    return store_any_integer(*f, column->type, to);
}

/* The arguments of asf_get_columns that stay the same for all rows. */
struct table {
    const struct asf_column *columns;
    size_t count;
    int separator;
    bool to_nearest; /* the rounding mode is to nearest */
};

/* Stores a line's fields.
 *   begin, end  the bounds of the region that contains the line */
static int store_row(const struct table *t, const char *line, ssize_t length, const char *begin,
                     const char *end, size_t row) {
    struct asf_fields fields;
    size_t at = 0;
    ssize_t n;
    asf_fields_begin(&fields, line, length, t->separator);
    for (size_t i = 0; i < t->count; i++) {
        const char *p;
        do
            p = asf_fields_next(&fields, &n);
        while (p && at++ < t->columns[i].field);
        if (!p)
            return -EBADMSG;
        const struct field field = {.p = (const unsigned char *)p,
                                    .begin = (const unsigned char *)begin,
                                    .end = (const unsigned char *)end,
                                    .n = (size_t)n};
        int rc = store_field(&field, &t->columns[i], row, t->to_nearest);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Whether the fields increase and the types are known. */
static bool are_valid(const struct asf_column *columns, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct asf_column *c = &columns[i];
        if (c->type != ASF_INT32 && c->type != ASF_INT64 && c->type != ASF_DOUBLE)
            return false;
        if (i > 0 && c->field <= columns[i - 1].field)
            return false;
    }
    return count > 0;
}

/* Tries to make the latest region one byte longer.  It tries twice, since an error that cuts an allocation
 * short is returned only by the next one.
 * returns  the bytes of the region; or an error, and the region is unchanged. */
static ssize_t lengthen(struct asf_cios *stream, char **region, ssize_t length) {
    ssize_t n = length;
    for (int i = 0; i < 2 && n == length; i++) {
        n = length + 1;
        char *longer = asf_srealloc(stream, *region, &n);
        *region = longer ? longer : *region;
    }
    return n;
}

/* Stores the next line, of `length` bytes without a newline, if the file ends there.  After a signal, or on
 * a non-blocking descriptor, the rest of the line may come later: its last number may be incomplete.
 * returns  1: the line was stored; 0: more of the line has come; an error.  Nothing is consumed unless
 * `*row` counts the line. */
static int store_last_row(struct asf_cios *stream, const struct table *t, ssize_t length, int64_t *row) {
    ssize_t n = length, none = 0;
    char *region = asf_salloc(stream, &n);
    if (!region)
        return (int)n;
    n = n < length ? n : lengthen(stream, &region, n);
    int rc = n < 0 ? (int)n : n != length ? 0 : store_row(t, region, n, region, region + n, (size_t)*row);
    if (n == length && rc == 0) {
        ++*row;
        rc = asf_sfree(stream, region);
        return rc < 0 ? rc : 1;
    }
    void *empty = asf_srealloc(stream, region, &none); /* returns the bytes to the stream, to be read again */
    asf_sabandon(stream, empty ? empty : region);
    return rc;
}

/* Stores the rows of lines that end with a newline until there are `rows`; `*row` counts them.
 * returns  0: all are stored, or the file ends; an error; 1: the next line, of `*length` bytes, has no
 *          newline.  The iteration continues at the line that was not stored. */
static int scan_lines(struct asf_lines *lines, const struct table *t, int64_t *row, int64_t rows,
                      ssize_t *length) {
    for (; *row < rows; ++*row) {
        const char *line = asf_lines_next(lines, length);
        if (!line)
            return (int)*length;
        int rc = 1;
        if (asf_lines_delimited(lines))
            rc = store_row(t, line, *length, lines->region, lines->end, (size_t)*row);
        if (rc != 0) {
            lines->line = line;
            return rc;
        }
    }
    return 0;
}

/* Returns `row`, the number of rows stored; or `error` if that is 0.  An error after some rows is kept
 * for the next call, except two kinds.  Errors in the next line are found again by that call, and after
 * -EINTR and -EAGAIN that call must try again. */
static int64_t rows_or_error(struct asf_cios *stream, int64_t row, int error) {
    if (row == 0)
        return error;
    bool of_line = error == -EBADMSG || error == -ERANGE || error == -EMSGSIZE;
    if (error < 0 && !of_line && error != -EINTR && error != -EAGAIN) {
        asf__begin_call(stream);
        stream->failed = error;
        asf__end_call(stream);
    }
    return row;
}

int64_t asf_get_columns(struct asf_cios *stream, int separator, const struct asf_column *columns,
                        size_t count, int64_t rows) {
    const struct table t = {columns, count, separator, asf__rounds_to_nearest()};
    int64_t row = 0;
    if (!are_valid(columns, count) || rows < 0)
        return -EINVAL;
    for (;;) {
        struct asf_lines lines;
        ssize_t length;
        asf_lines_begin(&lines, stream, '\n', 0);
        int got = scan_lines(&lines, &t, &row, rows, &length);
        int rc = asf_lines_end(&lines);
        if (rc < 0 || got <= 0)
            return rows_or_error(stream, row, rc < 0 ? rc : got);
        got = store_last_row(stream, &t, length, &row);
        if (got != 0)
            return rows_or_error(stream, row, got < 0 ? got : 0);
    }
}

int64_t asf_scan_columns(struct asf_cios *stream, int separator, const struct asf_column *columns,
                         size_t count, int64_t rows) ALIAS(asf_get_columns);
