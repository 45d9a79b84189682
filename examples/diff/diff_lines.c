/* SPDX-License-Identifier: MIT
 *
 * diff_lines.c - finds the lines of the two files.  Equal lines at the beginning and at the end are skipped.
 * The other lines get class numbers; equal lines have the same number.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

size_t common_start(const struct text *a, const struct text *b) {
    enum { BLOCK = 64 * 1024, SMALL = 64 };
    size_t n = a->size < b->size ? a->size : b->size, i = 0;
    while (n - i >= BLOCK && memcmp(a->data + i, b->data + i, BLOCK) == 0)
        i += BLOCK;
    while (n - i >= SMALL && memcmp(a->data + i, b->data + i, SMALL) == 0)
        i += SMALL;
    while (i < n && a->data[i] == b->data[i])
        i++;
    return i;
}

/* Returns the number of equal bytes at the end of two texts, at most n. */
static size_t common_end(const char *a_end, const char *b_end, size_t n) {
    enum { BLOCK = 4096, SMALL = 64 };
    size_t i = 0;
    while (n - i >= BLOCK && memcmp(a_end - i - BLOCK, b_end - i - BLOCK, BLOCK) == 0)
        i += BLOCK;
    while (n - i >= SMALL && memcmp(a_end - i - SMALL, b_end - i - SMALL, SMALL) == 0)
        i += SMALL;
    while (i < n && a_end[-1 - (ptrdiff_t)i] == b_end[-1 - (ptrdiff_t)i])
        i++;
    return i;
}

/* Returns the start of a line.
 *   at    an offset in the line, or at its end
 *   back  0; n: return the start of the n-th line before it */
static size_t line_back(const char *data, size_t at, size_t back) {
    for (;;) {
        const char *newline = at > 0 ? memrchr(data, '\n', at) : NULL;
        at = newline ? (size_t)(newline - data) + 1 : 0;
        if (at == 0 || back-- == 0)
            return at;
        at--;
    }
}

/* Returns the start of the line after the line that contains `at`. */
static size_t line_forward(const struct text *text, size_t at) {
    const char *newline = memchr(text->data + at, '\n', text->size - at);
    return newline ? (size_t)(newline - text->data) + 1 : text->size;
}

static bool at_line_start(const struct text *text, size_t at) {
    return at == 0 || text->data[at - 1] == '\n';
}

/* Returns the size without the final newline for the ed style, because ed adds a missing newline. */
static size_t size_that_counts(const struct text *text) {
    return text->size - (options.style == STYLE_ED && text->size > 0 && text->data[text->size - 1] == '\n');
}

/* Find the end of the middle on each side. */
static void middle_ends(const struct text *a, const struct text *b, size_t start, size_t ends[2]) {
    size_t sizes[2] = {size_that_counts(a), size_that_counts(b)};
    size_t least = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    size_t after = common_end(a->data + sizes[0], b->data + sizes[1], least > start ? least - start : 0);
    size_t lines = options.context;
    if (!at_line_start(a, sizes[0] - after) || !at_line_start(b, sizes[1] - after))
        lines++;
    for (; lines > 0 && after > 0; lines--) {
        size_t next = line_forward(a, sizes[0] - after);
        after = next < sizes[0] ? sizes[0] - next : 0;
    }
    ends[0] = after ? sizes[0] - after : a->size;
    ends[1] = after ? sizes[1] - after : b->size;
}

static size_t count_lines(const char *from, const char *end) {
    size_t lines = 0;
    for (; from < end && (from = memchr(from, '\n', (size_t)(end - from))); from++)
        lines++;
    return lines;
}

/* An array of the starts of the stored lines. */
struct starts {
    const char **at;
    size_t count, room;
};

static void add_start(struct starts *starts, const char *start) {
    if (starts->count == starts->room) {
        starts->room = starts->room ? 2 * starts->room : 1024;
        starts->at = must(realloc(starts->at, starts->room * sizeof *starts->at));
    }
    starts->at[starts->count++] = start;
}

/* Add the lines between two offsets, at most `most`.  Returns the offset after the last one added. */
static size_t add_lines(struct starts *starts, const struct text *text, size_t from, size_t end,
                        size_t most) {
    for (; from < end && most > 0; most--) {
        add_start(starts, text->data + from);
        from = line_forward(text, from);
    }
    return from;
}

static void store_lines(struct side *side, size_t start, size_t end) {
    struct starts starts = {0};
    const struct text *text = &side->text;
    add_lines(&starts, text, line_back(text->data, start, options.context), start, SIZE_MAX);
    side->first = count_lines(text->data, text->data + start);
    side->stored = side->first - starts.count;
    add_lines(&starts, text, start, end, SIZE_MAX);
    side->count = side->stored + starts.count - side->first;
    end = add_lines(&starts, text, end, text->size, options.context);
    side->stored_end = side->stored + starts.count;
    add_start(&starts, text->data + end);
    side->starts = starts.at;
}

