/* SPDX-License-Identifier: MIT
 *
 * command_measure.h - what moving bytes costs on this machine, for "asf tune".
 */
#ifndef ASF_COMMAND_MEASURE_H
#define ASF_COMMAND_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_FIGURES = 48, MOST_PLACES = 6 };

/* Bytes a second of one way in pieces of one size, the best of a few rounds. */
struct figure {
    const char *way;
    size_t size;
    double rate;
};

/* A file system, by a directory on it. */
struct place {
    const char *directory;
    uint64_t type; /* statfs's f_type */
    char name[32]; /* ext4, tmpfs, ... */
    size_t map_min;
    bool clones; /* files can share blocks */
    size_t count;
    struct figure figures[MOST_FIGURES];
};

/* What is still to be done, and the line that tells of it. */
struct course {
    double end;   /* CLOCK_MONOTONIC, seconds: later steps are left out */
    size_t bytes; /* of the file that is read and written */
    int rounds;
    size_t done, total; /* steps */
    void (*show)(const struct course *course, const char *what);
};

/* Steps of a course: what a place is measured by, and what pipes are. */
enum { PLACE_STEPS = 8, PIPE_STEPS = 2 };

double asf__seconds(void);

/* asf__measure_place: fill in the figures; those there was no time for are
 * missing.  returns  0, or a negated errno value when no file can be made, -ENOSPC
 * for one of less than 4 MB. */
int asf__measure_place(struct place *place, struct course *course);
/* asf__measure_pipes: of a file into a pipe that is made to hold `size`. */
int asf__measure_pipes(struct place *place, struct course *course);

/* asf__rate: of a way with a size; 0 where it was not measured. */
double asf__rate(const struct place *place, const char *way, size_t size);
/* asf__best_size: the smallest size of `least` or more that is within 3 of 100
 * of the best; 0: none was measured. */
size_t asf__best_size(const struct place *place, const char *way, size_t least);

#endif
