/* SPDX-License-Identifier: MIT
 *
 * offsets_cases.c - calls that use or share the offset of a descriptor, or close or duplicate
 * its number, and that a program seldom makes; each after small reads, which may have made the
 * descriptor private.
 * Layer: tests.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <pty.h>
#include <sys/wait.h>

enum { LINES = 100000, LINE = 10 };

/* A file of numbered lines, 1 MB: large enough that a window is opened by default. */
static void put_numbers(const char *path) {
    char *text = malloc(LINES * LINE + 1);
    for (int i = 0; i < LINES; i++)
        snprintf(text + (size_t)i * LINE, LINE + 1, "%09d\n", i);
    put_file(path, text, LINES * LINE);
    free(text);
}

static int open_read(const char *path, int flags) {
    char line[LINE];
    put_numbers(path);
    int fd = CALL(open(path, flags));
    for (int i = 0; i < 200; i++)
        read(fd, line, LINE);
    return fd;
}

static void note_next(int fd) {
    char line[LINE + 1] = "";
    CALL(read(fd, line, LINE));
    say("  %q", line);
}

static void in_child_of(pid_t (*start)(void), int fd) {
    pid_t child = start();
    if (child == 0) {
        note_next(fd);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    note_next(fd);
}

/* --- processes ----------------------------------------------------------------------------- */

extern pid_t libcs_fork(void) __asm__("__fork");

CASE(forked) {
    int fd = open_read("data", O_RDONLY);
    in_child_of(fork, fd);
    in_child_of(libcs_fork, fd);
}

/* Before anything was private. */
static void fork_early(pid_t (*start)(void)) {
    int ends[2];
    char line[LINE];
    put_numbers("data");
    pipe(ends);
    int fd = CALL(open("data", O_RDONLY));
    pid_t child = start();
    if (child == 0) {
        read(ends[0], line, 1);
        note_next(fd);
        _exit(0);
    }
    for (int i = 0; i < 200; i++)
        read(fd, line, LINE);
    write(ends[1], "x", 1);
    waitpid(child, NULL, 0);
    note_next(fd);
}

CASE(forked_before_the_first_read) {
    fork_early(fork);
}

CASE(in_a_terminal_of_its_own) {
    int fd = open_read("data", O_RDONLY), terminal;
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child == 0) {
        note_next(fd);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    note_next(fd);
}

CASE(a_daemon) {
    int fd, done[2];
    char byte;
    pipe(done);
    close(0);
    open_read("data", O_RDONLY);
    if (fork() == 0) {
        fd = open_read("other", O_RDONLY);
        if (daemon(1, 0) == 0) {
            note_next(0);
            note_next(fd);
        }
        _exit(0);
    }
    close(done[1]);
    read(done[0], &byte, 1);
}
