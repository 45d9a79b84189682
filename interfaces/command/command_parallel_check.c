/* SPDX-License-Identifier: MIT
 *
 * command_parallel_check.c - "asf parallel --check": tests whether a command prints the same if its input is
 * cut.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_measure.h"
#include "interfaces/command/command_parallel_check.h"

struct check_run {
    int output; /* a file */
    int status;
    double seconds;
};

static int execute_command(void *command) {
    char **argv = command;
    struct program program = asf__find_program(argv[0]);
    return asf__execute(&program, argv, &(struct serving){0});
}

static struct check_run run_timed(off_t begin, int (*function)(void *), void *argument) {
    struct check_run r = {.output = asf__temporary("parallel", NULL)};
    double began = asf__seconds();
    lseek(STDIN_FILENO, begin, SEEK_SET);
    pid_t child = fork();
    if (child < 0)
        asf__fail("parallel: fork: %s; end some processes", strerror(errno));
    if (child == 0) {
        dup2(r.output, STDOUT_FILENO);
        _exit(function(argument));
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    r.seconds = asf__seconds() - began;
    r.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return r;
}

static FILE *open_for_reading(int fd) {
    FILE *f = fdopen(fd, "r");
    if (!f)
        asf__fail("parallel: fdopen: %s", strerror(errno));
    rewind(f);
    return f;
}

/* returns  the number of the first line that differs; 0: no difference */
static uint64_t first_difference(int a, int b) {
    FILE *one = open_for_reading(a), *other = open_for_reading(b);
    uint64_t line = 1;
    for (int c, d; (c = getc(one)) == (d = getc(other)); line += c == '\n')
        if (c == EOF)
            return ferror(one) || ferror(other) ? line : 0;
    return line;
}

int asf__parallel_check(char **command, int (*cut)(void *), void *argument) {
    struct stat st;
    if (fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode))
        asf__fail("parallel: --check reads standard input twice; redirect it with <FILE");
    off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
    signal(SIGCHLD, SIG_DFL);
    struct check_run whole = run_timed(begin, execute_command, command),
                     pieces = run_timed(begin, cut, argument);
    uint64_t line = first_difference(whole.output, pieces.output);
    if (line > 0)
        printf("%s: different output from line %llu on: its input must not be divided like this\n",
               command[0], (unsigned long long)line);
    else if (whole.status != pieces.status)
        printf("%s: same output, but exit status %d for the whole input and %d in pieces\n", command[0],
               whole.status, pieces.status);
    else
        printf("%s: same output and exit status; %.2f s for the whole input, %.2f s in pieces\n", command[0],
               whole.seconds, pieces.seconds);
    int failed = asf__close_stdout();
    return failed ? failed : line > 0 || whole.status != pieces.status;
}
