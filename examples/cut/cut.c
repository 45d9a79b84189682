/* SPDX-License-Identifier: MIT
 *
 * cut.c - cut's options and operands.  cut_plain.c and cut_asi.c cut bytes or fields out of lines.
 */
#include "cut.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/program.h"

static const char usage[] =
    "Usage: cut OPTION... [FILE]...\n"
    "Print parts of the lines of each FILE, or of standard input for none and for \"-\".\n\n"
    "  -b, --bytes=LIST         these bytes\n"
    "  -c, --characters=LIST    the same\n"
    "  -d, --delimiter=DELIM    fields are parted by DELIM, not by a tab\n"
    "  -f, --fields=LIST        these fields, and lines without a delimiter\n"
    "  -j N                     cut a file by N threads, for 0 by as many as there are\n"
    "                           processors (asi-cut alone)\n"
    "  -n                       (ignored)\n"
    "      --complement         all but the given bytes or fields\n"
    "  -s, --only-delimited     no lines without a delimiter\n"
    "      --output-delimiter=STRING  print STRING between what is cut out\n"
    "  -z, --zero-terminated    lines end with a NUL\n"
    "      --help               display this help and exit\n\n"
    "LIST is made of N, N-, N-M and -M, with commas between.\n";

enum { COMPLEMENT = 256, OUTPUT_DELIMITER };

static const struct option long_options[] = {
    {"bytes", required_argument, NULL, 'b'},
    {"characters", required_argument, NULL, 'c'},
    {"fields", required_argument, NULL, 'f'},
    {"delimiter", required_argument, NULL, 'd'},
    {"only-delimited", no_argument, NULL, 's'},
    {"output-delimiter", required_argument, NULL, OUTPUT_DELIMITER},
    {"complement", no_argument, NULL, COMPLEMENT},
    {"zero-terminated", no_argument, NULL, 'z'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static struct cut_options options = {.threads = -1, .line_end = '\n'};
static const char *list;
static bool complement, delimiter_given;
static struct cut_range *ranges;
static size_t range_count;
static int status = EXIT_SUCCESS;

bool cut_failed(const char *name, int error_number) {
    error(0, error_number, "%s", quoted(name));
    status = EXIT_FAILURE;
    return false;
}

static _Noreturn void refuse(const char *message) {
    error(0, 0, "%s", message);
    program_try_help();
}

/* Refuse a list with the message about bytes, or with the message about fields. */
static _Noreturn void refuse_list(const char *of_bytes, const char *of_fields) {
    refuse(options.fields ? of_fields : of_bytes);
}

static void add_range(uint64_t low, uint64_t high) {
    ranges = realloc(ranges, (range_count + 1) * sizeof *ranges);
    if (!ranges)
        error(EXIT_FAILURE, errno, "memory exhausted");
    ranges[range_count++] = (struct cut_range){low, high};
}

/* Parse a number of the list.  returns  the text after it. */
static const char *parse_number(const char *text, uint64_t *value) {
    size_t length = strspn(text, "0123456789");
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(text[i] - '0'), value) || *value == UINT64_MAX) {
            error(0, 0,
                  options.fields ? "field number '%.*s' is too large"
                                 : "byte/character offset '%.*s' is too large",
                  (int)length, text);
            program_try_help();
        }
    }
    return text + length;
}

static bool ends_range(const char *p) {
    return *p == '\0' || *p == ',' || isblank((unsigned char)*p);
}

/* Parse a range: N, N-, N-M or -M.  returns  the text after it. */
static const char *parse_range(const char *text) {
    uint64_t low, high;
    const char *dash = parse_number(text, &low);
    bool has_low = dash > text;
    if (low == 0 && (ends_range(dash) || (has_low && *dash == '-')))
        refuse_list("byte/character positions are numbered from 1", "fields are numbered from 1");
    if (ends_range(dash))
        add_range(low, low);
    if (*dash != '-')
        return dash;
    const char *end = parse_number(dash + 1, &high);
    bool has_high = end > dash + 1;
    if (*end == '-')
        refuse_list("invalid byte or character range", "invalid field range");
    if (!ends_range(end))
        return end;
    if (!has_low && !has_high)
        refuse("invalid range with no endpoint: -");
    if (has_high && high < (has_low ? low : 1))
        refuse("invalid decreasing range");
    add_range(has_low ? low : 1, has_high ? high : UINT64_MAX);
    return end;
}

