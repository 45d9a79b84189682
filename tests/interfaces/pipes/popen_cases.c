/* SPDX-License-Identifier: MIT
 *
 * popen_cases.c - popen and pclose, and what the caller sees of the child's end: the status, when pclose
 * returns, the error of a write, the bytes that arrived. Prints one line a case. The lines must be the
 * same with a ring and with a pipe alone.
 *   popen_cases ENDS      ENDS is the path of pipe_ends, a program that the library serves
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/interfaces/unix/lacking.h"

enum { LINE = 16 };

static const char *ends;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static FILE *start(const char *command, const char *mode) {
    FILE *f = popen(command, mode);
    if (!f) {
        fprintf(stderr, "popen_cases: popen: %s\n", strerror(errno));
        exit(3);
    }
    return f;
}

/* Returns the command with @ replaced by the path of pipe_ends. */
static const char *with_ends(const char *command) {
    static char text[4096];
    char *to = text;
    for (const char *p = command; *p && to < text + sizeof text / 2; p++)
        to += *p == '@' ? snprintf(to, 1024, "%s", ends) : snprintf(to, 2, "%c", *p);
    *to = '\0';
    return text;
}

static void tell_status(int status) {
    if (WIFSIGNALED(status))
        printf(", signal %d", WTERMSIG(status));
    else
        printf(", exit %d", status < 0 ? -1 : WEXITSTATUS(status));
}

/* --- reading ------------------------------------------------------------------------- */

/* A command. The case reads at most `most` bytes of its output, and prints their number and checksum. */
struct reading {
    const char *command;
    size_t most;
    double least; /* the least seconds for reading and pclose */
};

static void read_from(const struct reading *r) {
    double began = now();
    FILE *f = start(with_ends(r->command), "r");
    size_t n = 0;
    uint32_t sum = 0;
    for (int byte; n < r->most && (byte = getc(f)) != EOF; n++)
        sum = sum * 31 + (unsigned)byte;
    printf("r %s: %zu bytes, sum %08x", r->command, n, sum);
    tell_status(pclose(f));
    printf("%s\n", now() - began < r->least ? ", too early" : "");
}

