/* SPDX-License-Identifier: MIT
 *
 * compress_main.h - the one main program of compress and uncompress.
 */
#ifndef ASF_EXAMPLES_COMPRESS_MAIN_H
#define ASF_EXAMPLES_COMPRESS_MAIN_H

#include <stdbool.h>

/* compress_main: `name` is the command's name for messages, `uncompress` what
 * it does when no -d is given. */
int compress_main(int argc, char **argv, const char *name, bool uncompress);

#endif
