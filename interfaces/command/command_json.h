/* SPDX-License-Identifier: MIT
 *
 * command_json.h - text as JSON has it.
 *
 * Layer: interfaces/command; may include nothing.
 */
#ifndef ASF_COMMAND_JSON_H
#define ASF_COMMAND_JSON_H

/* asf__put_json: a string in quotes, to standard output; a byte that is no
 * UTF-8 stands as the character of its number. */
void asf__put_json(const char *text);

#endif
