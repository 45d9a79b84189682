/* SPDX-License-Identifier: MIT
 *
 * stats.h - what each stream did, and how it is told.
 */
#ifndef ASF_LIB_STATS_H
#define ASF_LIB_STATS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct asf_stats {
    uint64_t in, out;               /* bytes moved by the kernel or mapped */
    uint64_t calls;                 /* calls of an interface, counted only with stats on */
    uint64_t syscalls;              /* made on the stream's data */
    int64_t spared;                 /* more that libc would have made; below 0: fewer */
    uint64_t in_before, out_before; /* of `in` and `out`, by the parent of this process */
    uint64_t told;                  /* bytes when they were reported, and one */
    uint64_t bulk;                  /* bytes moved when the stream first became bulk; 0: it never did */
    bool as_libc;                   /* `spared` is counted: the stream is one that libc has, too */
};

/* asf__counting: statistics are on; every call then takes the counted path. */
extern bool asf__counting;
struct asf_stats_line {
    const char *stream, *module, *why;
    const struct asf_stats *stats;
};

/* asf__stats_start: read the options; once, when the library starts. */
void asf__stats_start(void);
/* asf__stats_open: a file, to append a report to.  It waits for no reader of a FIFO, and what is
 * written does not wait for room.  It follows no link but those of a process to its descriptors:
 * somebody else may have put it there.
 * returns  a descriptor, or -errno */
int asf__stats_open(const char *path);
void asf__stats_line(const struct asf_stats_line *line);
/* asf__stats_verbose: say which module serves a stream, as it is chosen.  Never in line: a thread of the
 * least size has no room for its buffer, which would be on the stack of each stream's first call. */
__attribute__((noinline)) void asf__stats_verbose(const char *stream, const char *module, const char *why);

#pragma GCC visibility pop

#endif
