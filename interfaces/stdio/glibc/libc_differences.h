/* SPDX-License-Identifier: MIT
 *
 * libc_differences.h - which of the differences between versions of glibc the one that
 * is there has: ASF_LIBC(name), of a name in libc_differences.def.
 */
#ifndef ASF_INTERFACES_STDIO_LIBC_DIFFERENCES_H
#define ASF_INTERFACES_STDIO_LIBC_DIFFERENCES_H

#include <stdbool.h>

#define DIFFERENCE(name, since, test, what) ASF_SINCE_##name = (since),
enum {
#include "interfaces/stdio/glibc/libc_differences.def"
};
#undef DIFFERENCE

/* The libc's second number, of 2.41 for instance; 0 until it was asked for. */
extern int asf__libc_minor;
int asf__find_libc_minor(void);

static inline bool asf__libc_is(int since) {
    int minor = __atomic_load_n(&asf__libc_minor, __ATOMIC_RELAXED);
    return (minor ? minor : asf__find_libc_minor()) >= since;
}

#define ASF_LIBC(name) asf__libc_is(ASF_SINCE_##name)

#endif
