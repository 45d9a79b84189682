/* SPDX-License-Identifier: MIT
 *
 * program.c - starts and ends an example program.
 */
#include "examples/common/program.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failure_status;
static bool stdin_named;

/* Report write errors when the program exits.  A standard output that was closed from the start is an error
 * only if the program has printed something. */
static void close_stdout(void) {
    bool pending = __fpending(stdout) != 0;
    bool failed = ferror(stdout) != 0;
    bool close_failed = fclose(stdout) != 0;
    if (failed || (close_failed && (pending || errno != EBADF))) {
        error(0, close_failed ? errno : 0, "write error");
        _exit(failure_status);
    }
}

void program_start(char **argv, const char *name, int failure) {
    /* In their messages getopt_long prints argv[0], and error() prints program_invocation_name. */
    argv[0] = program_invocation_name = (char *)name;
    failure_status = failure;
    setlocale(LC_ALL, "");
    atexit(close_stdout);
}

void program_try_help(void) {
    fprintf(stderr, "Try '%s --help' for more information.\n", program_invocation_name);
    exit(failure_status);
}

void program_usage(const char *text) {
    fputs(text, stdout);
    exit(EXIT_SUCCESS);
}

int program_threads(const char *text) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || number > INT_MAX) {
        error(0, 0, "invalid number of threads: '%s'", text);
        program_try_help();
    }
    return (int)number;
}

bool is_stdin(const char *operand) {
    bool is = strcmp(operand, "-") == 0;
    stdin_named |= is;
    return is;
}

bool program_close_stdin(const char *message) {
    if (!stdin_named || close(STDIN_FILENO) == 0)
        return true;
    error(0, errno, "%s", message);
    return false;
}
