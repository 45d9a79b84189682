/* SPDX-License-Identifier: MIT
 *
 * diff.c - parses diff's options.
 */
#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "examples/common/program.h"

struct diff_options options;

enum { OPTION_HELP = 256, OPTION_NORMAL };

static const char help[] = "Usage: diff [OPTION]... FILES\n"
                           "Compare FILES line by line.\n"
                           "\n"
                           "  -q, --brief                   report only when files differ\n"
                           "  -s, --report-identical-files  report when two files are the same\n"
                           "  -c, -C NUM, --context[=NUM]   output NUM (default 3) lines of copied context\n"
                           "  -u, -U NUM, --unified[=NUM]   output NUM (default 3) lines of unified context\n"
                           "  -e, --ed                      output an ed script\n"
                           "      --normal                  output a normal diff (the default)\n"
                           "  -L, --label LABEL             use LABEL instead of a file's name and time\n"
                           "  -r, --recursive               compare any subdirectories found\n"
                           "  -N, --new-file                treat absent files as empty\n"
                           "  -i, --ignore-case             ignore case differences in file contents\n"
                           "  -b, --ignore-space-change     ignore changes in the amount of white space\n"
                           "  -w, --ignore-all-space        ignore all white space\n"
                           "  -B, --ignore-blank-lines      ignore changes where lines are all blank\n"
                           "  -a, --text                    treat all files as text\n"
                           "  -d, --minimal                 try hard to find a smaller set of changes\n"
                           "      --help                    display this help and exit\n"
                           "\n"
                           "FILES are 'FILE1 FILE2' or 'DIR1 DIR2' or 'DIR FILE' or 'FILE DIR'.\n"
                           "If a FILE is '-', read standard input.\n"
                           "Exit status is 0 if inputs are the same, 1 if different, 2 if trouble.\n";

static const struct option long_options[] = {
    {"brief", no_argument, NULL, 'q'},
    {"report-identical-files", no_argument, NULL, 's'},
    {"context", optional_argument, NULL, 'C'},
    {"unified", optional_argument, NULL, 'U'},
    {"ed", no_argument, NULL, 'e'},
    {"normal", no_argument, NULL, OPTION_NORMAL},
    {"label", required_argument, NULL, 'L'},
    {"recursive", no_argument, NULL, 'r'},
    {"new-file", no_argument, NULL, 'N'},
    {"ignore-case", no_argument, NULL, 'i'},
    {"ignore-space-change", no_argument, NULL, 'b'},
    {"ignore-all-space", no_argument, NULL, 'w'},
    {"ignore-blank-lines", no_argument, NULL, 'B'},
    {"text", no_argument, NULL, 'a'},
    {"minimal", no_argument, NULL, 'd'},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static _Noreturn void try_help(void) {
    error(EXIT_TROUBLE, 0, "Try 'diff --help' for more information.");
    abort();
}

static void set_style(enum diff_style style) {
    static bool given;
    if (given && options.style != style) {
        error(0, 0, "conflicting output style options");
        try_help();
    }
    options.style = style;
    given = true;
}

/* Set the number of context lines.  If several options give a number, the largest is used. */
static void set_context(enum diff_style style, const char *text) {
    char *end;
    set_style(style);
    unsigned long lines = text ? strtoul(text, &end, 10) : 3;
    if (text && (!strchr("0123456789", *text) || *end)) {
        error(0, 0, "invalid context length '%s'", text);
        try_help();
    }
    lines = lines > SIZE_MAX / 4 ? SIZE_MAX / 4 : lines;
    options.context = lines > options.context ? lines : options.context;
}

static void add_label(const char *label) {
    if (!options.labels[0])
        options.labels[0] = label;
    else if (!options.labels[1])
        options.labels[1] = label;
    else
        error(EXIT_TROUBLE, 0, "too many file label options");
}

/* Set an option about the output.  Returns false for any other option. */
static bool set_output(int option) {
    switch (option) {
    case 'q':
        options.brief = true;
        break;
    case 's':
        options.report_identical = true;
        break;
    case 'c':
        set_context(STYLE_CONTEXT, NULL);
        break;
    case 'u':
        set_context(STYLE_UNIFIED, NULL);
        break;
    case 'C':
        set_context(STYLE_CONTEXT, optarg);
        break;
    case 'U':
        set_context(STYLE_UNIFIED, optarg);
        break;
    case 'e':
        set_style(STYLE_ED);
        break;
    case OPTION_NORMAL:
        set_style(STYLE_NORMAL);
        break;
    case 'L':
        add_label(optarg);
        break;
    default:
        return false;
    }
    return true;
}

/* Set an option about which files are compared, and how.  Returns false for any other option. */
static bool set_comparison(int option) {
    switch (option) {
    case 'r':
        options.recursive = true;
        break;
    case 'N':
        options.new_file = true;
        break;
    case 'i':
        options.ignore_case = true;
        break;
    case 'b':
        if (options.space == SPACE_COUNTS)
            options.space = SPACE_AMOUNT_IGNORED;
        break;
    case 'w':
        options.space = SPACE_IGNORED;
        break;
    case 'B':
        options.ignore_blank_lines = true;
        break;
    case 'a':
        options.text = true;
        break;
    case 'd':
        options.minimal = true;
        break;
    default:
        return false;
    }
    return true;
}

static void set_option(int option) {
    if (option == OPTION_HELP)
        program_usage(help);
    if (!set_output(option) && !set_comparison(option))
        try_help();
}

/* Returns the options as text.  getopt_long has moved them before the operands. */
static const char *command_line(char **argv, int operands) {
    size_t size = 1;
    for (int i = 1; i < operands; i++)
        size += 1 + strlen(quoted(argv[i]));
    char *line = must(malloc(size)), *to = line;
    *to = '\0';
    for (int i = 1; i < operands; i++)
        to = stpcpy(stpcpy(to, " "), quoted(argv[i]));
    return line;
}

static void check_operands(int argc, char **argv) {
    if (argc - optind == 2)
        return;
    if (argc - optind < 2)
        error(0, 0, "missing operand after '%s'", argv[argc - 1]);
    else
        error(0, 0, "extra operand '%s'", argv[optind + 2]);
    try_help();
}

int main(int argc, char **argv) {
    int option;
    program_start(argv, "diff", EXIT_TROUBLE);
    while ((option = getopt_long(argc, argv, "abBcC:deiL:NqrsuU:w", long_options, NULL)) != -1)
        set_option(option);
    check_operands(argc, argv);
    options.command_line = command_line(argv, optind);
    int status = compare(argv[optind], argv[optind + 1]);
    text_end();
    return status;
}
