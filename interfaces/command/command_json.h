/* SPDX-License-Identifier: MIT
 *
 * command_json.h - text as JSON has it.
 */
#ifndef ASF_COMMAND_JSON_H
#define ASF_COMMAND_JSON_H

#include <stdio.h>

/* asf__print_json: a string in quotes; a byte that is no UTF-8 stands as the character of its number.
 * asf__put_json: the same, to standard output. */
void asf__print_json(FILE *to, const char *text);
void asf__put_json(const char *text);

#endif
