/* SPDX-License-Identifier: MIT
 *
 * wc.c - counts the lines, words, characters and bytes of files: options, operands and output.  wc_plain.c
 * and wc_asi.c read the files.
 */
#include "wc.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/common/program.h"

static const char usage[] =
    "Usage: wc [OPTION]... [FILE]...\n"
    "Print newline, word and byte counts of each FILE, or of standard input for none\n"
    "and for \"-\", and a total line for more than one.\n\n"
    "  -c, --bytes            print the byte counts\n"
    "  -m, --chars            print the character counts\n"
    "  -j N                   count a large file by N threads, for 0 by as many as there\n"
    "                           are processors (asi-wc alone)\n"
    "  -l, --lines            print the newline counts\n"
    "  -L, --max-line-length  print the width of the longest line\n"
    "  -w, --words            print the word counts\n"
    "      --help             display this help and exit\n";

static const struct option long_options[] = {
    {"bytes", no_argument, NULL, 'c'},
    {"chars", no_argument, NULL, 'm'},
    {"lines", no_argument, NULL, 'l'},
    {"max-line-length", no_argument, NULL, 'L'},
    {"words", no_argument, NULL, 'w'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* The counts to print. */
static struct { bool lines, words, chars, bytes, length; } show;
static bool nameless; /* there are no operands */
static int threads = -1;
static int status = EXIT_SUCCESS;

static void parse_options(int argc, char **argv) {
    for (int option; (option = getopt_long(argc, argv, "cj:lLmw", long_options, NULL)) != -1;) {
        switch (option) {
        case 'c':
            show.bytes = true;
            break;
        case 'm':
            show.chars = true;
            break;
        case 'j':
            threads = program_threads(optarg);
            break;
        case 'l':
            show.lines = true;
            break;
        case 'L':
            show.length = true;
            break;
        case 'w':
            show.words = true;
            break;
        case 'h':
            program_usage(usage);
        default:
            program_try_help();
        }
    }
    if (!(show.lines || show.words || show.chars || show.bytes || show.length))
        show.lines = show.words = show.bytes = true;
}

enum wc_depth wc_depth(void) {
    bool characters = MB_CUR_MAX > 1;
    if (show.words || show.length || (show.chars && characters))
        return characters ? WC_CHARACTERS : WC_WORDS;
    return show.lines ? WC_LINES : WC_BYTES;
}

bool wc_columns(void) {
    return show.length;
}

int wc_threads(void) {
    return threads;
}

bool wc_failed(const char *name, int error_number) {
    error(0, error_number, "%s", quoted(nameless ? "standard input" : name));
    status = EXIT_FAILURE;
    return false;
}

/* Files of /proc and /sys have a size of 0 or of whole pages, whatever their contents.  If a file has such a
 * size, its last block is read. */
off_t wc_size(int fd, struct wc_text *text) {
    struct stat st;
    if (wc_depth() != WC_BYTES || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    off_t at = lseek(fd, 0, SEEK_CUR), last = st.st_size - st.st_size % (st.st_blksize + 1);
    if (st.st_size % sysconf(_SC_PAGESIZE) != 0) {
        text->counts.bytes = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
        return -1;
    }
    off_t over = at >= 0 && at < last ? last - at : 0;
    text->counts.bytes = (uint64_t)over;
    return over;
}

/* Returns the width of the numbers: the digits of the files' total size, and at least seven if the size of a
 * file is not known. */
static int number_width(int count, char **names) {
    int width = 1, least = 1;
    uint64_t total = 0;
    struct stat st;
    if (count == 1 && show.lines + show.words + show.chars + show.bytes + show.length == 1)
        return 1;
    for (int i = 0; i < count; i++) {
        if ((is_stdin(names[i]) ? fstat(STDIN_FILENO, &st) : stat(names[i], &st)) != 0)
            continue;
        if (S_ISREG(st.st_mode))
            total += (uint64_t)st.st_size;
        else
            least = 7;
    }
    for (; total >= 10; total /= 10)
        width++;
    return width < least ? least : width;
}

static void print_counts(const struct wc_counts *counts, int width, const char *name) {
    const struct {
        bool shown;
        uint64_t value;
    } columns[] = {{show.lines, counts->lines},
                   {show.words, counts->words},
                   {show.chars, counts->chars},
                   {show.bytes, counts->bytes},
                   {show.length, counts->length}};
    const char *separator = "";
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (columns[i].shown) {
            printf("%s%*" PRIu64, separator, width, columns[i].value);
            separator = " ";
        }
    }
    if (!nameless)
        printf(" %s", strchr(name, '\n') ? quoted(name) : name);
    putchar('\n');
}

void wc_add(struct wc_counts *total, const struct wc_counts *counts) {
    total->lines += counts->lines;
    total->words += counts->words;
    total->chars += counts->chars;
    total->bytes += counts->bytes;
    if (counts->length > total->length)
        total->length = counts->length;
}

static void count_operand(const char *name, int width, struct wc_counts *total) {
    struct wc_text text = {0};
    if (!*name) {
        error(0, 0, "invalid zero-length file name");
        status = EXIT_FAILURE;
        return;
    }
    if (!wc_file(name, &text))
        return;
    wc_end(&text);
    if (wc_depth() != WC_CHARACTERS)
        text.counts.chars = text.counts.bytes;
    print_counts(&text.counts, width, name);
    wc_add(total, &text.counts);
}

int main(int argc, char **argv) {
    static char *no_names[] = {"-"};
    struct wc_counts total = {0};
    program_start(argv, "wc", EXIT_FAILURE);
    parse_options(argc, argv);
    nameless = optind == argc;
    int count = nameless ? 1 : argc - optind;
    char **names = nameless ? no_names : argv + optind;
    int width = number_width(count, names);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < count; i++)
        count_operand(names[i], width, &total);
    if (count > 1)
        print_counts(&total, width, "total");
    return program_close_stdin("-") ? status : EXIT_FAILURE;
}
