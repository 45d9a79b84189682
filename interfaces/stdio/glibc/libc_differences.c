/* SPDX-License-Identifier: MIT
 *
 * libc_differences.c - the version of the glibc that the program runs with.
 */
#include "interfaces/stdio/glibc/libc_differences.h"

#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

int asf__libc_minor;

int asf__find_libc_minor(void) {
    const char *point = strchr(gnu_get_libc_version(), '.');
    int minor = point ? atoi(point + 1) : 36;
    __atomic_store_n(&asf__libc_minor, minor, __ATOMIC_RELAXED); /* several threads may store it */
    return minor;
}
