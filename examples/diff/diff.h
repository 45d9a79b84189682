/* SPDX-License-Identifier: MIT
 *
 * diff.h - what the parts of diff share: the options, and the two sides of a
 * comparison on their way from bytes to a script of changes.
 *
 *   diff.c          options
 *   diff_files.c    which files are compared with which
 *   diff_texts.c    two files
 *   diff_lines.c    a side's lines, and which of them are equal
 *   diff_search.c   the shortest way from one side to the other
 *   diff_script.c   from there to the script: what is not searched, shifting
 *   diff_print.c    the script in the formats normal and ed
 *   diff_context.c  and in those with context
 *   text.h          the I/O, which diff_plain.c and diff_asi.c do
 */
#ifndef ASF_EXAMPLES_DIFF_H
#define ASF_EXAMPLES_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "text.h"

enum { EXIT_SAME = 0, EXIT_DIFFERENT = 1, EXIT_TROUBLE = 2 };

enum diff_style { STYLE_NORMAL, STYLE_UNIFIED, STYLE_CONTEXT, STYLE_ED };

enum diff_space { SPACE_COUNTS, SPACE_AMOUNT_IGNORED, SPACE_IGNORED };

struct diff_options {
    enum diff_style style;
    enum diff_space space;
    size_t context; /* lines of it around a change; 0 in styles without */
    bool brief, report_identical, recursive, new_file, text, minimal;
    bool ignore_case, ignore_blank_lines;
    const char *labels[2];
    const char *command_line; /* the options, for the headers of -r */
};

extern struct diff_options options;

/* One file of a comparison.  Lines are numbered from 0 through the whole
 * file, but only those from `stored` to `stored_end` are known: the middle,
 * outside of which the files are equal, and the context around it. */
struct side {
    const char *name;   /* as given, or put together from a directory */
    const char *label;  /* what the headers call it */
    bool absent;        /* taken as an empty file (-N) */
    struct stat status; /* of the file */
    struct text text;
    size_t stored, stored_end;
    size_t first, count;    /* the middle */
    const char **starts;    /* of the stored lines, and the end of the last */
    uint32_t *classes;      /* of the middle's lines: equal lines, equal numbers */
    unsigned char *changed; /* of the middle's lines; changed[-1] and changed[count] are 0 */
};

/* A pair of files, and the pair of directories it was found in; NULL for the operands. */
struct pair {
    struct side sides[2];
    const struct pair *parent;
};

/* A place where the sides differ: `lines[0]` lines from `at[0]` on of the one
 * are replaced by `lines[1]` from `at[1]` on of the other. */
struct change {
    size_t at[2], lines[2];
    bool ignorable; /* blank lines only, with -B */
};

struct script {
    struct change *changes;
    size_t count;
};

/* common_start: how many bytes two texts have in common at their start. */
size_t common_start(const struct text *a, const struct text *b);

/* find_lines: fill in a pair of sides from the texts, up to the classes.
 *   common  what common_start says
 * returns  how many classes there are. */
size_t find_lines(struct side sides[2], size_t common);
void free_lines(struct side *side);

/* Line `i`, with its newline, from line_start(i) to line_start(i + 1). */
static inline const char *line_start(const struct side *side, size_t i) {
    return side->starts[i - side->stored];
}

/* search: mark in `changed` the lines that a shortest script deletes from `a`
 * or inserts from `b`.  The sequences hold classes, `places` their indices in
 * `changed`. */
struct sequence {
    const uint32_t *classes;
    const size_t *places;
    size_t count;
    unsigned char *changed;
};
void search(const struct sequence *a, const struct sequence *b);

/* make_script: compare the classes of both sides. */
struct script make_script(struct side sides[2], size_t class_count);

/* print_script: print it in the style that is asked for. */
void print_script(const struct side sides[2], const struct script *script);
void print_context_script(const struct side sides[2], const struct script *script);

/* What the print functions stand on. */
__attribute__((format(printf, 1, 2))) void out_format(const char *format, ...);
void out_line(const struct side *side, const char *prefix, size_t i);
void out_name(const char *name); /* in the quotes of C where need be */

/* compare: compare two operands.
 * returns  EXIT_SAME and so on. */
int compare(const char *name0, const char *name1);

/* compare_files: compare two files that are no directories. */
int compare_files(struct pair *pair);

/* Messages; the functions return the exit status. */
int report_identity(const struct side sides[2]);
int trouble(const char *name, int error_number);
const char *shown(const struct side *side);

/* worse: the exit status of two comparisons together. */
int worse(int a, int b);

/* must: `memory`, or the end of the program when it is NULL. */
void *must(void *memory);

#endif
