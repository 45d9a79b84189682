/* SPDX-License-Identifier: MIT
 *
 * program.h - the start of every example program, its messages, and the closing of its standard streams.
 * The messages are the same as those of the system's own programs; libc's error() prints them.
 */
#ifndef ASF_EXAMPLES_PROGRAM_H
#define ASF_EXAMPLES_PROGRAM_H

#include <error.h>
#include <stdbool.h>

/* program_start: set the environment's locale.  Messages begin with `name`, not with the program's path.  At
 * exit standard output is closed; if a write failed, the exit status is `failure`. */
void program_start(char **argv, const char *name, int failure);

/* program_try_help: suggest --help, and exit with the status `failure`. */
_Noreturn void program_try_help(void);

/* program_usage: print the text of --help, and exit. */
_Noreturn void program_usage(const char *text);

/* program_threads: parse an option's number of threads; exit if it is not a number. */
int program_threads(const char *text);

/* quoted: return a file name for a message, quoted if a shell would need quotes.
 * quoted_always: return the name quoted.
 * lifetime  until two more names are quoted: a message has at most two. */
const char *quoted(const char *name);
const char *quoted_always(const char *name);

/* is_stdin: whether an operand is "-", which means standard input.
 * program_close_stdin: close standard input if an operand was "-".  If close fails, print the message and
 * return false. */
bool is_stdin(const char *operand);
bool program_close_stdin(const char *message);

#endif
