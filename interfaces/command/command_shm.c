/* SPDX-License-Identifier: MIT
 *
 * command_shm.c - "asf shm": lists and removes segments of shared memory, and copies arrays between text and
 * segments.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <string.h>

#include "interfaces/command/command_shm.h"
#include "interfaces/command/command_table.h"

int asf__shm(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } subcommands[] = {
        {"ls", asf__shm_list}, {"rm", asf__shm_remove}, {"expand", asf__shm_expand}, {"pack", asf__shm_pack}};
    if (argc < 2)
        asf__fail("shm: no command given; 'asf shm --help' lists the commands");
    const char *name = argv[1];
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
        return asf__help_of("shm");
    opterr = 0;
    for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
        if (!strcmp(name, subcommands[i].name))
            return subcommands[i].run(argc - 1, argv + 1);
    asf__fail("shm: unknown command '%s'%s; 'asf shm --help' lists the commands", name,
              asf__suggestion("shm", name));
}
