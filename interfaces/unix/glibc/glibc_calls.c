/* SPDX-License-Identifier: MIT
 *
 * glibc_calls.c - glibc's work for calls that libasf_unix interposes, and the functions that only glibc has.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <string.h>

#include "interfaces/unix/glibc/glibc_calls.h"

long asf__libc_close(int fd) {
    return asf__cancellable_close(fd);
}

#ifndef ASF_STATIC
long asf__libc_dup3(int from, int to, int flags) {
    return asf__raw(SYS_dup3, from, to, flags, 0);
}

/* The system call is made by its number, since handlers call this.  As in glibc, a program cannot block the
 * two signals that glibc uses itself. */
long asf__libc_set_mask(int how, const sigset_t *set, sigset_t *old) {
    enum { CANCEL = 32, SETXID = 33, KERNEL_SET = 8 };
    uint64_t mask = 0;
    if (set) {
        memcpy(&mask, set, sizeof mask);
        mask &= ~((uint64_t)1 << (CANCEL - 1) | (uint64_t)1 << (SETXID - 1));
    }
    return asf__raw(SYS_rt_sigprocmask, how, (long)(set ? &mask : NULL), (long)old, KERNEL_SET);
}

/* Programs compiled with _FORTIFY_SOURCE call this where they give no mode.  If the flags need one, glibc's
 * function ends the program. */
long asf__unix_open_2(int directory, const char *path, int flags) {
    if (!asf__needs_mode(flags))
        return asf__unix_open(directory, path, flags, 0);
    return directory == AT_FDCWD ? ASF_NEXT(__open_2)(path, flags)
                                 : ASF_NEXT(__openat_2)(directory, path, flags);
}

EXPORT void closefrom(int first) {
    asf__end_all();
    ASF_NEXT(closefrom)(first);
}

EXPORT void backtrace_symbols_fd(void *const *addresses, int n, int fd) {
    asf__publish(fd);
    ASF_NEXT(backtrace_symbols_fd)(addresses, n, fd);
}
#endif
