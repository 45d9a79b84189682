/* SPDX-License-Identifier: MIT
 *
 * command_tune.h - declarations that the files of "asf tune" share.
 */
#ifndef ASF_COMMAND_TUNE_H
#define ASF_COMMAND_TUNE_H

#include <stdio.h>

#include "interfaces/command/command_measure.h"
#include "lib/sys/costs.h"

/* A table with all the contents of its file. */
struct table {
    const char *path;
    char library[192], kernel[192], processor[192], measured[192];
    struct asf_costs costs;
    size_t count;
    struct target targets[MAX_TARGETS]; /* the one named "pipe" has the measurements of pipes */
};

/* asf__tune_identify: store the versions of the library and the kernel, the processor's name and the time. */
void asf__tune_identify(struct table *table);
/* asf__tune_compute_settings: compute the settings from the measurements. */
void asf__tune_compute_settings(struct table *table);

/* asf__tune_write: write a temporary file, then rename it to table->path.  Ends the process with a message on
 * failure. */
void asf__tune_write(const struct table *table);
/* asf__tune_read: read a table's file.  Returns what asf__costs_load returns, or another negated errno
 * value. */
int asf__tune_read(struct table *table, const char *path);

/* asf__tune_print, asf__tune_print_json: print the table on standard output. */
void asf__tune_print(const struct table *table);
void asf__tune_print_json(const struct table *table);

/* asf__tune_stale: returns the change of the machine or library since the table was made, in words to free;
 * NULL: no change. */
char *asf__tune_stale(const struct table *table);

#endif
