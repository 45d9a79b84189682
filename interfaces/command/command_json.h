/* SPDX-License-Identifier: MIT
 *
 * command_json.h - writes text as JSON strings.
 */
#ifndef ASF_COMMAND_JSON_H
#define ASF_COMMAND_JSON_H

#include <stdio.h>

/* asf__print_json: write a JSON string with its quotes; invalid UTF-8 bytes become \u00XX.
 * asf__put_json: write it to standard output. */
void asf__print_json(FILE *to, const char *text);
void asf__put_json(const char *text);

#endif
