/* SPDX-License-Identifier: MIT
 *
 * libc_differences.h - ASF_LIBC(name): whether the glibc that the program runs with has the difference `name`
 * of libc_differences.def.
 */
#ifndef ASF_INTERFACES_STDIO_LIBC_DIFFERENCES_H
#define ASF_INTERFACES_STDIO_LIBC_DIFFERENCES_H

#include <stdbool.h>

#define DIFFERENCE(name, glibc, musl, test, what) ASF_SINCE_##name = (glibc),
enum {
    ALWAYS = 0,
    NEVER = 1000,
#include "interfaces/stdio/libc_differences.def"
};
#undef DIFFERENCE

/* glibc's minor version, 41 for 2.41; 0 until asf__find_libc_minor is called. */
extern int asf__libc_minor;
int asf__find_libc_minor(void);

static inline bool asf__libc_is(int since) {
    int minor = __atomic_load_n(&asf__libc_minor, __ATOMIC_RELAXED);
    return (minor ? minor : asf__find_libc_minor()) >= since;
}

#define ASF_LIBC(name) (ASF_SINCE_##name == 0 || (ASF_SINCE_##name < 1000 && asf__libc_is(ASF_SINCE_##name)))

#endif
