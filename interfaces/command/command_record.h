/* SPDX-License-Identifier: MIT
 *
 * command_record.h - what the parts of "asf record" share.
 */
#ifndef ASF_COMMAND_RECORD_H
#define ASF_COMMAND_RECORD_H

#include <asf/record.h>
#include <asf/record_store.h>

#include "interfaces/command/command.h"

/* What the options say of the input. */
struct record_source {
    const char *store; /* a directory, or NULL */
    size_t footprint;  /* for formats; 0: what the library takes */
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

/* asf__record_open: a file, or standard input for "-".  Ends with a message when it
 * cannot be opened.
 *   flush    called with `arg` before the command waits for a pipe, a terminal or the like:
 *            what has been printed is to be seen by then */
struct record_input asf__record_open(const char *subcommand, const char *file,
                                     const struct record_source *source, void (*flush)(void *arg), void *arg);

/* asf__record_flush_stdout: such a function, for what is printed; `unused` is NULL. */
void asf__record_flush_stdout(void *unused);

/* asf__record_open_waiting: a stream of such input.  It owns the descriptor, which may be
 * negative, with the reason in errno. */
struct asf_cios *asf__record_open_waiting(int fd, void (*flush)(void *arg), void *arg, int *error);

/* asf__record_close: `rc` is what asf_record_next ended with.
 * returns  0; after a message 1 when the records are broken, and what came before
 *          was good, or EXIT_OWN_FAILURE. */
int asf__record_close(const char *subcommand, struct record_input *in, int rc);

#endif
