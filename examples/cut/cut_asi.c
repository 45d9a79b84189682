/* SPDX-License-Identifier: MIT
 *
 * cut_asi.c - cut on the Alloc Stream Interface: the delimiters and line ends of a
 * region become bits, and what is cut out goes from the input's own buffer
 * into the output's.
 */
#include <asf/asf.h>
#include <asf/scan.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "examples/common/program.h"
#include "examples/common/whole_lines.h"

/* Region, marks and output stay in the second-level cache. */
enum { REGION = 64 << 10, SHORT = 32 };

/* A region and its marks, a bit for each byte and one for the byte after it:
 * where fields or lines end, and where lines do. */
struct region {
    const char *text;
    size_t length;
    const uint64_t *ends, *line_ends;
    size_t word;   /* the mask of `ends` that is being walked through */
    uint64_t bits; /* what is left of it */
};

struct field {
    uint64_t number;
    size_t start, end;
};

static const struct cut_options *cut;
static struct filter filter = {.failed = cut_failed};

/* Space for two lots of masks. */
static uint64_t *mask_space(size_t masks) {
    static uint64_t *space;
    static size_t room;
    if (masks > room) {
        free(space);
        space = malloc(2 * masks * sizeof *space);
        if (!space)
            error(EXIT_FAILURE, errno, "memory exhausted");
        room = masks;
    }
    return space;
}

/* A last line without a line end is given one, behind the region; so is the
 * one record that a file is. */
static struct region mark_region(const char *text, size_t n) {
    size_t masks = n / 64 + 1;
    uint64_t *ends = mask_space(masks), *line_ends = ends + masks;
    bool one_record = cut_one_record(cut), complete = text[n - 1] == cut->line_end;
    ends[n / 64] = line_ends[n / 64] = 0;
    asf_scan_masks(text, n, cut->fields ? cut->delimiter : cut->line_end, cut->line_end, ends, line_ends);
    if (one_record)
        memset(line_ends, 0, masks * sizeof *line_ends);
    if (one_record || !complete)
        line_ends[(n - complete) / 64] |= (uint64_t)1 << (n - complete) % 64;
    for (size_t i = 0; i < masks; i++)
        ends[i] |= line_ends[i];
    return (struct region){text, n, ends, line_ends, 0, ends[0]};
}

/* The place of the next mark. */
static inline size_t next_end(struct region *r) {
    while (r->bits == 0)
        r->bits = r->ends[++r->word];
    size_t bit = (size_t)__builtin_ctzll(r->bits);
    r->bits &= r->bits - 1;
    return r->word * 64 + bit;
}

static inline bool ends_line(const struct region *r, size_t mark) {
    return r->line_ends[mark / 64] >> mark % 64 & 1;
}

/* The place of the first line end from a mark on; marks before it are passed. */
static inline size_t line_end(struct region *r, size_t mark) {
    r->word = mark / 64;
    uint64_t bits = r->line_ends[r->word] & ~(uint64_t)0 << mark % 64;
    while (bits == 0)
        bits = r->line_ends[++r->word];
    r->bits = r->ends[r->word] & ~(bits ^ (bits - 1));
    return r->word * 64 + (size_t)__builtin_ctzll(bits);
}

static inline bool next_field(struct region *r, struct field *field) {
    if (ends_line(r, field->end))
        return false;
    field->number++;
    field->start = field->end + 1;
    field->end = next_end(r);
    return true;
}

/* Most pieces are short: as many bytes as fit two registers are copied without
 * looking at their number, where the region has them. */
static inline char *put(char *to, const struct region *r, size_t from, size_t end) {
    size_t n = end - from;
    if (n <= SHORT && r->length - from >= SHORT)
        memcpy(to, r->text + from, SHORT);
    else
        memcpy(to, r->text + from, n);
    return to + n;
}

static char *put_output_delimiter(char *to) {
    memcpy(to, cut->output_delimiter, cut->output_delimiter_length);
    return to + cut->output_delimiter_length;
}

