/* SPDX-License-Identifier: MIT
 *
 * command_left_out.c - the subcommands that run programs, in a build without libasf_stdio and libasf_unix:
 * they fail.
 */
#include "interfaces/command/command.h"

int asf__run(int argc, char **argv) {
    (void)argc;
    asf__fail("%s: this build of asf lacks libasf_stdio and libasf_unix; build asf with ASF_STDIO=ON",
              argv[0]);
}

int asf__pipeline(int argc, char **argv) {
    return asf__run(argc, argv);
}

int asf__parallel(int argc, char **argv) {
    return asf__run(argc, argv);
}

int asf__stat(int argc, char **argv) {
    return asf__run(argc, argv);
}

int asf__compare(int argc, char **argv) {
    return asf__run(argc, argv);
}
