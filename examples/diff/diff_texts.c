/* SPDX-License-Identifier: MIT
 *
 * diff_texts.c - compares a pair of files: whether they are text, whether they differ; and prints the result.
 */
#include <ctype.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff.h"
#include "examples/common/program.h"

int trouble(const char *name, int error_number) {
    text_flush();
    error(0, error_number, "%s", name);
    return EXIT_TROUBLE;
}

void *must(void *memory) {
    if (!memory) {
        text_flush();
        error(EXIT_TROUBLE, 0, "memory exhausted");
    }
    return memory;
}

int worse(int a, int b) {
    return a > b ? a : b;
}

const char *shown(const struct side *side) {
    return side->label ? side->label : side->name;
}

int report_identity(const struct side sides[2]) {
    if (options.report_identical)
        out_format("Files %s and %s are identical\n", shown(&sides[0]), shown(&sides[1]));
    return EXIT_SAME;
}

/* As GNU diff does, take a file with a null byte in its first block for binary. */
static bool is_binary(const struct side *side) {
    size_t block = (size_t)side->status.st_blksize, size = side->text.size;
    return memchr(side->text.data, '\0', size < block ? size : block) != NULL;
}

static bool ignoring(void) {
    return options.ignore_case || options.ignore_blank_lines || options.space != SPACE_COUNTS;
}

/* Returns whether a line is blank for -B: empty, or only white space if the options ignore white space. */
static bool is_blank(const struct side *side, size_t i) {
    const char *at = line_start(side, i), *end = line_start(side, i + 1);
    if (end[-1] == '\n')
        end--;
    while (options.space != SPACE_COUNTS && at < end && isspace((unsigned char)*at))
        at++;
    return at == end;
}

static bool is_ignorable(const struct side sides[2], const struct change *change) {
    for (int f = 0; f < 2; f++)
        for (size_t i = 0; i < change->lines[f]; i++)
            if (!is_blank(&sides[f], change->at[f] + i))
                return false;
    return true;
}

/* Mark the ignorable changes.  Returns the number of the others. */
static size_t count_changes(const struct side sides[2], struct script *script) {
    size_t count = 0;
    for (size_t i = 0; i < script->count; i++) {
        struct change *change = &script->changes[i];
        change->ignorable = options.ignore_blank_lines && is_ignorable(sides, change);
        count += !change->ignorable;
    }
    return count;
}

/* For a pair in directories, print the diff command that would compare the pair. */
static void print_command(const struct pair *pair) {
    if (!pair->parent)
        return;
    out_format("diff%s ", options.command_line);
    out_name(shown(&pair->sides[0]));
    out_format(" ");
    out_name(shown(&pair->sides[1]));
    out_format("\n");
}

static int report_difference(const struct side sides[2], const char *what) {
    out_format("%s %s and %s differ\n", what, shown(&sides[0]), shown(&sides[1]));
    return EXIT_DIFFERENT;
}

/* An ed script cannot remove a final newline: report each file without one. */
static int check_last_newlines(const struct side sides[2]) {
    int status = EXIT_SAME;
    for (int f = 0; f < 2 && options.style == STYLE_ED; f++) {
        const struct text *text = &sides[f].text;
        if (text->size > 0 && text->data[text->size - 1] != '\n') {
            text_flush();
            error(0, 0, "%s: No newline at end of file\n", sides[f].name);
            status = EXIT_TROUBLE;
        }
    }
    return status;
}

static int compare_lines(struct pair *pair, size_t common) {
    struct side *sides = pair->sides;
    size_t class_count = find_lines(sides, common);
    struct script script = make_script(sides, class_count);
    int status = EXIT_SAME;
    if (count_changes(sides, &script) == 0) {
        report_identity(sides);
    } else if (options.brief) {
        status = report_difference(sides, "Files");
    } else {
        print_command(pair);
        print_script(sides, &script);
        status = EXIT_DIFFERENT;
    }
    free(script.changes);
    return worse(status, options.brief ? EXIT_SAME : check_last_newlines(sides));
}

static int compare_texts(struct pair *pair) {
    struct side *sides = pair->sides;
    size_t common = common_start(&sides[0].text, &sides[1].text);
    bool binary = !options.text && (is_binary(&sides[0]) || is_binary(&sides[1]));
    if (common == sides[0].text.size && common == sides[1].text.size)
        return worse(report_identity(sides),
                     binary || options.brief ? EXIT_SAME : check_last_newlines(sides));
    if (options.brief && (binary || !ignoring()))
        return report_difference(sides, "Files");
    if (binary)
        return report_difference(sides, "Binary files");
    return compare_lines(pair, common);
}

/* Open and read one side.  returns  EXIT_SAME or EXIT_TROUBLE. */
static int read_side(struct side *side) {
    side->text = (struct text){.data = ""};
    if (side->absent)
        return EXIT_SAME;
    int fd = is_stdin(side->name) ? STDIN_FILENO : open(side->name, O_RDONLY | O_CLOEXEC);
    size_t size = S_ISREG(side->status.st_mode) ? (size_t)side->status.st_size : 0;
    int error_number = fd < 0 ? errno : text_read(&side->text, fd, size);
    return error_number ? trouble(side->name, error_number) : EXIT_SAME;
}

int compare_files(struct pair *pair) {
    struct side *sides = pair->sides;
    bool regular = S_ISREG(sides[0].status.st_mode) && S_ISREG(sides[1].status.st_mode);
    if (options.brief && !ignoring() && regular && sides[0].status.st_size != sides[1].status.st_size &&
        !is_stdin(sides[0].name) && !is_stdin(sides[1].name))
        return report_difference(sides, "Files");
    int status = worse(read_side(&sides[0]), read_side(&sides[1]));
    if (status == EXIT_SAME)
        status = compare_texts(pair);
    for (int f = 0; f < 2; f++) {
        int error_number = text_free(&sides[f].text);
        if (error_number && status != EXIT_TROUBLE)
            status = trouble(sides[f].name, error_number);
        free_lines(&sides[f]);
    }
    return status;
}
