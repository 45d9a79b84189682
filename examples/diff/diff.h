/* SPDX-License-Identifier: MIT
 *
 * diff.h - shared by the parts of diff: the options, and the data of a comparison, from the files' bytes to
 * the script of changes.
 *
 *   diff.c          options
 *   diff_files.c    finds the pairs of files to compare
 *   diff_texts.c    compares two files
 *   diff_lines.c    finds the lines of a side, and which lines are equal
 *   diff_search.c   finds the shortest script from one side to the other
 *   diff_script.c   chooses the lines to search, and makes the script from the result
 *   diff_print.c    prints the script in the normal format, and for ed
 *   diff_context.c  prints the script in the formats with context
 *   text.h          the input and output, by diff_plain.c or diff_asi.c
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
    size_t context; /* lines of context around a change; 0 in styles without context */
    bool brief, report_identical, recursive, new_file, text, minimal;
    bool ignore_case, ignore_blank_lines;
    const char *labels[2];
    const char *command_line; /* the options as text, for the headers of -r */
};

extern struct diff_options options;

/* One file of a comparison.  Before and after the "middle" the two files are equal.  Lines are numbered from
 * 0, from the file's beginning.  Only lines `stored` to before `stored_end` are stored: the middle and the
 * context around it. */
struct side {
    const char *name;   /* the operand, or a path in the operand's directory */
    const char *label;  /* the name in headers, if given by an option */
    bool absent;        /* there is no file; an empty one is assumed (-N) */
    struct stat status; /* the file's */
    struct text text;
    size_t stored, stored_end;
    size_t first, count;    /* the middle: its first line, and its number of lines */
    const char **starts;    /* the start of each stored line, then the end of the last */
    uint32_t *classes;      /* a number for each line of the middle; equal lines have the same number */
    unsigned char *changed; /* 1 for each changed line of the middle; changed[-1] and changed[count] are 0 */
};

/* A pair of files.  `parent` is the pair of directories that contain them; NULL if they are operands. */
struct pair {
    struct side sides[2];
    const struct pair *parent;
};

/* A difference: lines[0] lines of side 0 from line at[0] on are replaced by lines[1] lines of side 1 from
 * line at[1] on. */
struct change {
    size_t at[2], lines[2];
    bool ignorable; /* with -B: all its lines are blank */
};

struct script {
    struct change *changes;
    size_t count;
};

/* common_start: returns the number of equal bytes at the start of two texts. */
size_t common_start(const struct text *a, const struct text *b);

/* find_lines: find the middle of both sides, store its lines, and number its classes of equal lines.
 *   common  the result of common_start
 * returns  the number of classes. */
size_t find_lines(struct side sides[2], size_t common);
void free_lines(struct side *side);

/* Line `i`, with its newline, from line_start(i) to line_start(i + 1). */
static inline const char *line_start(const struct side *side, size_t i) {
    return side->starts[i - side->stored];
}

/* search: mark in `changed` the lines that a shortest script deletes from `a` or inserts from `b`.  A
 * sequence has the lines' classes, and in `places` their indices in `changed`. */
struct sequence {
    const uint32_t *classes;
    const size_t *places;
    size_t count;
    unsigned char *changed;
};
void search(const struct sequence *a, const struct sequence *b);

/* make_script: make the script from the classes of both sides. */
struct script make_script(struct side sides[2], size_t class_count);

/* print_script: print the script in the style of the options. */
void print_script(const struct side sides[2], const struct script *script);
void print_context_script(const struct side sides[2], const struct script *script);

/* Output functions for the functions that print. */
__attribute__((format(printf, 1, 2))) void out_format(const char *format, ...);
void out_line(const struct side *side, const char *prefix, size_t i);
void out_name(const char *name); /* quoted as a C string if it has special characters */

/* compare: compare two operands.
 * returns  EXIT_SAME, EXIT_DIFFERENT or EXIT_TROUBLE. */
int compare(const char *name0, const char *name1);

/* compare_files: compare two files, neither of which is a directory. */
int compare_files(struct pair *pair);

/* Messages; the functions return the exit status. */
int report_identity(const struct side sides[2]);
int trouble(const char *name, int error_number);
const char *shown(const struct side *side);

/* worse: returns the exit status for two comparisons: the greater one. */
int worse(int a, int b);

/* must: returns `memory`; if it is NULL, ends the program with a message. */
void *must(void *memory);

#endif
