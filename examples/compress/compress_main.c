/* SPDX-License-Identifier: MIT
 *
 * compress_main.c - the options of compress and uncompress.
 *
 * Example programs, shared part: the same for stdio and for ASI.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compress_files.h"
#include "compress_main.h"
#include "lzw.h"

static void usage(FILE *out, const char *name) {
    fprintf(out,
            "Usage: %s [-cdfhv] [-b maxbits] [file ...]\n"
            "  -b  use codes of at most this many bits, %d to %d (%d unless told)\n"
            "  -c  write to the standard output and keep the files\n"
            "  -d  uncompress\n"
            "  -f  overwrite existing files, replace a file that does not get smaller\n"
            "  -h  print this text\n"
            "  -v  say for each file by what it was replaced\n"
            "Without a file the standard input is coded to the standard output.\n",
            name, LZW_MIN_BITS, LZW_MAX_BITS, LZW_MAX_BITS);
}

static int wrong_option(const char *name, int option) {
    if (option == 'b')
        fprintf(stderr, "Missing maxbits\n");
    else
        fprintf(stderr, "Unknown flag: '%c'; ", option);
    usage(stderr, name);
    return STATUS_ERROR;
}

/* As in ncompress, a number out of range means the nearest valid width. */
static unsigned parse_bits(const char *text) {
    int bits = atoi(text);
    return bits < LZW_MIN_BITS ? LZW_MIN_BITS : bits > LZW_MAX_BITS ? LZW_MAX_BITS : (unsigned)bits;
}

static int code_files(char **names, const struct compress_options *options) {
    int status = STATUS_OK;
    if (!*names)
        status |= code_stdin(options);
    for (; *names; names++)
        status |= strcmp(*names, "-") == 0 ? code_stdin(options) : code_file(*names, options);
    status |= close_stdout();
    return status & STATUS_ERROR ? STATUS_ERROR : status;
}

int compress_main(int argc, char **argv, const char *name, bool uncompress) {
    struct compress_options options = {.uncompress = uncompress, .max_bits = LZW_MAX_BITS};
    int option;
    opterr = 0;
    while ((option = getopt(argc, argv, "b:cdfhv")) != -1) {
        switch (option) {
        case 'b':
            options.max_bits = parse_bits(optarg);
            break;
        case 'c':
            options.to_stdout = true;
            break;
        case 'd':
            options.uncompress = true;
            break;
        case 'f':
            options.force = true;
            break;
        case 'h':
            usage(stdout, name);
            return STATUS_OK;
        case 'v':
            options.verbose = true;
            break;
        default:
            return wrong_option(name, optopt);
        }
    }
    return code_files(argv + optind, &options);
}