/* A line without its newline. */
struct line {
    const char *at, *end;
    bool incomplete; /* there is no newline, and the options do not ignore that */
};

static struct line get_line(const struct side *side, size_t i) {
    struct line line = {line_start(side, i), line_start(side, i + 1), false};
    if (line.end[-1] == '\n')
        line.end--;
    else
        line.incomplete = options.space == SPACE_COUNTS && options.style != STYLE_ED;
    return line;
}

/* Returns the line's next character, -1 at its end.  The options may ignore case and white space. */
static int next_character(struct line *line) {
    const char *from = line->at;
    if (options.space != SPACE_COUNTS)
        while (line->at < line->end && isspace((unsigned char)*line->at))
            line->at++;
    if (line->at == line->end)
        return -1;
    if (line->at > from && options.space == SPACE_AMOUNT_IGNORED)
        return ' ';
    int c = (unsigned char)*line->at++;
    return options.ignore_case ? tolower(c) : c;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    __uint128_t product = (__uint128_t)(hash ^ word) * 0x9e3779b97f4a7c15U;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static bool plain_equality(void) {
    return options.space == SPACE_COUNTS && !options.ignore_case;
}

static uint64_t hash_line(struct line line) {
    uint64_t hash = line.incomplete ? 0x2545f4914f6cdd1dU : 0x6a09e667f3bcc909U, word;
    if (!plain_equality()) {
        for (int c; (c = next_character(&line)) >= 0;)
            hash = mix(hash, (uint64_t)c);
        return hash;
    }
    for (; line.end - line.at >= 8; line.at += 8) {
        memcpy(&word, line.at, 8);
        hash = mix(hash, word);
    }
    word = 0x80; /* so that final zero bytes change the hash */
    for (; line.at < line.end; line.at++)
        word = word << 8 | (unsigned char)*line.at;
    return mix(hash, word);
}

static bool equal_lines(struct line a, struct line b) {
    if (a.incomplete != b.incomplete)
        return false;
    if (plain_equality()) {
        size_t length = (size_t)(a.end - a.at);
        return length == (size_t)(b.end - b.at) && memcmp(a.at, b.at, length) == 0;
    }
    int c;
    do {
        c = next_character(&a);
        if (c != next_character(&b))
            return false;
    } while (c >= 0);
    return true;
}

/* The first line of each class.  A hash table finds a line's class. */
struct classes {
    struct class {
        uint64_t hash;
        struct line line;
    } * all;
    uint32_t count;
    uint32_t *slots; /* the class's number + 1; 0: an empty slot */
    size_t mask;
};

static uint32_t class_of(struct classes *classes, struct line line) {
    uint64_t hash = hash_line(line);
    size_t slot = hash & classes->mask;
    for (; classes->slots[slot]; slot = (slot + 1) & classes->mask) {
        uint32_t number = classes->slots[slot] - 1;
        if (classes->all[number].hash == hash && equal_lines(classes->all[number].line, line))
            return number;
    }
    classes->slots[slot] = classes->count + 1;
    classes->all[classes->count] = (struct class){hash, line};
    return classes->count++;
}

static void classify(struct classes *classes, struct side *side) {
    side->classes = must(malloc((side->count + 1) * sizeof *side->classes));
    side->changed = must(calloc(side->count + 2, 1));
    side->changed++;
    for (size_t i = 0; i < side->count; i++)
        side->classes[i] = class_of(classes, get_line(side, side->first + i));
}

/* The middle starts `context` lines before the first line that differs. */
size_t find_lines(struct side sides[2], size_t common) {
    size_t start = line_back(sides[0].text.data, common, options.context);
    size_t ends[2], total = 0, slots = 1024;
    middle_ends(&sides[0].text, &sides[1].text, start, ends);
    for (int f = 0; f < 2; f++) {
        store_lines(&sides[f], start, ends[f]);
        total += sides[f].count;
    }
    while (slots < 2 * total)
        slots *= 2;
    struct classes classes = {.mask = slots - 1};
    classes.all = must(malloc((total + 1) * sizeof *classes.all));
    classes.slots = must(calloc(slots, sizeof *classes.slots));
    for (int f = 0; f < 2; f++)
        classify(&classes, &sides[f]);
    free(classes.all);
    free(classes.slots);
    return classes.count;
}

void free_lines(struct side *side) {
    free(side->starts);
    free(side->classes);
    if (side->changed)
        free(side->changed - 1);
}
