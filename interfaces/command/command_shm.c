/* SPDX-License-Identifier: MIT
 *
 * command_shm.c - "asf shm": segments of shared memory listed and removed, and
 * arrays moved between text and segments.
 *
 * Layer: interfaces/command; may include command.h and the public headers.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <string.h>

#include "interfaces/command/command_shm.h"

int asf__shm_help(void) {
    fputs("usage: asf shm COMMAND [OPTION]... [ARGUMENT]...\n"
          "\n"
          "Segments of shared memory that hold whole arrays.\n"
          "\n"
          "  ls [--json] [--leaked]\n"
          "                 list the segments: owner, mode, size, times, processes, label\n"
          "  rm [--dry-run] LABEL...\n"
          "                 remove segments by their whole label, as ls prints it\n"
          "  rm [--dry-run] [--mine] [--leaked] [--older AGE]\n"
          "                 remove those of which all that is given holds: they are this\n"
          "                 user's; nobody has them and their creator has ended; they are\n"
          "                 at least so old and nobody has them (90s, 10m, 12h, 7d).\n"
          "                 Root removes everybody's, others their own.\n"
          "  expand [FILE]  copy text, with each 'shmids LABEL' replaced by the numbers\n"
          "  pack [--min COUNT] [--name PREFIX] [--backend posix|sysv] [--mode MODE] [FILE]\n"
          "                 copy text, with each array of COUNT numbers or more (1000)\n"
          "                 put into a new segment, of mode 0600 or as given less the\n"
          "                 umask, and replaced by 'shmids LABEL'\n"
          "  help           print this (also --help)\n"
          "\n"
          "Exit status: 0, or 1 when a segment could not be removed, or 125 after any other\n"
          "failure.  The manual page asf-shm(1) has the details.\n",
          stdout);
    return asf__close_stdout();
}

int asf__shm(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } subcommands[] = {
        {"ls", asf__shm_list}, {"rm", asf__shm_remove}, {"expand", asf__shm_expand}, {"pack", asf__shm_pack}};
    if (argc < 2)
        asf__fail("shm: no command given; 'asf shm --help' lists them");
    const char *name = argv[1];
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
        return asf__shm_help();
    opterr = 0;
    for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
        if (!strcmp(name, subcommands[i].name))
            return subcommands[i].run(argc - 1, argv + 1);
    asf__fail("shm: unknown command '%s'; 'asf shm --help' lists those there are", name);
}
