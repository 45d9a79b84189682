/* SPDX-License-Identifier: MIT
 *
 * command_measure.h - measures what transferring bytes costs on this machine, for "asf tune".
 */
#ifndef ASF_COMMAND_MEASURE_H
#define ASF_COMMAND_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_FIGURES = 48, MOST_PLACES = 6 };

/* The best rate of a few rounds, in bytes per second, of one way in pieces of `size` bytes. */
struct figure {
    const char *way;
    size_t size;
    double rate;
};

/* A file system, named by a directory on it. */
struct place {
    const char *directory;
    uint64_t type; /* statfs's f_type */
    char name[32]; /* ext4, tmpfs, ... */
    size_t map_min;
    bool clones; /* files can share blocks */
    size_t count;
    struct figure figures[MOST_FIGURES];
};

/* The state of the measurement, and its progress line. */
struct course {
    double end;   /* CLOCK_MONOTONIC, seconds: no step starts later */
    size_t bytes; /* size of the file that is read and written */
    int rounds;
    size_t done, total; /* steps done, and all steps */
    void (*show)(const struct course *course, const char *what);
};

/* Steps of the progress line, for one file system and for pipes. */
enum { PLACE_STEPS = 8, PIPE_STEPS = 2 };

double asf__seconds(void);

/* asf__measure_place: fill in the figures; the time limit can leave some out.
 * returns  0, or a negated errno value if no file can be made; -ENOSPC if there is no room for 4 MB */
int asf__measure_place(struct place *place, struct course *course);
/* asf__measure_pipes: measure copying a file to pipes of several sizes. */
int asf__measure_pipes(struct place *place, struct course *course);

/* asf__rate: returns the rate of a way with a size; 0: not measured. */
double asf__rate(const struct place *place, const char *way, size_t size);
/* asf__best_size: returns the smallest size, from `least` up, whose rate is within 3 % of the best; 0: none
 * was measured. */
size_t asf__best_size(const struct place *place, const char *way, size_t least);

#endif
