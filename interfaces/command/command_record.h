/* SPDX-License-Identifier: MIT
 *
 * command_record.h - declarations that the files of "asf record" share.
 */
#ifndef ASF_COMMAND_RECORD_H
#define ASF_COMMAND_RECORD_H

#include <asf/record.h>
#include <asf/record_store.h>

#include "interfaces/command/command.h"

/* The input as the options describe it. */
struct record_source {
    const char *store; /* a directory, or NULL */
    size_t footprint;  /* most memory for formats; 0: the library's default */
};

/* The records of a file, or of standard input. */
struct record_input {
    const char *name;
    struct asf_cios *stream;
    struct asf_record_reader *reader;
    struct asf_record_store *store; /* or NULL */
};

/* Each subcommand: argv[0] is its name; returns the exit status. */
int asf__record_formats(int argc, char **argv);
int asf__record_dump(int argc, char **argv);
int asf__record_convert(int argc, char **argv);

/* asf__record_open: open a file, or standard input for "-".  Ends the process with a message on failure.
 *   flush  called with `arg` before the command waits for input from a pipe or terminal, so that a reader
 *          sees the output so far */
struct record_input asf__record_open(const char *subcommand, const char *file,
                                     const struct record_source *source, void (*flush)(void *arg), void *arg);

/* asf__record_flush_stdout: a `flush` function for standard output; `unused` is NULL. */
void asf__record_flush_stdout(void *unused);

/* asf__record_open_waiting: open a stream that calls `flush` before it waits.  The stream owns the
 * descriptor.  A negative `fd` fails with errno. */
struct asf_cios *asf__record_open_waiting(int fd, void (*flush)(void *arg), void *arg, int *error);

/* asf__record_close: close the input, after asf_record_next ended with `rc`.
 * returns  0; or after a message 1 if the records are broken but the earlier ones were good, else
 *          EXIT_OWN_FAILURE */
int asf__record_close(const char *subcommand, struct record_input *in, int rc);

#endif
