/* SPDX-License-Identifier: MIT
 *
 * command_report.h - the library's report on the streams of a command and its children.
 */
#ifndef ASF_COMMAND_REPORT_H
#define ASF_COMMAND_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "interfaces/command/command.h"

/* A stream of a process, or a descriptor that the program uses without stdio. */
struct stream_report {
    const char *program, *name, *module, *why;
    long process;
    uint64_t in, out;     /* bytes */
    uint64_t calls, free; /* free: calls that needed no system call */
    uint64_t syscalls;
    int64_t libc; /* system calls that libc would have made; -1: libc has no such stream */
};

struct report {
    size_t count;
    struct stream_report *streams;
    const char *obstacle; /* why the command cannot be served; or NULL */
    const char *command;
    bool unix_io, decompress, exact; /* the options it was served with */
    bool compared;                   /* 'asf compare' has measured the command already */
    int status;                      /* wait status of the command */
};

/* asf__report_program: run the program served and counted.
 * returns  false, after a message, if the program cannot be executed; r->status then has the status for
 * that */
bool asf__report_program(const struct program *program, char **argv, const struct serving *s,
                         struct report *r);
/* asf__report_print, asf__report_json: write the report as text, or as JSON. */
void asf__report_print(const struct report *r, FILE *to);
void asf__report_json(const struct report *r, FILE *to);
/* asf__digits: format a number in groups of three digits; "-" if it is negative. */
struct digits {
    char text[32];
};
struct digits asf__digits(int64_t n);
/* asf__advice: returns one sentence of advice, judged by the counts. */
const char *asf__advice(const struct report *r);

#endif
