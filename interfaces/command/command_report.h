/* SPDX-License-Identifier: MIT
 *
 * command_report.h - what the library reported of the streams of a command and its children.
 */
#ifndef ASF_COMMAND_REPORT_H
#define ASF_COMMAND_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "interfaces/command/command.h"

/* A stream of a process, or a descriptor that the program reads and writes by itself. */
struct reported {
    const char *program, *name, *module, *why;
    long process;
    uint64_t in, out;     /* bytes */
    uint64_t calls, free; /* those that needed no system call */
    uint64_t syscalls;
    int64_t libc; /* system calls that libc would have made; -1: it has no such stream */
};

struct report {
    size_t count;
    struct reported *streams;
    const char *obstacle; /* why the command could not be served; or NULL */
    const char *command;
    bool unix_io, decompress, exact; /* it was served with these options */
    bool compared;                   /* 'asf compare' has measured it already */
    int status;                      /* of the command, as wait has it */
};

/* asf__report_program: run the program served and counted.  returns  false: it cannot be run, after a
 * message; the status is the one for that. */
bool asf__report_program(char **argv, const struct serving *s, struct report *r);
/* asf__report_print, asf__report_json: for people, and for programs. */
void asf__report_print(const struct report *r, FILE *to);
void asf__report_json(const struct report *r, FILE *to);
/* asf__digits: a number in groups of three digits; "-" if it is negative. */
struct digits {
    char text[32];
};
struct digits asf__digits(int64_t n);
/* asf__advice: one sentence, by what was counted. */
const char *asf__advice(const struct report *r);

#endif
