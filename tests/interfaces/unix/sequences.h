/* SPDX-License-Identifier: MIT
 *
 * sequences.h - random sequences of Unix I/O and stdio on the descriptors 0 to 5, shared by the files of
 * the program unix_sequences.
 *
 * A seed determines a plan: an array of steps, each with a kind and its own random words. Steps of a child
 * process follow the step that starts it. The effect of a step depends on its words and on the results of
 * earlier calls, so any step can be omitted.
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

/* Where a kind of step may occur. */
enum {
    SAFE = 1,   /* in the child of a vfork or in a signal handler: uses neither stdio nor malloc */
    PARENT = 2, /* a child process runs the steps that follow it */
    SLOW = 4,   /* in one of five plans: starts a program */
    TOP = 8,    /* only in the first process */
};

struct step {
    const struct kind *kind;
    unsigned children; /* the number of steps after it that its child runs */
    bool threaded;     /* runs in a separate thread */
    uint32_t word[WORDS];
};

struct kind {
    const char *name;
    void (*run)(const struct step *s);
    unsigned weight;
    unsigned traits;
};

/* Each array ends with an entry without a name. Only plans of seeds from BULK_SEEDS on contain bulk_kinds. */
extern const struct kind descriptor_kinds[], stdio_kinds[], process_kinds[], bulk_kinds[];

/* Seeds of plans with bulk streams. They are for a library that makes a stream a bulk stream after few
 * blocks. */
#define BULK_SEEDS (UINT64_C(1) << 40)
bool is_bulk_plan(void);
/* The library notices calls on a stream's own number. Before other changes to the stream's file,
 * asf_stdio(7) requires calls of the program; in a plan of bulk streams these functions make them:
 *
 * publish         a child that does nothing
 * publish_others  fileno, for streams on the same file as `number`, but not on this number
 * publish_path    fileno, for streams on the file of the path, which is about to change */
void publish(void);
void publish_others(int number);
void publish_path(const char *path);

#define COUNT(array)      (sizeof(array) / sizeof *(array))
#define PICK(array, word) ((array)[(word) % COUNT(array)])

/* number_of: returns one of 0 to 5, half of the time the plan's favourite, after publish_others. path_of:
 * returns the path of a file. */
int number_of(uint32_t word);
const char *path_of(uint32_t word);

/* say: writes to the log, which all processes of a sequence share in memory, without a system call. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* say_result: also writes errno if the result is negative. returns  the result. */
long say_result(const char *what, long result);
void say_bytes(const char *bytes, size_t n);

/* RESULT: sets errno to 0, evaluates a call, and logs its result. */
#define RESULT(what, call) (errno = 0, say_result(what, (long)(call)))

/* fill: writes n letters that differ between steps. */
void fill(char *p, size_t n, uint32_t word);
/* keep_low: closes a descriptor above 5, so that few are in use. returns  the descriptor, or -1. */
int keep_low(int fd);

/* The current process: its steps end before `end`; then it ends as `ending` says. */
struct range {
    unsigned at, end;
    uint32_t ending;
};
extern struct range range;
extern bool in_child; /* started by fork or clone */
void run_steps(unsigned from, unsigned to);
/* set_alarm: a process that deadlocks ends after some seconds. */
void set_alarm(void);
/* run_child: in a child process, runs the steps after s, and ends the process; if `safe`, by _exit. */
void run_child(const struct step *s, bool safe) __attribute__((noreturn));
/* arguments_from: returns the command line of a program that runs the steps from `at` to before `end`. */
char **arguments_from(unsigned at, unsigned end, uint32_t ending);
extern const char *program;

static inline long raw(long number, long a, long b, long c, long d) {
    return asf__raw(number, a, b, c, d);
}

#endif