static int compare_ranges(const void *a, const void *b) {
    const struct cut_range *p = a, *q = b;
    return p->low < q->low ? -1 : p->low > q->low;
}

/* Sort the ranges, and join overlapping ranges. */
static void merge_ranges(void) {
    size_t kept = 0;
    qsort(ranges, range_count, sizeof *ranges, compare_ranges);
    for (size_t i = 1; i < range_count; i++) {
        if (ranges[i].low > ranges[kept].high)
            ranges[++kept] = ranges[i];
        else if (ranges[i].high > ranges[kept].high)
            ranges[kept].high = ranges[i].high;
    }
    range_count = kept + 1;
}

/* Replace the ranges by the gaps between them. */
static void complement_ranges(void) {
    struct cut_range *given = ranges;
    size_t count = range_count;
    uint64_t next = 1;
    ranges = NULL;
    range_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (given[i].low > next)
            add_range(next, given[i].low - 1);
        next = given[i].high + 1;
        if (given[i].high == UINT64_MAX)
            break;
    }
    if (count == 0 || given[count - 1].high != UINT64_MAX)
        add_range(next, UINT64_MAX);
    free(given);
}

static void parse_list(void) {
    const char *p = list;
    for (;;) {
        p = parse_range(p);
        if (*p == '\0')
            break;
        if (*p != ',' && !isblank((unsigned char)*p)) {
            error(0, 0, options.fields ? "invalid field value '%s'" : "invalid byte/character position '%s'",
                  p);
            program_try_help();
        }
        p++;
    }
    merge_ranges();
    if (complement)
        complement_ranges();
    add_range(UINT64_MAX, UINT64_MAX);
    options.ranges = ranges;
}

static void set_list(int option) {
    if (list)
        refuse("only one list may be specified");
    list = optarg;
    options.fields = option == 'f';
}

static void set_delimiter(void) {
    if (optarg[0] && optarg[1])
        refuse("the delimiter must be a single character");
    options.delimiter = optarg[0];
    delimiter_given = true;
}

static void set_option(int option) {
    switch (option) {
    case 'b':
    case 'c':
    case 'f':
        set_list(option);
        break;
    case 'd':
        set_delimiter();
        break;
    case OUTPUT_DELIMITER:
        options.output_delimiter = optarg;
        options.output_delimiter_length = *optarg ? strlen(optarg) : 1;
        break;
    case 'j':
        options.threads = program_threads(optarg);
        break;
    case 'n':
        break;
    case 's':
        options.only_delimited = true;
        break;
    case 'z':
        options.line_end = '\0';
        break;
    case COMPLEMENT:
        complement = true;
        break;
    case 'h':
        program_usage(usage);
    default:
        program_try_help();
    }
}

static void check_options(void) {
    if (!list)
        refuse("you must specify a list of bytes, characters, or fields");
    if (!options.fields && delimiter_given)
        refuse("an input delimiter may be specified only when operating on fields");
    if (!options.fields && options.only_delimited)
        refuse("suppressing non-delimited lines makes sense\n\tonly when operating on fields");
    parse_list();
    if (!delimiter_given)
        options.delimiter = '\t';
    if (options.fields && !options.output_delimiter) {
        options.output_delimiter = &options.delimiter;
        options.output_delimiter_length = 1;
    }
}

int main(int argc, char **argv) {
    program_start(argv, "cut", EXIT_FAILURE);
    for (int option; (option = getopt_long(argc, argv, "b:c:d:f:j:nsz", long_options, NULL)) != -1;)
        set_option(option);
    check_options();
    if (optind == argc)
        cut_file("-", &options);
    while (optind < argc)
        cut_file(argv[optind++], &options);
    cut_end();
    return program_close_stdin("-") ? status : EXIT_FAILURE;
}
