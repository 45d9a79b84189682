/* SPDX-License-Identifier: MIT
 *
 * asf.c - the asf command: runs the subcommand that its first argument names.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_table.h"
#include "lib/sys/package.h"

/* "asf record" is a separate program in the command's directory, because it needs more libraries than
 * libc. */
static int run_record(int argc, char **argv) {
    (void)argc;
    const char *path = asf__text("%s/asf-record", asf__own_directory());
    execv(path, argv);
    if (errno == ENOENT)
        asf__fail("record: %s: not found; install %s", path,
                  asf__package("asf-record", "asf's library of records (libasf_record)"));
    asf__fail("record: %s: exec: %s; install it anew", path, strerror(errno));
}

static int version(int argc, char **argv) {
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return asf__help_of(argv[0]);
    if (argc > 1)
        asf__fail("%s takes no argument, but '%s' is given", argv[0], argv[1]);
    puts("asf " ASF_VERSION);
    return asf__close_stdout();
}

/* "asf help shm ls" shows the help of a nested subcommand. */
static int help(int argc, char **argv) {
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return asf__help_of(argc == 2 ? "help" : NULL);
    const char *name = argc == 2 ? argv[1] : argc == 3 ? asf__text("%s %s", argv[1], argv[2]) : NULL;
    if (argc > 3)
        asf__fail("help takes one command, but '%s' is given too", argv[3]);
    if (name && !asf__command(name))
        asf__fail("help: unknown command '%s'%s; 'asf --help' lists the commands", name,
                  asf__suggestion("", name));
    return asf__help_of(name);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {{"run", asf__run},
                    {"stat", asf__stat},
                    {"compare", asf__compare},
                    {"pipe", asf__pipeline},
                    {"parallel", asf__parallel},
                    {"shm", asf__shm},
                    {"tune", asf__tune},
                    {"record", run_record},
                    {"completion", asf__completion},
                    {"help", help},
                    {"--help", help},
                    {"-h", help},
                    {"version", version},
                    {"--version", version},
                    {"-V", version}};
    asf__drop_unusable_options();
    if (argc < 2)
        asf__fail("no command given; 'asf --help' lists the commands");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    asf__fail("unknown command '%s'%s; 'asf --help' lists the commands", argv[1],
              asf__suggestion("", argv[1]));
}
