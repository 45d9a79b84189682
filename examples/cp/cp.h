/* SPDX-License-Identifier: MIT
 *
 * cp.h - shared by the two forms of cp.
 */
#ifndef ASF_EXAMPLES_CP_H
#define ASF_EXAMPLES_CP_H

#include <stdbool.h>

struct cp_file {
    int fd;
    const char *name;
};

/* cp_contents: copy all bytes from one open file to the other, and leave both open.  Each form of cp defines
 * this function.
 * returns  whether all bytes were copied; it reports errors by the next two functions. */
bool cp_contents(struct cp_file from, struct cp_file to);

/* cp_read_failed, cp_write_failed: complain.  return  false. */
bool cp_read_failed(struct cp_file from, int error);
bool cp_write_failed(struct cp_file to, int error);

#endif
