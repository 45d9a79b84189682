/* SPDX-License-Identifier: MIT
 *
 * cut_asi.c - cut on the Alloc Stream Interface.  A kernel of <asf/scan.h> finds the delimiters and line ends
 * of a region as bit masks.  The selected bytes are copied from the input's buffer to the output's buffer.
 */
#include <asf/asf.h>
#include <asf/numbers.h>
#include <asf/parts.h>
#include <asf/scan.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "examples/common/program.h"
#include "examples/common/whole_lines.h"

/* Sizes with which a region, its marks and its output fit in the second-level cache. */
enum { REGION = 64 << 10, PART = 1 << 20, SHORT = 32 };

/* A region and two bit masks, each with a bit for each byte and one more.  `ends` has the ends of fields and
 * lines, `line_ends` the ends of lines only. */
struct region {
    const char *text;
    size_t length;
    const uint64_t *ends, *line_ends;
    size_t word;   /* the index of the current word of `ends` */
    uint64_t bits; /* the bits of that word that next_end has not yet returned */
};

struct field {
    uint64_t number;
    size_t start, end;
};

static const struct cut_options *cut;
static struct filter filter = {.failed = cut_failed};

/* A buffer that at_least enlarges. */
struct space {
    void *bytes;
    size_t size;
};

static void *at_least(struct space *space, size_t size) {
    if (size > space->size) {
        space->size = size > 2 * space->size ? size : 2 * space->size;
        space->bytes = realloc(space->bytes, space->size);
        if (!space->bytes)
            error(EXIT_FAILURE, errno, "memory exhausted");
    }
    return space->bytes;
}

/* Mark the ends of fields and lines.  If the last line, or the one record, has no line end, the byte after
 * the region is marked. */
static struct region mark_region(struct space *space, const char *text, size_t n) {
    size_t masks = n / 64 + 1;
    uint64_t *ends = at_least(space, 2 * masks * sizeof *ends), *line_ends = ends + masks;
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

/* Returns the offset of the next mark in `ends`. */
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

/* Returns the offset of the first line end at `mark` or after it.  Marks up to there are skipped. */
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

/* Copy bytes to the output.  Most copies are short: those are always SHORT bytes long, two vector registers,
 * if the region has that many bytes. */
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

/* Copy the selected fields of a line.
 *   together  the output delimiter is the input's: adjacent fields are copied in one call */
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

/* Returns the most bytes that cutting n bytes writes: an output delimiter for each byte, a line end, and
 * `put`'s excess of SHORT bytes. */
static size_t bound(size_t n) {
    size_t growth = !cut->output_delimiter ? 1 : cut->output_delimiter_length + !cut->fields;
    return n * growth + 1 + SHORT;
}

/* Cut whole lines into `to`.  returns  the end of the output. */
static char *cut_to(char *to, struct space *marks, const char *text, size_t n) {
    struct region r = mark_region(marks, text, n);
    return cut->fields ? cut_fields(to, &r) : cut_bytes(to, &r);
}

static void cut_region(const char *text, size_t n) {
    static struct space marks;
    char *to = output_region(filter.out, bound(n));
    output_done(filter.out, to, (size_t)(cut_to(to, &marks, text, n) - to));
}

/* Allocate the rest of a file as one region. */
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

/* Cut the lines of a file in order.  returns  0 at the end of the file, or a negated errno value. */
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

/* The output of one part.  It is kept until the output of all earlier parts has been written. */
struct result {
    struct result *next;
    int64_t index; /* the part's index, IDLE or IN_USE */
    struct space marks, text;
    size_t used; /* bytes used in `text` */
};
enum { IDLE = -1, IN_USE = -2 };

struct results {
    pthread_mutex_t lock; /* protects the list */
    struct result *first;
    int failed; /* a negated errno value, if a write failed */
};

/* Mark a result with this index as in use, and return it.  If there is none, add a new one. */
static struct result *take_result(struct results *all, int64_t index) {
    pthread_mutex_lock(&all->lock);
    struct result *r = all->first;
    while (r && r->index != index)
        r = r->next;
    if (!r && (r = calloc(1, sizeof *r))) {
        r->next = all->first;
        all->first = r;
    }
    if (!r)
        error(EXIT_FAILURE, errno, "memory exhausted");
    r->index = IN_USE;
    pthread_mutex_unlock(&all->lock);
    return r;
}

static void give_result(struct results *all, struct result *r, int64_t index) {
    pthread_mutex_lock(&all->lock);
    r->index = index;
    pthread_mutex_unlock(&all->lock);
}

static int cut_part(struct asf_cios *stream, const struct asf_part *part, void *all) {
    struct result *r = take_result(all, IDLE);
    struct input in = {.stream = stream};
    ssize_t length = REGION;
    int error = 0;
    r->used = 0;
    for (char *lines; !error && (lines = input_lines(&in, &length, cut->line_end)); length = REGION) {
        char *text = at_least(&r->text, r->used + bound((size_t)length));
        r->used = (size_t)(cut_to(text + r->used, &r->marks, lines, (size_t)length) - text);
        error = input_done(&in);
    }
    give_result(all, r, part->index);
    return error ? error : (int)length;
}

/* Write the output of a part.  asf_each_part calls this for the parts in order. */
static int write_part(const struct asf_part *part, void *of) {
    struct results *all = of;
    struct result *r = take_result(all, part->index);
    all->failed = asf_put_text(filter.out, r->text.bytes, r->used);
    give_result(all, r, IDLE);
    return all->failed;
}

static int cut_parts(const char *name) {
    const struct asf_cut how = {.delimiter = cut->line_end, .size = PART};
    struct results all = {.lock = PTHREAD_MUTEX_INITIALIZER};
    int error = asf_each_part(name, &how, (unsigned)cut->threads, cut_part, write_part, &all);
    if (all.failed)
        output_failed(all.failed);
    for (struct result *r; (r = all.first); free(r)) {
        all.first = r->next;
        free(r->marks.bytes);
        free(r->text.bytes);
    }
    return error;
}

/* A file is divided into parts unless it is standard input, which is read from its current offset, or a file
 * that is not regular. */
static int cut_input(struct input *in, const char *name) {
    if (cut_one_record(cut))
        return cut_rest(in);
    return cut->threads >= 0 && !in->waits && !is_stdin(name) ? cut_parts(name) : cut_lines(in);
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
