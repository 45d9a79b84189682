/* SPDX-License-Identifier: MIT
 *
 * command_measure.h - measures what transferring bytes costs on this machine, for "asf tune".
 */
#ifndef ASF_COMMAND_MEASURE_H
#define ASF_COMMAND_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_MEASUREMENTS = 48, MAX_TARGETS = 6 };

/* The best rate of a few rounds, in bytes per second, of one method in chunks of `size` bytes. */
struct measurement {
    const char *method;
    size_t size;
    double rate;
};

/* A target of a measurement: a file system, named by a directory on it, or pipes. */
struct target {
    const char *directory;
    uint64_t type; /* statfs's f_type; 0: pipes */
    char name[32]; /* ext4, tmpfs, ... */
    size_t map_min;
    bool clones; /* files can share blocks */
    size_t count;
    struct measurement measurements[MAX_MEASUREMENTS];
};

/* The state of the measurement, and its progress line. */
struct progress {
    double end;   /* CLOCK_MONOTONIC, seconds: after it each method is measured only once */
    size_t bytes; /* size of the file that is read and written */
    int rounds;
    size_t done, total; /* steps done, and all steps */
    void (*report)(const struct progress *progress, const char *what);
};

/* Steps of the progress line, for one file system and for pipes. */
enum { FILE_SYSTEM_STEPS = 8, PIPE_STEPS = 2 };

double asf__seconds(void);

/* asf__measure_file_system: fill in the measurements; the time limit can leave some out.
 * returns  0, or a negated errno value if no file can be made; -ENOSPC if there is no room for 4 MB */
int asf__measure_file_system(struct target *target, struct progress *progress);
/* asf__measure_pipes: measure copying a file to pipes of several sizes. */
int asf__measure_pipes(struct target *target, struct progress *progress);

/* asf__rate: returns the rate of a method with a size; 0: not measured. */
double asf__rate(const struct target *target, const char *method, size_t size);
/* asf__best_size: returns the smallest size, from `least` up, whose rate is within 3 % of the best; 0: none
 * was measured. */
size_t asf__best_size(const struct target *target, const char *method, size_t least);

#endif
