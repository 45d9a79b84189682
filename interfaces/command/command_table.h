/* SPDX-License-Identifier: MIT
 *
 * command_table.h - the table of subcommands and their options.  getopt_long's options, the help, the
 * suggestions and the shells' completions are made from it.
 */
#ifndef ASF_COMMAND_TABLE_H
#define ASF_COMMAND_TABLE_H

#include <getopt.h>

/* The operands after a subcommand's options, for completion. */
enum operands { NO_OPERANDS, A_COMMAND, FILES, LABELS, COMMAND_NAMES, SHELLS };

struct command_option {
    char value; /* what getopt_long returns; 0 ends the list */
    const char *name;
    const char *argument; /* NULL: none; "=ARGUMENT": optional */
    const char *text;
};

struct command {
    const char *name;    /* "run", "shm ls"; NULL ends the table */
    const char *usage;   /* the usage line after the name */
    const char *summary; /* one line, for the list of commands */
    const char *description, *epilog;
    const struct command_option *options; /* without --help, which every command has */
    enum operands operands;
};

struct command_key {
    const char *name, *values, *text; /* text: NULL for keys that the help leaves out */
};

extern const struct command asf__commands[];
extern const struct command_key asf__keys[]; /* ends with a null name */

/* asf__command: returns the command of this name, or NULL. */
const struct command *asf__command(const char *name);
/* asf__options_of: returns a command's options for getopt_long; valid until the next call. */
const struct option *asf__options_of(const char *name);
/* asf__help_of: print the help of a command, or of asf if the name is NULL.  Returns the exit status. */
int asf__help_of(const char *name);
/* asf__option_text: returns an option as the help shows it: "--buffer SIZE". */
const char *asf__option_text(const struct command_option *option);
/* asf__suggestion: returns "; did you mean 'NAME'?" for a subcommand of `group` one letter away from the
 * word, or "".  `group` is "shm" or "record", or "" for asf's own subcommands. */
const char *asf__suggestion(const char *group, const char *word);
/* asf__is_one_edit: returns whether the words differ by one letter added, missing, changed or swapped with
 * its neighbour. */
int asf__is_one_edit(const char *a, const char *b);
/* asf__check_keys: fail unless the library knows the key and accepts the value of each option in the list. */
void asf__check_keys(const char *command, const char *options);
/* asf__drop_unusable_options: remove unusable options from ASF_OPTIONS.  They were reported when this process
 * started, and each program would report them again. */
void asf__drop_unusable_options(void);
/* asf__completion: "asf completion". */
int asf__completion(int argc, char **argv);

#endif
