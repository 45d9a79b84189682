/* SPDX-License-Identifier: MIT
 *
 * command_table.h - the subcommands and their options, in one table from which getopt_long's options,
 * the help, the suggestions and the shells' completions are made.
 */
#ifndef ASF_COMMAND_TABLE_H
#define ASF_COMMAND_TABLE_H

#include <getopt.h>

/* What may follow the options of a subcommand, for completion. */
enum operands { NO_OPERANDS, A_COMMAND, FILES, LABELS, COMMAND_NAMES, SHELLS };

struct command_option {
    char value; /* what getopt_long returns; 0 ends the list */
    const char *name;
    const char *argument; /* NULL: none; with '=' in front: it may be left out */
    const char *text;
};

struct command {
    const char *name;    /* "run", "shm ls"; NULL ends the table */
    const char *usage;   /* what follows the name */
    const char *summary; /* one line, for the list of commands */
    const char *about, *after;
    const struct command_option *options; /* --help is every command's, and not in it */
    enum operands operands;
};

struct command_key {
    const char *name, *values, *text; /* text: NULL if it is not for people */
};

extern const struct command asf__commands[];
extern const struct command_key asf__keys[]; /* up to one without a name */

/* asf__command: by its name; NULL: there is none. */
const struct command *asf__command(const char *name);
/* asf__options_of: for getopt_long; valid until the next call. */
const struct option *asf__options_of(const char *name);
/* asf__help_of: print its help, or with NULL that of asf.  returns  the exit status. */
int asf__help_of(const char *name);
/* asf__option_text: as the help has it, "--buffer SIZE". */
const char *asf__option_text(const struct command_option *option);
/* asf__suggestion: "; is NAME meant?", or "": no subcommand of `group` ("shm", or "" for asf's own) is
 * one letter away from the word. */
const char *asf__suggestion(const char *group, const char *word);
/* asf__close_words: whether they differ by one letter added, left out, changed or swapped. */
int asf__close_words(const char *a, const char *b);
/* asf__check_keys: fail unless the library knows the key of each option in the list. */
void asf__check_keys(const char *command, const char *options);
/* asf__drop_unusable_options: drop from ASF_OPTIONS what the library has reported as this process started, or
 * each program would report it again. */
void asf__drop_unusable_options(void);
/* asf__completion: "asf completion". */
int asf__completion(int argc, char **argv);

#endif
