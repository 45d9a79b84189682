/* SPDX-License-Identifier: MIT
 *
 * cat.c - concatenate files: options and operands.  cat_plain.c and cat_asi.c copy.
 */
#include "cat.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/common/program.h"

static const char usage[] =
    "Usage: cat [OPTION]... [FILE]...\n"
    "Copy each FILE, or standard input for none and for \"-\", to standard output.\n\n"
    "  -A, --show-all          as -vET\n"
    "  -b, --number-nonblank   number lines that are not empty\n"
    "  -e                      as -vE\n"
    "  -E, --show-ends         show $ at the end of each line\n"
    "  -n, --number            number all lines\n"
    "  -s, --squeeze-blank     one empty line for several in a row\n"
    "  -t                      as -vT\n"
    "  -T, --show-tabs         show tabs as ^I\n"
    "  -u                      do not hold back output (it never is)\n"
    "  -v, --show-nonprinting  show other bytes as ^X and M-X\n"
    "      --help              display this help and exit\n";

static const struct option long_options[] = {
    {"number-nonblank", no_argument, NULL, 'b'},
    {"number", no_argument, NULL, 'n'},
    {"squeeze-blank", no_argument, NULL, 's'},
    {"show-nonprinting", no_argument, NULL, 'v'},
    {"show-ends", no_argument, NULL, 'E'},
    {"show-tabs", no_argument, NULL, 'T'},
    {"show-all", no_argument, NULL, 'A'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int status = EXIT_SUCCESS;
static struct stat output;

static void set_option(struct cat_format *format, int option) {
    switch (option) {
    case 'b':
    case 'n':
        format->number = true;
        format->number_nonblank |= option == 'b';
        break;
    case 's':
        format->squeeze = true;
        break;
    case 'A':
    case 'E':
    case 'e':
    case 'T':
    case 't':
    case 'v':
        format->ends |= option == 'A' || option == 'E' || option == 'e';
        format->tabs |= option == 'A' || option == 'T' || option == 't';
        format->nonprinting |= option != 'E' && option != 'T';
        break;
    case 'u':
        break;
    case 'h':
        program_usage(usage);
    default:
        program_try_help();
    }
}

bool cat_failed(const char *name, int error_number) {
    error(0, error_number, "%s", quoted(name));
    status = EXIT_FAILURE;
    return false;
}

bool cat_is_output(int fd, const char *name) {
    struct stat st;
    if (!S_ISREG(output.st_mode) || fstat(fd, &st) != 0 || st.st_dev != output.st_dev ||
        st.st_ino != output.st_ino || lseek(fd, 0, SEEK_CUR) >= st.st_size)
        return false;
    error(0, 0, "%s: input file is output file", quoted(name));
    status = EXIT_FAILURE;
    return true;
}

int main(int argc, char **argv) {
    struct cat_format format = {0};
    program_start(argv, "cat", EXIT_FAILURE);
    for (int option; (option = getopt_long(argc, argv, "benstuvAET", long_options, NULL)) != -1;)
        set_option(&format, option);
    if (fstat(STDOUT_FILENO, &output) != 0)
        error(EXIT_FAILURE, errno, "standard output");
    if (optind == argc)
        cat_file("-", &format);
    while (optind < argc)
        cat_file(argv[optind++], &format);
    cat_end("\r", cat_held());
    return program_close_stdin("closing standard input") ? status : EXIT_FAILURE;
}
