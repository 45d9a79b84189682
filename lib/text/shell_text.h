/* SPDX-License-Identifier: MIT
 *
 * shell_text.h - read enough of the shell's language to recognize a plain command, or several plain commands
 * separated by bars.
 */
#ifndef ASF_LIB_SHELL_TEXT_H
#define ASF_LIB_SHELL_TEXT_H

#pragma GCC visibility push(hidden)

/* asf__shell_bar: returns the bar after the first command, or the end of the text.  NULL: the text has
 * more than commands and bars, or an unclosed quote. */
const char *asf__shell_bar(const char *text);

/* asf__shell_becoming: returns the command with "exec" inserted, so that the shell becomes the program
 * instead of waiting for it.  asf__shell_bar must have found no bar in the command.  The text is from
 * malloc.  NULL: the command is a shell builtin, is not found or is not plain, or memory is short. */
char *asf__shell_becoming(const char *command);

#pragma GCC visibility pop

#endif
