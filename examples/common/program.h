/* SPDX-License-Identifier: MIT
 *
 * program.h - what every example program does: its name in messages, its
 * complaints, the end of its standard output.  Messages are those of the
 * system's own programs; error() of libc prints them.
 */
#ifndef ASF_EXAMPLES_PROGRAM_H
#define ASF_EXAMPLES_PROGRAM_H

#include <error.h>
#include <stdbool.h>

/* program_start: take the environment's locale, and `name`, not the path of
 * the file, as the name that messages start with.  At exit standard output is
 * closed; when it could not be written the status is `failure`. */
void program_start(char **argv, const char *name, int failure);

/* program_try_help: end with the status `failure` after a pointer to --help. */
_Noreturn void program_try_help(void);

/* program_usage: print the text for --help and end. */
_Noreturn void program_usage(const char *text);

/* program_threads: the number of threads that an option was given; the program ends if it is none. */
int program_threads(const char *text);

/* quoted: a file name as messages show it, between quotes where the shell
 * would need them; quoted_always: between quotes in any case.
 * lifetime until two more are asked for: a message has two names at most. */
const char *quoted(const char *name);
const char *quoted_always(const char *name);

/* is_stdin: whether an operand stands for standard input.  When one has, the
 * program closes standard input at its end, by program_close_stdin, and says
 * so when that fails.  returns  whether it did not. */
bool is_stdin(const char *operand);
bool program_close_stdin(const char *message);

#endif
