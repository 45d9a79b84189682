/* SPDX-License-Identifier: MIT
 *
 * compress_main.h - the one main program of compress and uncompress.
 */
#ifndef ASF_EXAMPLES_COMPRESS_MAIN_H
#define ASF_EXAMPLES_COMPRESS_MAIN_H

#include <stdbool.h>

/* compress_main: the main function of both programs.
 *   name        the command's name in messages
 *   uncompress  whether to uncompress without -d */
int compress_main(int argc, char **argv, const char *name, bool uncompress);

#endif
