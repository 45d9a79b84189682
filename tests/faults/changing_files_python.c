/* SPDX-License-Identifier: MIT
 *
 * changing_files_python.c - a changing file, read by the Python module: runs changing_files.py.
 *     PROGRAM FOLDER PYTHON SCRIPT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/faults/changing_files.h"

static char *python, *script;

/* Exit status 1 of the script: it has printed the failure. */
static void run_script(const char *path) {
    char seed[32];
    snprintf(seed, sizeof seed, "%lu", (unsigned long)any(1 << 30));
    change_at_any_time();
    set_signals_now();
    execl(python, python, "-B", script, path, still_file(), seed, may_be_cut() ? "cut" : "",
          may_be_zero() ? "zero" : "", pages_of_zeros(), (char *)NULL);
    fail_at(-1, "%s: %s", python, strerror(errno));
}

int main(int argc, char **argv) {
    static const struct changing_reader reader = {"python", run_script};
    if (argc != 4)
        return 2;
    python = argv[2];
    script = argv[3];
    return changing_files(2, argv, &reader, 1);
}
