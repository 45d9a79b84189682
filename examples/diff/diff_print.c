/* SPDX-License-Identifier: MIT
 *
 * diff_print.c - prints the script in the normal format, and as commands for ed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

void out_format(const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    must(length < 0 ? NULL : text);
    text_write(text, (size_t)length);
    free(text);
}

void out_line(const struct side *side, const char *prefix, size_t i) {
    const char *line = line_start(side, i), *end = line_start(side, i + 1);
    text_write(prefix, strlen(prefix));
    text_write(line, (size_t)(end - line));
    if (end[-1] != '\n' && options.style == STYLE_ED)
        text_write("\n", 1);
    else if (end[-1] != '\n')
        out_format("\n\\ No newline at end of file\n");
}

/* Returns the escape sequence for a byte in a C string; NULL if it needs none. */
static const char *escape(char c) {
    static const char plain[] = "\a\b\t\n\v\f\r\"\\", letters[] = "abtnvfr\"\\";
    static char escaped[5];
    const char *found = strchr(plain, c);
    if (found)
        snprintf(escaped, sizeof escaped, "\\%c", letters[found - plain]);
    else if ((signed char)c < ' ')
        snprintf(escaped, sizeof escaped, "\\%03o", (unsigned char)c);
    else
        return NULL;
    return escaped;
}

void out_name(const char *name) {
    bool quote = strchr(name, ' ') != NULL;
    for (const char *p = name; *p; p++)
        quote |= escape(*p) != NULL;
    if (quote)
        text_write("\"", 1);
    for (; *name; name++) {
        const char *escaped = escape(*name);
        text_write(escaped ? escaped : name, escaped ? strlen(escaped) : 1);
    }
    if (quote)
        text_write("\"", 1);
}

/* Print a range of lines: "3,5"; "3" for one line; for no lines, the number of the line before. */
static void out_range(const struct change *change, int f) {
    size_t last = change->at[f] + change->lines[f];
    if (change->lines[f] > 1)
        out_format("%zu,%zu", change->at[f] + 1, last);
    else
        out_format("%zu", last);
}

static char command(const struct change *change) {
    return change->lines[0] == 0 ? 'a' : change->lines[1] == 0 ? 'd' : 'c';
}

static void out_lines(const struct side *side, const char *prefix, size_t from, size_t count) {
    for (size_t i = from; i < from + count; i++)
        out_line(side, prefix, i);
}

static void print_normal(const struct side sides[2], const struct change *change) {
    out_range(change, 0);
    out_format("%c", command(change));
    out_range(change, 1);
    out_format("\n");
    out_lines(&sides[0], "< ", change->at[0], change->lines[0]);
    if (command(change) == 'c')
        out_format("---\n");
    out_lines(&sides[1], "> ", change->at[1], change->lines[1]);
}

static bool is_dot(const struct side *side, size_t i) {
    const char *line = line_start(side, i), *end = line_start(side, i + 1);
    return line[0] == '.' && (end - line == 1 || line[1] == '\n');
}

/* A line "." would end ed's input.  Such a line is inserted as "..", and a command then removes one dot. */
static void print_ed(const struct side sides[2], const struct change *change) {
    bool inserting = command(change) != 'd';
    out_range(change, 0);
    out_format("%c\n", command(change));
    for (size_t i = change->at[1]; i < change->at[1] + change->lines[1]; i++) {
        if (!inserting)
            out_format("a\n");
        inserting = !is_dot(&sides[1], i);
        if (inserting)
            out_line(&sides[1], "", i);
        else
            out_format("..\n.\ns/.//\n");
    }
    if (inserting)
        out_format(".\n");
}

/* Print the last change first, so that a change does not alter the line numbers of those that follow. */
static void print_ed_script(const struct side sides[2], const struct script *script) {
    for (size_t i = script->count; i-- > 0;)
        if (!script->changes[i].ignorable)
            print_ed(sides, &script->changes[i]);
}

static void print_normal_script(const struct side sides[2], const struct script *script) {
    for (size_t i = 0; i < script->count; i++)
        if (!script->changes[i].ignorable)
            print_normal(sides, &script->changes[i]);
}

void print_script(const struct side sides[2], const struct script *script) {
    switch (options.style) {
    case STYLE_NORMAL:
        print_normal_script(sides, script);
        break;
    case STYLE_ED:
        print_ed_script(sides, script);
        break;
    case STYLE_UNIFIED:
    case STYLE_CONTEXT:
        print_context_script(sides, script);
        break;
    }
}
