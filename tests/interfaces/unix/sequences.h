/* SPDX-License-Identifier: MIT
 *
 * sequences.h - random sequences of Unix I/O and stdio on the descriptors 0 to 5: what the files
 * of the program unix_sequences share.
 *
 * A seed gives a plan: an array of steps, each of a kind and with random words of its own.  A step
 * whose kind has children is followed by the steps of its child process.  What a step does depends
 * on its words and on what the calls before it returned, so that steps can be left out.
 */
#ifndef ASF_TESTS_SEQUENCES_H
#define ASF_TESTS_SEQUENCES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "lib/sys/machine.h"
#include "tests/interfaces/unix/lacking.h"

enum { NUMBERS = 6, WORDS = 8, MOST_STEPS = 200, ROOM = 1 << 16, INHERITED = 30, INHERITED_COUNT = 3 };

/* What a kind of step may be part of. */
enum {
    SAFE = 1,   /* the child of a vfork, or a handler of a signal: neither stdio nor malloc */
    PARENT = 2, /* a child process runs the steps that follow it */
    SLOW = 4,   /* one in five plans: it starts a program */
    TOP = 8,    /* not in a child process */
};

struct step {
    const struct kind *kind;
    unsigned children; /* steps behind it that its child runs */
    bool threaded;     /* in a thread of its own */
    uint32_t word[WORDS];
};

struct kind {
    const char *name;
    void (*run)(const struct step *s);
    unsigned weight;
    unsigned traits;
};

/* Each ends with an entry without a name.  Those of bulk_kinds are in plans of BULK_SEEDS and more alone. */
extern const struct kind descriptor_kinds[], stdio_kinds[], process_kinds[], bulk_kinds[];

/* Plans of streams that become bulk.  A library for which few blocks are enough is tried with them. */
#define BULK_SEEDS (UINT64_C(1) << 40)
bool is_bulk_plan(void);
/* The library sees what is done to a stream's own number.  The others do, in a plan of bulk streams, what
 * asf_stdio(7) asks of the program before anything else is done to the stream's file:
 *
 * publish         a child that does nothing
 * publish_others  fileno, for streams whose file is that of `number`, which is not theirs
 * publish_path    fileno, for streams whose file is that of the path, which is to be changed */
void publish(void);
void publish_others(int number);
void publish_path(const char *path);

#define COUNT(array)      (sizeof(array) / sizeof *(array))
#define PICK(array, word) ((array)[(word) % COUNT(array)])

/* number_of: one of 0 to 5, every other time the plan's favourite; after publish_others.  path_of: of a file.
 */
int number_of(uint32_t word);
const char *path_of(uint32_t word);

/* say: to the log, which all processes of a sequence share and no system call writes. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* say_result: with errno if it is negative.  returns  it. */
long say_result(const char *what, long result);
void say_bytes(const char *bytes, size_t n);

/* RESULT: evaluates a call with errno 0 before it, and says what it returned. */
#define RESULT(what, call) (errno = 0, say_result(what, (long)(call)))

/* fill: n letters that differ from one step to the next. */
void fill(char *p, size_t n, uint32_t word);
/* keep_low: closes a descriptor above 5, so that few are in use.  returns  it, or -1. */
int keep_low(int fd);

/* The process that runs now: its steps end before `end`, and then it ends as `ending` says. */
struct range {
    unsigned at, end;
    uint32_t ending;
};
extern struct range range;
extern bool in_child; /* by fork or clone */
void run_steps(unsigned from, unsigned to);
/* set_alarm: a process that waits for itself ends after some seconds. */
void set_alarm(void);
/* run_child: in a child process: the steps behind s, and the end.  `safe`: by _exit. */
void run_child(const struct step *s, bool safe) __attribute__((noreturn));
/* arguments_from: the command line of a program that runs the steps from `at` to before `end`. */
char **arguments_from(unsigned at, unsigned end, uint32_t ending);
extern const char *program;

static inline long raw(long number, long a, long b, long c, long d) {
    return asf__raw(number, a, b, c, d);
}

#endif
