/* SPDX-License-Identifier: MIT
 *
 * asf.c - the asf command: which of its subcommands is meant.
 *
 * Layer: interfaces/command; may include command.h and libc's headers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interfaces/command/command.h"

/* "asf record" is a program of its own beside this one, for it needs more than
 * libc. */
static void run_record(char **argv) {
    const char *path = asf__text("%s/asf-record", asf__own_directory());
    execv(path, argv);
    if (errno == ENOENT)
        asf__fail("record: %s is not there; install asf's library of records (libasf_record)", path);
    asf__fail("record: %s: exec: %s; install it anew", path, strerror(errno));
}

static int help(void) {
    fputs("usage: asf COMMAND [ARGUMENT]...\n"
          "\n"
          "The Alloc Stream Facility: serve the stream I/O of programs as they are.\n"
          "\n"
          "  run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
          "                 run a program with its stdio served by asf; see 'asf run --help'\n"
          "  pipe [OPTION]... 'COMMAND | COMMAND...'\n"
          "                 run a pipeline, with rings in shared memory beside its pipes; see\n"
          "                 'asf pipe --help'\n"
          "  shm COMMAND [ARGUMENT]...\n"
          "                 list, remove, expand and pack segments of shared memory; see\n"
          "                 'asf shm --help'\n"
          "  tune [OPTION]...\n"
          "                 measure this machine's file systems, for the choice of stream\n"
          "                 modules; see 'asf tune --help'\n"
          "  record COMMAND [ARGUMENT]...\n"
          "                 show, print and convert records, where libasf_record is installed;\n"
          "                 see 'asf record --help'\n"
          "  version        print the version\n"
          "  help           print this (also --help)\n"
          "\n"
          "The manual page asf(1) has the details.\n",
          stdout);
    return asf__close_stdout();
}

static int version(void) {
    puts("asf " ASF_VERSION);
    return asf__close_stdout();
}

static bool is_one_of(const char *word, const char *first, const char *second) {
    return strcmp(word, first) == 0 || strcmp(word, second) == 0;
}

int main(int argc, char **argv) {
    if (argc < 2)
        asf__fail("no command given; 'asf --help' lists them");
    if (strcmp(argv[1], "run") == 0)
        return asf__run(argc - 1, argv + 1);
    if (strcmp(argv[1], "pipe") == 0)
        return asf__pipeline(argc - 1, argv + 1);
    if (strcmp(argv[1], "shm") == 0)
        return asf__shm(argc - 1, argv + 1);
    if (strcmp(argv[1], "tune") == 0)
        return asf__tune(argc - 1, argv + 1);
    if (strcmp(argv[1], "record") == 0)
        run_record(argv + 1);
    bool asks_help = is_one_of(argv[1], "help", "--help") || strcmp(argv[1], "-h") == 0;
    if (!asks_help && !is_one_of(argv[1], "version", "--version"))
        asf__fail("unknown command '%s'; 'asf --help' lists those there are", argv[1]);
    if (argc == 3 && is_one_of(argv[2], "--help", "-h"))
        return help();
    if (argc > 2)
        asf__fail("%s takes no argument, but '%s' is given", argv[1], argv[2]);
    return asks_help ? help() : version();
}
