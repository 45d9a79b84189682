/* SPDX-License-Identifier: MIT
 *
 * run_command.c - a program that executes the command in its arguments, as env(1) does.
 */
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc > 1)
        execvp(argv[1], argv + 1);
    return 127;
}
