/* SPDX-License-Identifier: MIT
 *
 * cmp.c - compare two files byte by byte: options, operands and reports.
 * cmp_plain.c and cmp_asi.c read the files.
 */
#include "cmp.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/common/program.h"

enum { SAME = 0, DIFFERENT = 1, TROUBLE = 2 };

static const char usage[] =
    "Usage: cmp [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]\n"
    "Compare two files byte by byte; \"-\" and no FILE2 are standard input.\n\n"
    "  -b, --print-bytes               show the bytes that differ\n"
    "  -i, --ignore-initial=SKIP[:SKIP2]  pass over the first bytes\n"
    "  -l, --verbose                   all differences: number and values of the bytes\n"
    "  -n, --bytes=LIMIT               compare no more than LIMIT bytes\n"
    "  -s, --quiet, --silent           print nothing\n"
    "      --help                      display this help and exit\n\n"
    "Numbers may end with kB 1000, K 1024, MB, M and so on.\n"
    "The status is 0 for equal files, 1 for different ones, 2 for trouble.\n";

static const struct option long_options[] = {
    {"print-bytes", no_argument, NULL, 'b'}, {"ignore-initial", required_argument, NULL, 'i'},
    {"verbose", no_argument, NULL, 'l'},     {"bytes", required_argument, NULL, 'n'},
    {"silent", no_argument, NULL, 's'},      {"quiet", no_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
};

/* The report: the first difference; all differences (-l); none because standard output is /dev/null; none
 * (-s). */
static enum report { FIRST, ALL, UNSEEN, SILENT } report = FIRST;
static bool print_bytes;
static uintmax_t limit = UINTMAX_MAX;
static struct cmp_file files[2];

static struct {
    uintmax_t bytes, lines; /* counts before the current byte */
    bool line_start;        /* the current byte is the first of its line */
    int width;              /* columns of a byte's number with -l */
    int result;
} state = {.line_start = true};

static _Noreturn void refuse(const char *message, const char *operand) {
    error(0, 0, message, operand);
    error(TROUBLE, 0, "Try 'cmp --help' for more information.");
    abort();
}

/* Returns the power of 1000 or 1024 that a suffix letter stands for, or -1. */
static int power_of(char letter) {
    static const char letters[] = "KMGTPEZY";
    const char *found = letter ? strchr(letters, letter == 'k' ? 'K' : letter) : NULL;
    return found ? (int)(found - letters) + 1 : -1;
}

/* Parse a number with an optional suffix such as k, KiB or kB.
 * returns  false if there is no number, or if it is too large. */
static bool parse_number(const char *text, char **end, uintmax_t *value) {
    const char *digits = text + strspn(text, " \t\n\v\f\r");
    if (*digits == '-')
        return false;
    errno = 0;
    *value = strtoumax(digits, end, 0);
    bool none = *end == digits;
    int power = power_of(**end);
    if (errno || (none && power < 0))
        return false;
    if (none)
        *value = 1;
    if (power < 0)
        return true;
    ++*end;
    uintmax_t base = **end == 'B' ? 1000 : 1024;
    *end += **end == 'B' ? 1 : (*end)[0] == 'i' && (*end)[1] == 'B' ? 2 : 0;
    while (power-- > 0)
        if (__builtin_mul_overflow(*value, base, value))
            return false;
    return true;
}

static void set_skip(int which, char **text, char delimiter) {
    uintmax_t value;
    const char *start = *text;
    if (!parse_number(start, text, &value) || (**text && **text != delimiter) || value > INT64_MAX)
        refuse("invalid --ignore-initial value '%s'", start);
    if (files[which].skip < (off_t)value)
        files[which].skip = (off_t)value;
}

static void set_skips(char *text) {
    set_skip(0, &text, ':');
    if (*text++ == ':')
        set_skip(1, &text, '\0');
    else if (files[1].skip < files[0].skip)
        files[1].skip = files[0].skip;
}

static void set_limit(const char *text) {
    uintmax_t value;
    char *end;
    if (!parse_number(text, &end, &value) || *end)
        refuse("invalid --bytes value '%s'", text);
    if (value < limit)
        limit = value;
}

static void set_report(enum report wanted) {
    if (report != FIRST && report != wanted)
        refuse("options -l and -s are incompatible", NULL);
    report = wanted;
}

static void parse_options(int argc, char **argv) {
    for (int option; (option = getopt_long(argc, argv, "bci:ln:s", long_options, NULL)) != -1;) {
        switch (option) {
        case 'b':
        case 'c':
            print_bytes = true;
            break;
        case 'i':
            set_skips(optarg);
            break;
        case 'l':
            set_report(ALL);
            break;
        case 'n':
            set_limit(optarg);
            break;
        case 's':
            set_report(SILENT);
            break;
        case 'h':
            program_usage(usage);
        default:
            error(TROUBLE, 0, "Try 'cmp --help' for more information.");
        }
    }
}

static void parse_operands(int argc, char **argv) {
    if (optind == argc)
        refuse("missing operand after '%s'", argv[argc - 1]);
    files[0].name = argv[optind++];
    files[1].name = optind < argc ? argv[optind++] : "-";
    for (int which = 0; which < 2 && optind < argc; which++) {
        char *text = argv[optind++];
        set_skip(which, &text, '\0');
    }
    if (optind < argc)
        refuse("extra operand '%s'", argv[optind]);
}

void cmp_failed(const struct cmp_file *file, int error_number) {
    error(TROUBLE, error_number, "%s", file->name);
    abort();
}

static void open_file(struct cmp_file *file) {
    file->fd = is_stdin(file->name) ? STDIN_FILENO : open(file->name, O_RDONLY);
    if (file->fd < 0 && report == SILENT)
        exit(TROUBLE);
    if (file->fd < 0 || fstat(file->fd, &file->st) != 0)
        cmp_failed(file, errno);
}

/* Open standard input first: if it is closed, open() of the other file would return descriptor 0.  If both
 * operands are the same, one is opened, for its errors; the files are then equal. */
static void open_files(void) {
    int first = is_stdin(files[1].name);
    open_file(&files[first]);
    if (files[0].skip == files[1].skip && strcmp(files[0].name, files[1].name) == 0)
        exit(SAME);
    open_file(&files[!first]);
}

/* Seek over the bytes to skip.  If the file cannot seek, `skip` is unchanged, and cmp_files skips by reading.
 * returns  the file's offset, or -1. */
static off_t position(struct cmp_file *file) {
    off_t at = lseek(file->fd, file->skip, SEEK_CUR);
    if (at >= 0)
        file->skip = 0;
    return at;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_null_device(int fd) {
    struct stat st, null;
    return fstat(fd, &st) == 0 && stat("/dev/null", &null) == 0 && same_file(&st, &null);
}

static uintmax_t bytes_left(const struct cmp_file *file, off_t at) {
    if (!S_ISREG(file->st.st_mode))
        return UINTMAX_MAX;
    return file->st.st_size > at ? (uintmax_t)(file->st.st_size - at) : 0;
}

static uintmax_t least(uintmax_t a, uintmax_t b) {
    return a < b ? a : b;
}

/* Compare what is known without reading: the files' identities, sizes and offsets.  Ends the program if that
 * decides the result. */
static void compare_outside(void) {
    off_t at[] = {position(&files[0]), position(&files[1])};
    if (same_file(&files[0].st, &files[1].st) && at[0] == at[1])
        exit(SAME);
    if (report != SILENT && is_null_device(STDOUT_FILENO))
        report = UNSEEN;
    uintmax_t left[] = {bytes_left(&files[0], at[0]), bytes_left(&files[1], at[1])};
    bool known = S_ISREG(files[0].st.st_mode) && S_ISREG(files[1].st.st_mode);
    if (report == SILENT && known && left[0] != left[1] && least(left[0], left[1]) < limit)
        exit(DIFFERENT);
    uintmax_t last = least(least(left[0], left[1]), least(limit, INT64_MAX));
    for (state.width = 1; last >= 10; last /= 10)
        state.width++;
}

size_t cmp_want(size_t most) {
    return least(most, limit - state.bytes);
}

/* Returns a byte as -b shows it: ^X, M-X. */
static const char *visible(char *text, unsigned char c) {
    char *p = text;
    if (!isprint(c)) {
        if (c >= 0x80) {
            p = stpcpy(p, "M-");
            c &= 0x7f;
        }
        if (c < 0x20 || c == 0x7f) {
            *p++ = '^';
            c ^= 0x40;
        }
    }
    *p++ = (char)c;
    *p = '\0';
    return text;
}

/* In the POSIX locale, POSIX requires "char".  In other locales the accurate "byte" is printed. */
static const char *byte_word(void) {
    const char *locale = setlocale(LC_MESSAGES, NULL);
    return !print_bytes && (strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0) ? "char" : "byte";
}

static void print_first(unsigned char a, unsigned char b) {
    char text_a[5], text_b[5];
    printf("%s %s differ: %s %ju, line %ju", files[0].name, files[1].name, byte_word(), state.bytes + 1,
           state.lines + 1);
    if (print_bytes)
        printf(" is %3o %s %3o %s", a, visible(text_a, a), b, visible(text_b, b));
    putchar('\n');
}

static void print_each(unsigned char a, unsigned char b) {
    char text_a[5], text_b[5];
    if (print_bytes)
        printf("%*ju %3o %-4s %3o %s\n", state.width, state.bytes + 1, a, visible(text_a, a), b,
               visible(text_b, b));
    else
        printf("%*ju %3o %3o\n", state.width, state.bytes + 1, a, b);
}

static void pass(const char *equal, size_t n) {
    if (n == 0)
        return;
    state.bytes += n;
    if (report == FIRST)
        state.lines += cmp_newlines(equal, n);
    state.line_start = equal[n - 1] == '\n';
}

bool cmp_blocks(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t equal = cmp_difference(a + i, b + i, n - i);
        pass(a + i, equal);
        i += equal;
        if (i == n)
            break;
        state.result = DIFFERENT;
        if (report == FIRST)
            print_first((unsigned char)a[i], (unsigned char)b[i]);
        if (report != ALL)
            return false;
        print_each((unsigned char)a[i], (unsigned char)b[i]);
        state.bytes++;
    }
    return true;
}

void cmp_ended(int which) {
    const char *name = files[which].name;
    state.result = DIFFERENT;
    if (report == SILENT)
        return;
    if (state.bytes == 0)
        fprintf(stderr, "cmp: EOF on %s which is empty\n", name);
    else if (report != FIRST)
        fprintf(stderr, "cmp: EOF on %s after byte %ju\n", name, state.bytes);
    else if (state.line_start)
        fprintf(stderr, "cmp: EOF on %s after byte %ju, line %ju\n", name, state.bytes, state.lines);
    else
        fprintf(stderr, "cmp: EOF on %s after byte %ju, in line %ju\n", name, state.bytes, state.lines + 1);
}

/* Report write errors here, because cmp's messages differ from those of close_stdout. */
static void end_output(void) {
    bool failed_before = ferror(stdout) != 0;
    if (!failed_before && fflush(stdout) == 0)
        return;
    error(0, failed_before ? 0 : errno, failed_before ? "write failed" : "standard output");
    _exit(TROUBLE);
}

int main(int argc, char **argv) {
    program_start(argv, "cmp", TROUBLE);
    parse_options(argc, argv);
    parse_operands(argc, argv);
    open_files();
    compare_outside();
    cmp_files(files);
    end_output();
    return state.result;
}
