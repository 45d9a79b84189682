/* SPDX-License-Identifier: MIT
 *
 * stats.h - statistics of each stream, and how they are reported.
 */
#ifndef ASF_LIB_STATS_H
#define ASF_LIB_STATS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct asf_stats {
    uint64_t in, out;  /* bytes moved by the kernel or mapped */
    uint64_t calls;    /* calls of an interface, counted only with stats on */
    uint64_t syscalls; /* system calls on the stream's data */
    int64_t spared; /* system calls that libc would have made in addition; negative: the stream made more than
                       libc */
    uint64_t in_before, out_before; /* the part of `in` and `out` that the parent process moved */
    uint64_t reported;              /* in + out when last reported, plus one */
    uint64_t bulk;                  /* bytes moved when the stream first became bulk; 0: it never did */
    bool as_libc;                   /* `spared` is counted: libc has the same stream */
};

/* asf__counting: whether statistics are on; every call then takes the counted path. */
extern bool asf__counting;
struct asf_stats_line {
    const char *stream, *module, *why;
    const struct asf_stats *stats;
};

/* asf__stats_start: read the options; runs once, when the library starts. */
void asf__stats_start(void);
/* asf__stats_open: open a file to append a report.  Neither the open nor a write waits: a FIFO without a
 * reader is an error.  Of symbolic links it follows only a process's links to its descriptors: another user
 * may have made others.
 * returns  a descriptor, or -errno */
int asf__stats_open(const char *path);
void asf__stats_line(const struct asf_stats_line *line);
/* asf__stats_verbose: report the module of a stream when it is chosen.  Not inlined: its buffer would
 * be on the stack of each stream's first call, and a thread with the smallest stack has no room for
 * it. */
__attribute__((noinline)) void asf__stats_verbose(const char *stream, const char *module, const char *why);

#pragma GCC visibility pop

#endif
