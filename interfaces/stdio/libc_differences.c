/* SPDX-License-Identifier: MIT
 *
 * libc_differences.c - which glibc is there.
 * Layer: interfaces.  May include: nothing.
 */
#include "interfaces/stdio/libc_differences.h"

#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

int asf__libc_minor;

int asf__find_libc_minor(void) {
    const char *point = strchr(gnu_get_libc_version(), '.');
    return asf__libc_minor = point ? atoi(point + 1) : 36;
}