static void reading(void) {
    static const struct reading cases[] = {
        {"exit 3", SIZE_MAX, 0},
        {"kill -9 $$", SIZE_MAX, 0},
        {"echo a; kill -9 $$", SIZE_MAX, 0},
        {"echo a; exec 1>&-; sleep 0.3; exit 4", SIZE_MAX, 0.3},
        {"sleep 0.3 & echo a", SIZE_MAX, 0.3}, /* a background child keeps the pipe open */
        {"sleep 0.3; echo late", 0, 0.3},
        {"nosuchcommand_", SIZE_MAX, 0},
        {"/tmp", SIZE_MAX, 0},
        {"seq 200000", SIZE_MAX, 0},
        {"seq 100000000", 1000, 0}, /* seq ends by SIGPIPE */
        {"yes", 100000, 0},
        {"trap '' PIPE; seq 100000000 2>/dev/null", 1000, 0},
        {"seq 20000; kill -9 $$", SIZE_MAX, 0},
        {"@ write stdio 50000", SIZE_MAX, 0},
        {"@ write stdio 50000; exit 7", SIZE_MAX, 0},
        {"@ write raw 50000; kill -15 $$", SIZE_MAX, 0},
        {"@ write raw 200000", 10 * LINE, 0},
        {"@ write large 200000", 10 * LINE, 0},
        {"@ stay killed 0 </dev/null", SIZE_MAX, 0},
        {"@ stay terminated 0 </dev/null", SIZE_MAX, 0},
        {"@ write fork 50000", SIZE_MAX, 0},
        {"@ write exec 50000", SIZE_MAX, 0},
        {"@ write dup 50000", SIZE_MAX, 0},
        {"@ write slow 2000", SIZE_MAX, 0},
        /* not two lines: musl writes the first line separately */
        {"@ write stdio 1 & @ write stdio 1; wait", LINE, 0},
        {"@ write stdio 10; sleep 0.3", 10 * LINE, 0.3},
        {"@ write raw 3000 | cat", SIZE_MAX, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        read_from(&cases[i]);
}

/* --- writing --------------------------------------------------------------------------- */

/* A command, and the number of lines written to it. */
struct writing {
    const char *command;
    unsigned lines;
    double least;  /* the least seconds for writing and pclose */
    double before; /* seconds before the first write */
    bool fails;    /* a write must fail; then the error is printed, but not the number of lines written */
};

static unsigned write_lines(FILE *f, unsigned n, int *error) {
    unsigned i = 0;
    *error = 0;
    while (i < n && *error == 0)
        *error = fprintf(f, "line %010u\n", i) == LINE ? (i++, 0) : errno;
    if (*error == 0 && fflush(f) != 0)
        *error = errno;
    return i;
}

static void write_to(const struct writing *w) {
    double began = now();
    int error;
    printf("w %s:", w->command);
    fflush(stdout); /* so that it precedes the child's output */
    FILE *f = start(with_ends(w->command), "w");
    usleep((useconds_t)(w->before * 1e6));
    unsigned n = write_lines(f, w->lines, &error);
    int status = pclose(f), after = errno;
    if (!w->fails || error == 0)
        printf(" %u lines", n);
    printf(" %s", error ? strerrorname_np(error) : "");
    tell_status(status);
    if (status < 0)
        printf(" %s", strerrorname_np(after));
    printf("%s\n", now() - began < w->least ? ", too early" : "");
    fflush(stdout);
}

static void writing(void) {
    static const struct writing cases[] = {
        {"exit 3", 0, 0, 0, false},
        {"exit 3", 1, 0, 0.2, true}, /* the command has ended before the write */
        {"cat >/dev/null; exit 5", 50000, 0, 0, false},
        {"cat >/dev/null; sleep 0.3", 10, 0.3, 0, false},
        {"cat | cksum", 50000, 0, 0, false},
        {"kill -9 $$", 100000, 0, 0, true},
        {"head -c 10 >/dev/null; sleep 0.2", 100000, 0.2, 0, true},
        {"head -c 10; echo; sleep 0.3; exit 6", 100, 0.3, 0, false}, /* fits into the pipe, and is not read */
        {"exec 0<&-; sleep 0.3; exit 6", 10, 0.3, 0.1, true},
        {"sleep 0.3", 100, 0.3, 0, false},
        {"sleep 0.3", 100000, 0.3, 0, true}, /* the write waits until the command has ended */
        {"@ read stdio | cksum", 50000, 0, 0, false},
        {"@ read raw | cksum", 50000, 0, 0, false},
        {"@ read raw >/dev/null; exit 7", 50000, 0, 0, false},
        {"@ read part | cksum", 100000, 0, 0, true},
        {"@ read part >/dev/null", 6250, 0, 0, false},
        {"@ read exec | cksum", 100000, 0, 0, false},
        {"@ read fork | cksum", 100000, 0, 0, false},
        {"@ read poll | cksum", 100000, 0, 0, false},
        {"@ read slow | cksum", 50000, 0, 0, false},
        {"@ stay sleep 300", 100, 0.3, 0, false}, /* a served program that never reads */
        {"@ stay sleep 300", 100000, 0.3, 0, true},
        {"@ stay once 300", 100, 0.3, 0, false}, /* a served program that reads once */
        {"@ stay once 300", 500000, 0.3, 0, true},
        {"@ stay killed 300", 500000, 0.3, 0, true},
        {"@ stay closes 300", 500000, 0.3, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        write_to(&cases[i]);
}

/* SIGPIPE ends the writer, so a child process writes. */
static void killed_by_pipe(const char *command) {
    printf("SIGPIPE %s:", command);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        FILE *f = start(with_ends(command), "w");
        for (unsigned i = 0; i < 1000000; i++)
            fprintf(f, "line %010u\n", i);
        _exit(9);
    }
    int status;
    waitpid(child, &status, 0);
    tell_status(status);
    putchar('\n');
}

/* The second child must not inherit the stream to the first child, which would then see no end of file. */
static void two_at_once(void) {
    FILE *to = start(with_ends("@ read raw | cksum"), "w");
    FILE *from = start(with_ends("@ write raw 100000"), "r");
    char line[64];
    for (int i = 0; i < 50000 && fgets(line, sizeof line, from); i++)
        fputs(line, to);
    fflush(stdout);
    int first = pclose(to);
    while (fgets(line, sizeof line, from))
        continue;
    int second = pclose(from);
    printf("two:");
    tell_status(first);
    tell_status(second);
    putchar('\n');
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    ends = argv[1];
    alarm(60);
    signal(SIGPIPE, SIG_DFL);
    reading();
    signal(SIGPIPE, SIG_IGN);
    writing();
    killed_by_pipe("exit 3");
    killed_by_pipe("@ read part >/dev/null");
    killed_by_pipe("@ stay once 100");
    two_at_once();
    return fflush(stdout) ? 2 : 0;
}
