/* SPDX-License-Identifier: MIT
 *
 * command_tune.h - what the parts of "asf tune" share.
 */
#ifndef ASF_COMMAND_TUNE_H
#define ASF_COMMAND_TUNE_H

#include <stdio.h>

#include "interfaces/command/command_measure.h"
#include "lib/sys/costs.h"

/* A table, with all that stands in its file. */
struct table {
    const char *path;
    char library[192], kernel[192], processor[192], measured[192];
    struct asf_costs costs;
    size_t count;
    struct place places[MOST_PLACES]; /* one named "pipe" is for pipes */
};

/* asf__tune_identify: the library, the kernel and the processor as they are. */
void asf__tune_identify(struct table *table);
/* asf__tune_conclude: the values that follow from what was measured. */
void asf__tune_conclude(struct table *table);

/* asf__tune_write: into its file, by way of a temporary one; ends with a message
 * when that fails. */
void asf__tune_write(const struct table *table);
/* asf__tune_read: the file.  returns  as asf__costs_load. */
int asf__tune_read(struct table *table, const char *path);

/* asf__tune_print, asf__tune_print_json: on standard output. */
void asf__tune_print(const struct table *table);
void asf__tune_print_json(const struct table *table);

/* asf__tune_stale: what has changed since, in words to be freed, or NULL. */
char *asf__tune_stale(const struct table *table);

#endif
