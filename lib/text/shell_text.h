/* SPDX-License-Identifier: MIT
 *
 * shell_text.h - as much of the shell's language as tells whether a text is a
 * plain command, or several with bars between them.
 */
#ifndef ASF_LIB_SHELL_TEXT_H
#define ASF_LIB_SHELL_TEXT_H

#pragma GCC visibility push(hidden)

/* asf__shell_bar: the bar after the first command, or the end of the text.
 * NULL: there is more in it than commands and bars, or it does not end. */
const char *asf__shell_bar(const char *text);

/* asf__shell_becoming: the command, which asf__shell_bar has found to end without a bar,
 * with "exec" in it, so that the shell becomes the program and does not wait for it.
 * From malloc.  NULL: the command is not of this kind (the shell's own, not to be found,
 * not plain), or memory is short. */
char *asf__shell_becoming(const char *command);

#pragma GCC visibility pop

#endif
