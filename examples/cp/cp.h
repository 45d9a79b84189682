/* SPDX-License-Identifier: MIT
 *
 * cp.h - what the two forms of cp share.
 */
#ifndef ASF_EXAMPLES_CP_H
#define ASF_EXAMPLES_CP_H

#include <stdbool.h>

struct cp_file {
    int fd;
    const char *name;
};

/* cp_contents: copy all bytes from one open file to the other, and leave both
 * open.  The one function that a form of cp has of its own.
 * returns  whether all were copied; errors are told by the next two. */
bool cp_contents(struct cp_file from, struct cp_file to);

/* cp_read_failed, cp_write_failed: complain.  return  false. */
bool cp_read_failed(struct cp_file from, int error);
bool cp_write_failed(struct cp_file to, int error);

#endif