/* The fields of a line, from its first one on; fields that stand together are
 * copied together when the delimiter is to stay as it is. */
static inline char *put_fields(char *to, struct region *r, struct field *field, bool together) {
    const struct cut_range *range = cut->ranges;
    bool printed = false;
    do {
        range += field->number > range->high;
        while (field->number < range->low)
            if (range->low == UINT64_MAX || !next_field(r, field))
                return to;
        size_t from = field->start;
        if (together && range->high == UINT64_MAX)
            field->end = line_end(r, field->end);
        while (together && field->number < range->high && next_field(r, field))
            continue;
        if (printed)
            to = put_output_delimiter(to);
        to = put(to, r, from, field->end);
        printed = true;
    } while (next_field(r, field));
    return to;
}

static char *cut_fields(char *to, struct region *r) {
    bool together = cut->output_delimiter_length == 1 && *cut->output_delimiter == cut->delimiter;
    bool bare_record_counts = cut_has_fields(cut, r->text[r->length - 1] == cut->line_end);
    for (size_t start = 0; start < r->length;) {
        struct field field = {1, start, next_end(r)};
        size_t end = field.end;
        if (!ends_line(r, end) || bare_record_counts) {
            to = put_fields(to, r, &field, together);
            end = line_end(r, field.end);
            *to++ = cut->line_end;
        } else if (!cut->only_delimited) {
            to = put(to, r, start, end);
            *to++ = cut->line_end;
        }
        start = cut_one_record(cut) ? r->length : end + 1;
    }
    return to;
}

static char *cut_bytes(char *to, struct region *r) {
    for (size_t start = 0; start < r->length;) {
        size_t end = next_end(r), length = end - start;
        for (const struct cut_range *range = cut->ranges; range->low <= length; range++) {
            if (range > cut->ranges && cut->output_delimiter)
                to = put_output_delimiter(to);
            to = put(to, r, start + range->low - 1, range->high < length ? start + range->high : end);
        }
        *to++ = cut->line_end;
        start = end + 1;
    }
    return to;
}

/* The most that can come of n bytes: an output delimiter for each of them, a
 * line end, and what `put` writes beyond. */
static size_t bound(size_t n) {
    size_t growth = !cut->output_delimiter ? 1 : cut->output_delimiter_length + !cut->fields;
    return n * growth + 1 + SHORT;
}

static void cut_region(const char *text, size_t n) {
    struct region r = mark_region(text, n);
    char *to = output_region(filter.out, bound(n));
    output_done(filter.out, to, (size_t)((cut->fields ? cut_fields(to, &r) : cut_bytes(to, &r)) - to));
}

/* All that is left of a file, as one region. */
static char *input_rest(struct input *in, ssize_t *length) {
    for (ssize_t want = *length;; want *= 2) {
        *length = want;
        char *rest = asf_salloc(in->stream, length);
        if (!rest || *length < want)
            return rest;
        *length = 0;
        rest = asf_srealloc(in->stream, rest, length);
        asf_sfree(in->stream, rest);
    }
}

static int cut_rest(struct input *in) {
    ssize_t length = REGION;
    char *rest = input_rest(in, &length);
    if (!rest)
        return (int)length;
    cut_region(rest, (size_t)length);
    return asf_sfree(in->stream, rest);
}

/* returns  0 at the end of the file, or a negated errno value. */
static int cut_lines(struct input *in) {
    ssize_t length = REGION;
    for (char *lines; (lines = input_lines(in, &length, cut->line_end)); length = REGION) {
        cut_region(lines, (size_t)length);
        int error = input_done(in);
        if (error)
            return error;
        if (in->waits)
            output_flush(filter.out);
    }
    return (int)length;
}

static int cut_input(struct input *in, const char *name) {
    (void)name;
    return cut_one_record(cut) ? cut_rest(in) : cut_lines(in);
}

void cut_file(const char *name, const struct cut_options *options) {
    cut = options;
    filter.work = cut_input;
    filter_file(&filter, name);
}

void cut_end(void) {
    if (filter.out)
        output_close(filter.out);
}
